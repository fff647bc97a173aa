"""Connections to the server, and newsdedup's database on it."""

import time
from typing import Any

from newsdedup_site.database_options import CONNECT_SECONDS
from newsdedup_site.embedded.binaries import START_TIMEOUT_SECONDS
from newsdedup_site.embedded.folders import SOCKET_NAME, socket_folder

DATABASE = "newsdedup"
# libpq gives the reason of a failed connection only as text; the server's locale keeps it English.
NOT_YET = ("the database system is starting up", "is in recovery mode", "is not yet accepting connections")


def database_settings() -> dict[str, Any]:
    """Return the entry for settings.DATABASES; the server starts with the first connection."""
    return {
        "ENGINE": "newsdedup_site.postgresql",
        "NAME": DATABASE,
        "USER": "postgres",
        "HOST": str(socket_folder()),
        "PORT": "5432",
    }


def connect(database: str, patience: float | None = None) -> Any:
    """Connect; wait `patience` seconds for a server that is recovering from a crash, or START_TIMEOUT_SECONDS."""
    import psycopg  # noqa: PLC0415 - the keeper process does not need it

    deadline = time.monotonic() + (START_TIMEOUT_SECONDS if patience is None else patience)
    while True:
        try:
            return psycopg.connect(
                host=str(socket_folder()),
                port=5432,
                user="postgres",
                dbname=database,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
            )
        except psycopg.OperationalError as error:
            if time.monotonic() >= deadline or not any(words in str(error) for words in NOT_YET):
                raise
        time.sleep(0.2)


def answers() -> bool:
    """Return whether the server accepts connections now and has the database."""
    import psycopg  # noqa: PLC0415 - as above

    if not (socket_folder() / SOCKET_NAME).exists():
        return False
    try:
        connect(DATABASE, patience=0).close()
    except psycopg.OperationalError:
        return False
    return True


def make_database() -> None:
    from psycopg import sql  # noqa: PLC0415 - as above

    with connect("postgres") as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if known is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

"""Making sure that the server is running."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from newsdedup_site.embedded.binaries import START_TIMEOUT_SECONDS, install_binaries
from newsdedup_site.embedded.folders import (
    EmbeddedServerError,
    hold_user_lock,
    holds_user_lock,
    home,
    locked,
    make_folder,
    socket_folder,
)
from newsdedup_site.embedded.server import ensure_keeper, init_data, postmaster, start_server
from newsdedup_site.environment import CONNECT_SECONDS

DATABASE = "newsdedup"
# libpq gives the reason of a failed connection only as text; the server's locale keeps it English.
NOT_YET = ("the database system is starting up", "is in recovery mode", "is not yet accepting connections")


def database_settings() -> dict[str, Any]:
    """Return the entry for settings.DATABASES; the server starts with the first connection."""
    return {
        "ENGINE": "newsdedup_site.embedded",
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


# By time.monotonic(); None to wait as long as a start may take.
_deadline: ContextVar[float | None] = ContextVar("_deadline", default=None)
# The start that this process is busy with, in a thread of its own, and what guards this variable.
_start: Future[None] | None = None
_start_guard = threading.Lock()


class EmbeddedServerStartingError(EmbeddedServerError):
    """The server is being started, and the caller does not want to wait for it any longer."""


@contextmanager
def answer_within(seconds: float) -> Iterator[None]:
    """In this block, wait only so long in all for a server that has to be started; the start continues without it."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def ensure_running() -> None:
    """Start the server unless it is running, and keep it running until this process ends.

    Raises EmbeddedServerError, with the end of the server's log, when it cannot be started, and
    EmbeddedServerStartingError when that takes longer than `answer_within` allows.
    """
    # PGHOSTADDR, PGSERVICE, PGOPTIONS and the like are for another server, but libpq would use them.
    for name in [name for name in os.environ if name.startswith("PG")]:
        os.environ.pop(name, None)  # another thread may have been faster
    if holds_user_lock() and answers():
        ensure_keeper()
        return
    deadline = _deadline.get()
    if deadline is None:
        _ensure_running()
    else:
        _wait_for_start(max(0.0, deadline - time.monotonic()))


def _ensure_running() -> None:
    make_folder(home())
    hold_user_lock()
    with locked("start.lock"):
        if not answers():
            install_binaries()
            init_data()
            if postmaster() is None:
                start_server()
            make_database()
    ensure_keeper()


def _wait_for_start(seconds: float) -> None:
    global _start  # noqa: PLW0603 - one start per process, for all its threads
    with _start_guard:
        if _start is None or _start.done():
            _start = Future()
            threading.Thread(target=_run_start, args=(_start,), daemon=True).start()
        start = _start
    try:
        start.result(timeout=seconds)
    except TimeoutError:
        raise EmbeddedServerStartingError("The embedded PostgreSQL server is starting. Try again shortly.") from None


def _run_start(start: Future[None]) -> None:
    try:
        _ensure_running()
    except BaseException as error:  # noqa: BLE001 - raised again in the threads that wait
        start.set_exception(error)
    else:
        start.set_result(None)

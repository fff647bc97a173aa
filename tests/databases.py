"""The test database, for the processes that a test starts, and databases of their own next to it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
from django.db import connection, transaction
from psycopg.sql import SQL, Identifier

from newsdedup_site.embedded.folders import package_folder

CHECKOUT = Path(__file__).resolve().parents[1]
# Any key of the length that production asks for.
TEST_KEY = "for one test alone, and as long as production needs"


def database_url() -> str:
    """Return a DATABASE_URL for the database that the test is connected to."""
    values = connection.settings_dict
    host = values["HOST"] or values["OPTIONS"].get("host", "")
    port = values["PORT"] or values["OPTIONS"].get("port", "")
    login = ":".join(quote(values[name], safe="") for name in ("USER", "PASSWORD") if values[name])
    # As parameters, because the folder of a Unix socket does not fit where a host stands.
    return f"postgres://{login}@/{values['NAME']}?host={quote(host, safe='')}&port={port}"


def pg_dump() -> Path:
    """Return a pg_dump that reads the test database: Debian's of its version, or that of the embedded server."""
    connection.ensure_connection()
    own = Path(f"/usr/lib/postgresql/{connection.connection.info.server_version // 10_000}/bin/pg_dump")
    return own if own.exists() else package_folder() / "pginstall" / "bin" / "pg_dump"


def child_environment() -> dict[str, str]:
    """Return what a process needs in its environment to work on the test database."""
    return {"DATABASE_URL": database_url(), "SECRET_KEY": TEST_KEY}


def run_python(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run Python as `run` runs a program."""
    return run(sys.executable, *arguments, **more)


def run(
    *command: str | Path, cwd: Path = CHECKOUT, given: str | None = None, stdout: Any = subprocess.PIPE, **named: str
) -> subprocess.CompletedProcess[str]:
    """Run a program, with what is `named` as its environment; return how it ended, and what it printed and said."""
    return subprocess.run(
        [*command],
        cwd=cwd,
        input=given,
        env={"PATH": os.environ["PATH"], **named},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=300,
    )


def url_of(name: str, server: str = "") -> str:
    """Return the URL of another database on the server of this URL, or of the test database."""
    return urlsplit(server or database_url())._replace(path=f"/{name}").geturl()


@contextmanager
def own_database(
    name: str, *, server: str = "", template: str = "template0", options: str = "ENCODING 'UTF8'"
) -> Iterator[str]:
    """Make a database on a server, by default that of the tests; yield its URL, and drop it in the end.

    As a copy of the test database if that is the template: then nobody may be connected to it.
    """
    with psycopg.connect(url_of("postgres", server), autocommit=True) as connected:
        drop = SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name))
        connected.execute(drop)
        # A test that lost its database on purpose may have left a session.
        connected.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [template])
        made = SQL("CREATE DATABASE {} TEMPLATE {} {}")
        connected.execute(made.format(Identifier(name), Identifier(template), SQL(options)))
        try:
            yield url_of(name, server)
        finally:
            connected.execute(drop)


@contextmanager
def somebody_holds(lock: int) -> Iterator[None]:
    """Hold a lock of the test database in another session."""
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [lock])
        yield


@contextmanager
def undone() -> Iterator[None]:
    """Undo at the end what was stored meanwhile; views that want a transaction of their own may have it."""
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]
    with block:
        yield
        transaction.set_rollback(True)


def start(url: str, *arguments: str) -> subprocess.Popen[str]:
    """Start Python with these arguments on a database."""
    values = {"DATABASE_URL": url, "SECRET_KEY": "upgrades" * 10, "SERVE_COLLECTED_STATIC": "false"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], cwd=CHECKOUT, env=os.environ | values, **pipes)  # type: ignore[call-overload]

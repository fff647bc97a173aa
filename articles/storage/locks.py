"""PostgreSQL's advisory locks: what only one process at a time may do on a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Any

from django.db import InterfaceError, OperationalError, connection
from psycopg import sql


class Lock(IntEnum):
    """The locks. Their numbers are arbitrary, but fixed: an older version may be at work on the same database."""

    INGEST = 5_112_001  # one writer of articles at a time, so that two who bring the same URL end with one article
    REVIEW = 5_112_002  # decisions and runs change pairs and clusters one after the other
    RUN = 5_112_003  # one run at a time, whichever process it is in
    SCRATCH = 5_112_004  # whoever uses the schema of a number holds that number, and who fills one holds 0


def lock_transaction(lock: Lock) -> None:
    """Wait for the lock and hold it until the transaction ends."""
    with connection.cursor() as cursor:
        _call(cursor, "pg_advisory_xact_lock", lock)


@contextmanager
def session_lock(lock: Lock) -> Iterator[bool]:
    """Hold the lock unless another process does; give whether it is held.

    The lock belongs to the database connection: it is free again when its process ends, however it ends.
    """
    with connection.cursor() as cursor:
        held = try_lock(cursor, lock)
    try:
        yield held
    finally:
        # Where the connection is lost, the lock is free already.
        with suppress(OperationalError, InterfaceError):
            if held:
                with connection.cursor() as cursor:
                    unlock(cursor, lock)


def wait_for_lock(cursor: Any, lock: Lock, *number: int) -> None:
    """Wait for a lock, or for one of its numbers, and hold it until its connection ends or unlocks it."""
    _call(cursor, "pg_advisory_lock", lock, *number)


def try_lock(cursor: Any, lock: Lock, *number: int) -> bool:
    """Hold a lock, or one of its numbers, as wait_for_lock does; return False at once where another one holds it."""
    return bool(_call(cursor, "pg_try_advisory_lock", lock, *number))


def unlock(cursor: Any, lock: Lock, *number: int) -> None:
    """Give back what this connection holds."""
    _call(cursor, "pg_advisory_unlock", lock, *number)


def _call(cursor: Any, function: str, *keys: int) -> Any:
    literals = sql.SQL(", ").join(sql.Literal(int(key)) for key in keys)
    cursor.execute(sql.SQL("SELECT {}({})").format(sql.Identifier(function), literals))
    return cursor.fetchone()[0]

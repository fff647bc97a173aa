"""PostgreSQL's advisory locks, for what only one process at a time may do on a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Any

from django.db import InterfaceError, OperationalError, connection
from psycopg import sql


class Lock(IntEnum):
    """The locks. Their numbers are arbitrary but fixed: an older version may be running on the same database."""

    INGEST = 5_112_001  # one writer of articles at a time, so that the same URL never gives two articles
    REVIEW = 5_112_002  # one change of pairs and clusters at a time, by a decision or a run
    RUN = 5_112_003  # one run at a time, in any process
    SCRATCH = 5_112_004  # whoever uses a numbered schema holds its number; whoever fills one holds 0


def lock_transaction(lock: Lock) -> None:
    """Wait for the lock and hold it until the transaction ends."""
    with connection.cursor() as cursor:
        _call(cursor, "pg_advisory_xact_lock", lock)


@contextmanager
def session_lock(lock: Lock) -> Iterator[bool]:
    """Hold the lock unless another process does; yield whether it is held.

    The lock belongs to the database connection: it is released when the process ends, for whatever reason.
    """
    with connection.cursor() as cursor:
        held = try_lock(cursor, lock)
    try:
        yield held
    finally:
        # If the connection is lost, the lock is already released.
        with suppress(OperationalError, InterfaceError):
            if held:
                with connection.cursor() as cursor:
                    unlock(cursor, lock)


def wait_for_lock(cursor: Any, lock: Lock, *number: int) -> None:
    """Wait for a lock, or for one of its numbers, and hold it until the connection ends or unlocks it."""
    _call(cursor, "pg_advisory_lock", lock, *number)


def try_lock(cursor: Any, lock: Lock, *number: int) -> bool:
    """Hold a lock, or one of its numbers, as wait_for_lock does; return False if another connection holds it."""
    return bool(_call(cursor, "pg_try_advisory_lock", lock, *number))


def unlock(cursor: Any, lock: Lock, *number: int) -> None:
    """Release a lock, or one of its numbers, that this connection holds."""
    _call(cursor, "pg_advisory_unlock", lock, *number)


def _call(cursor: Any, function: str, *keys: int) -> Any:
    literals = sql.SQL(", ").join(sql.Literal(int(key)) for key in keys)
    cursor.execute(sql.SQL("SELECT {}({})").format(sql.Identifier(function), literals))
    return cursor.fetchone()[0]

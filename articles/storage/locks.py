"""PostgreSQL's advisory locks, for what only one process at a time may do on a database."""

from __future__ import annotations

import datetime
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import psycopg
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.transaction import TransactionManagementError
from psycopg import sql

from articles.querysets import fetched

# A killed process holds its locks until its database process notices: within a second, as every connection asks for
# (client_connection_check_interval in newsdedup_site/environment.py), and undoing its work takes a moment.
ENDING_SECONDS = 5.0
# Whoever waits for longer than this says for what.
QUIET_SECONDS = 2.0
_POLL_SECONDS = 0.2

log = logging.getLogger(__name__)


class Lock(IntEnum):
    """The locks. Their numbers are arbitrary but fixed: an older version may be running on the same database."""

    INGEST = 5_112_001  # one writer of articles at a time, so that the same URL never gives two articles
    REVIEW = 5_112_002  # one change of pairs and clusters at a time, by a decision or a run
    RUN = 5_112_003  # one run at a time, in any process
    SCRATCH = 5_112_004  # whoever uses a numbered schema holds its number; whoever fills one holds 0
    MIGRATE = 5_112_005  # one upgrade of the tables at a time
    CRAWL = 5_112_006  # held by the worker that does the crawls asked for on pages and those due
    ALARMS = 5_112_011  # one check for alarms at a time
    SEARCH = 5_112_014  # one writer of the index of words at a time
    JOBS = 5_112_013  # whoever does a job holds its number; whoever queues one holds this itself for a moment


class LockLostError(OperationalError):
    """The connection was lost, and the lock with it: the server restarted, or ended the connection."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The database process that holds a lock. What PostgreSQL hides from this role is None."""

    process: int
    program: str
    connected_at: datetime.datetime | None
    # When its current statement began; None while it waits for the next one.
    statement_since: datetime.datetime | None

    def __str__(self) -> str:
        since = f", connected since {self.connected_at:%Y-%m-%d %H:%M} UTC" if self.connected_at else ""
        return f"{self.program or 'an unnamed program'}, database process {self.process}{since}"

    def shows_life(self, before: Holder | None) -> bool:
        """Return whether the client has sent something since `before`, or could: that of an idle process is there."""
        if before is None or before.process != self.process:
            return False
        return self.statement_since is None or self.statement_since != before.statement_since


# pg_locks shows one key as its two halves (objsubid 1), or both of two keys (objsubid 2); PostgreSQL manual, 53.13.
_HOLDER_SQL = """
SELECT pid, application_name, backend_start AT TIME ZONE 'UTC',
       CASE WHEN state LIKE 'idle%%' THEN NULL ELSE coalesce(query_start, 'epoch') END
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = %(first)s::oid AND objid = %(second)s::oid AND objsubid = %(keys)s
LIMIT 1
"""


def holder_of(cursor: Any, lock: Lock, *number: int) -> Holder | None:
    """Return who else holds a lock, or one of its numbers; None if nobody does."""
    first, second = (lock, *number) if number else (0, lock)
    cursor.execute(_HOLDER_SQL, {"first": int(first), "second": int(second), "keys": 1 + len(number)})
    row = cursor.fetchone()
    return Holder(*row) if row else None


_HELD_SQL = """
SELECT objid::bigint FROM pg_locks
WHERE locktype = 'advisory' AND granted AND classid = %(lock)s::oid AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def held_numbers(lock: Lock) -> set[int]:
    """Return the numbers of a lock that any process holds."""
    return {number for (number,) in fetched(_HELD_SQL, {"lock": int(lock)})}


def lock_transaction(lock: Lock) -> None:
    """Wait for the lock and hold it until the transaction ends. Raises TransactionManagementError outside of one."""
    if not connection.in_atomic_block:
        raise TransactionManagementError(f"The lock {lock.name} would end with its own statement; begin a transaction.")
    with connection.cursor() as cursor:
        _wait(cursor, "pg_try_advisory_xact_lock", "pg_advisory_xact_lock", lock)


@contextmanager
def session_lock(lock: Lock, on_wait: Callable[[Holder | None], None], *number: int) -> Iterator[bool]:
    """Hold the lock, or one of its numbers, unless another process does; yield whether it is held.

    If the holder may have been killed, `on_wait` is called with it, and the lock is waited for until the holder shows
    life, for ENDING_SECONDS at most.

    The lock belongs to the database connection: it is released when the process ends, for whatever reason. Raises
    LockLostError if the connection is lost.
    """
    with connection.cursor() as cursor:
        held = try_lock(cursor, lock, *number) or _outlive(cursor, lock, on_wait, *number)
    link = connection.connection
    try:
        yield held
    except Exception as error:
        if held and is_lost(link):
            raise LockLostError(*error.args) from (error.__cause__ or error)
        raise
    finally:
        # If the connection is lost, the lock is already released.
        with suppress(OperationalError, InterfaceError):
            if held and not link.closed:
                with connection.cursor() as cursor:
                    unlock(cursor, lock, *number)


@contextmanager
def waited_lock(link: Any, lock: Lock) -> Iterator[None]:
    """Wait for the lock, and hold it on this connection of Django in the block."""
    with link.cursor() as cursor:
        wait_for_lock(cursor, lock)
    try:
        yield
    finally:
        # If the connection is lost, the lock is already released.
        with suppress(DatabaseError, InterfaceError), link.cursor() as cursor:
            unlock(cursor, lock)


def is_lost(link: psycopg.Connection[Any]) -> bool:
    """Return whether a connection to the database has ended; it notices only when it is used."""
    with suppress(psycopg.Error):
        link.execute("SELECT")
    return link.closed


def _outlive(cursor: Any, lock: Lock, on_wait: Callable[[Holder | None], None], *number: int) -> bool:
    """Wait for the lock of a process that has perhaps been killed; return whether it is held now."""
    before, deadline, said = holder_of(cursor, lock, *number), time.monotonic() + ENDING_SECONDS, False
    while time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        if try_lock(cursor, lock, *number):
            return True
        now = holder_of(cursor, lock, *number)
        if now and now.shows_life(before):
            return False
        if not said:
            on_wait(now)
            said = True
        before = now
    return False


def wait_for_lock(cursor: Any, lock: Lock, *number: int) -> None:
    """Wait for a lock, or for one of its numbers, and hold it until the connection ends or unlocks it."""
    _wait(cursor, "pg_try_advisory_lock", "pg_advisory_lock", lock, *number)


def _wait(cursor: Any, attempt: str, wait: str, lock: Lock, *number: int) -> None:
    """Take a lock; log whose lock it is if that takes longer than QUIET_SECONDS."""
    pause, deadline = 0.005, time.monotonic() + QUIET_SECONDS
    while not _call(cursor, attempt, lock, *number):
        if time.monotonic() >= deadline:
            log.warning("Waiting for the lock %s, held by %s.", lock.name, holder_of(cursor, lock, *number) or "nobody")
            _call(cursor, wait, lock, *number)
            return
        time.sleep(pause)
        pause = min(pause * 2, _POLL_SECONDS)


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

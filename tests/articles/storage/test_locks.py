"""Who waits for a lock says for whom."""

import datetime
from dataclasses import replace

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.db.transaction import TransactionManagementError

from articles.storage import locks
from articles.storage.locks import Holder, Lock, lock_transaction, wait_for_lock
from tests.databases import database_url


@pytest.mark.django_db(transaction=True)
def test_a_wait_names_the_holder(monkeypatch, caplog) -> None:
    monkeypatch.setattr(locks, "QUIET_SECONDS", 0.05)
    with psycopg.connect(database_url(), application_name="newsdedup import_articles") as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [Lock.INGEST])
        other.execute("SELECT pg_advisory_xact_lock(%s, 7)", [Lock.SCRATCH])
        for lock, wait in (
            (Lock.INGEST, lambda _cursor: lock_transaction(Lock.INGEST)),
            (Lock.SCRATCH, lambda cursor: wait_for_lock(cursor, Lock.SCRATCH, 7)),
        ):
            caplog.clear()
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
                with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
                    wait(cursor)
            [said] = caplog.messages
            named = f"newsdedup import_articles, database process {other.info.backend_pid}, connected since "
            assert said.startswith(f"Waiting for the lock {lock.name}, held by {named}")


@pytest.mark.django_db
def test_a_lock_that_is_soon_free_is_asked_for_soon_and_then_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    with psycopg.connect(database_url(), autocommit=True) as other, connection.cursor() as cursor:
        other.execute("SELECT pg_advisory_lock(%s)", [Lock.CRAWL])

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                other.execute("SELECT pg_advisory_unlock(%s)", [Lock.CRAWL])

        monkeypatch.setattr("articles.storage.locks.time.sleep", pause)
        wait_for_lock(cursor, Lock.CRAWL)
        locks.unlock(cursor, Lock.CRAWL)
    assert pauses == [0.005, 0.01, 0.02]


@pytest.mark.django_db(transaction=True)
def test_a_free_lock_of_a_transaction_is_taken_without_a_word_and_refused_where_there_is_none(caplog) -> None:
    with transaction.atomic():
        lock_transaction(Lock.INGEST)
    assert caplog.messages == []
    with pytest.raises(TransactionManagementError) as raised:
        lock_transaction(Lock.REVIEW)
    assert str(raised.value) == "The lock REVIEW would end with its own statement; begin a transaction."


def test_a_holder_shows_life_by_a_new_statement_or_by_none() -> None:
    busy = Holder(17, "newsdedup find_duplicates", None, "08:00")
    assert not busy.shows_life(busy)
    assert not busy.shows_life(None)
    assert not replace(busy, process=18).shows_life(busy)
    assert replace(busy, statement_since="08:01").shows_life(busy)
    assert replace(busy, statement_since=None).shows_life(busy)


@pytest.mark.django_db(transaction=True)
def test_a_lock_of_another_kind_another_number_or_another_database_is_not_this_one() -> None:
    elsewhere = psycopg.conninfo.make_conninfo(database_url(), dbname="postgres")
    with psycopg.connect(database_url()) as other, psycopg.connect(elsewhere) as far, connection.cursor() as cursor:
        for process, lock in ((other, Lock.INGEST), (far, Lock.RUN)):
            process.execute("SELECT pg_advisory_xact_lock(%s)", [lock])
        other.execute("SELECT pg_advisory_xact_lock(%s, 7)", [Lock.SCRATCH])
        assert locks.holder_of(cursor, Lock.RUN) is None
        assert locks.holder_of(cursor, Lock.SCRATCH) is None
        assert locks.holder_of(cursor, Lock.SCRATCH, 8) is None
        held = [locks.holder_of(cursor, Lock.INGEST), locks.holder_of(cursor, Lock.SCRATCH, 7)]
        assert [lock and lock.process for lock in held] == [other.info.backend_pid] * 2
        locks.wait_for_lock(cursor, Lock.CRAWL)
        assert locks.holder_of(cursor, Lock.CRAWL) is None  # held by the one who asks
        locks.unlock(cursor, Lock.CRAWL)


def test_a_lock_keeps_its_number() -> None:
    # An older version may be running on the same database.
    numbers = {"INGEST": 1, "REVIEW": 2, "RUN": 3, "SCRATCH": 4, "MIGRATE": 5, "CRAWL": 6, "ALARMS": 11, "JOBS": 13}
    numbers["SEARCH"] = 14
    assert {lock.name: lock.value - 5_112_000 for lock in Lock} == numbers


def test_a_holder_is_named_by_its_program_its_process_and_since_when() -> None:
    since = datetime.datetime(2026, 3, 2, 9, 5)  # noqa: DTZ001 - UTC, as the statement returns it
    assert str(Holder(17, "newsdedup find_duplicates", since, None)) == (
        "newsdedup find_duplicates, database process 17, connected since 2026-03-02 09:05 UTC"
    )
    assert str(Holder(17, "", None, None)) == "an unnamed program, database process 17"


@pytest.mark.django_db
def test_a_lock_of_a_session_is_held_by_one_and_released_at_the_end() -> None:
    waited: list[Holder | None] = []
    with psycopg.connect(database_url(), autocommit=True) as other, other.cursor() as elsewhere:
        with locks.session_lock(Lock.CRAWL, waited.append) as held:
            assert held
            assert not locks.try_lock(elsewhere, Lock.CRAWL)
            assert locks.try_lock(elsewhere, Lock.RUN)
        assert locks.try_lock(elsewhere, Lock.CRAWL)
        locks.unlock(elsewhere, Lock.CRAWL)
        with pytest.raises(ZeroDivisionError), locks.session_lock(Lock.CRAWL, waited.append):
            raise ZeroDivisionError
        assert locks.try_lock(elsewhere, Lock.CRAWL)
    assert waited == []


@pytest.mark.django_db
def test_a_lock_is_waited_for_while_its_holder_may_be_dead_and_not_while_it_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(locks, "_POLL_SECONDS", 0.01)
    waited: list[Holder | None] = []
    with psycopg.connect(database_url(), autocommit=True, application_name="newsdedup crawl") as other:
        other.execute("SELECT pg_advisory_lock(%s)", [Lock.CRAWL])
        # Idle: its client can still send something, so it lives.
        with locks.session_lock(Lock.CRAWL, waited.append) as held:
            assert not held
        assert waited == []

        # In one statement all the time, as a killed process leaves it behind.
        busy = Holder(other.info.backend_pid, "newsdedup crawl", None, "09:00")  # type: ignore[arg-type]
        monkeypatch.setattr(locks, "holder_of", lambda _cursor, _lock: busy)
        monkeypatch.setattr(locks, "ENDING_SECONDS", 0.1)
        with locks.session_lock(Lock.CRAWL, waited.append) as held:
            assert not held
        assert waited == [busy]  # said once

        def release(holder: Holder | None) -> None:
            waited.append(holder)
            other.execute("SELECT pg_advisory_unlock(%s)", [Lock.CRAWL])

        monkeypatch.setattr(locks, "ENDING_SECONDS", 30)
        with locks.session_lock(Lock.CRAWL, release) as held:
            assert held
        assert waited == [busy, busy]

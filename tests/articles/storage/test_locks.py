"""Who waits for a lock says for whom."""

from dataclasses import replace

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

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


@pytest.mark.django_db(transaction=True)
def test_a_free_lock_is_taken_without_a_word(caplog) -> None:
    with transaction.atomic():
        lock_transaction(Lock.INGEST)
    assert caplog.messages == []


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
        assert [each and each.process for each in held] == [other.info.backend_pid] * 2
        locks.wait_for_lock(cursor, Lock.CRAWL)
        assert locks.holder_of(cursor, Lock.CRAWL) is None  # held by the one who asks
        locks.unlock(cursor, Lock.CRAWL)

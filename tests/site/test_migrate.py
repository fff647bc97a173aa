"""`manage.py migrate`: one at a time on a database."""

import psycopg
import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction

from articles.storage import locks
from articles.storage.locks import Lock
from tests.databases import database_url


@pytest.mark.django_db(transaction=True)
def test_a_migration_waits_for_another_one(monkeypatch, caplog) -> None:
    monkeypatch.setattr(locks, "QUIET_SECONDS", 0.05)
    with psycopg.connect(database_url(), application_name="newsdedup migrate", autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [Lock.MIGRATE])
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '50ms'")
            with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
                call_command("migrate", verbosity=0)
        [said] = caplog.messages
        assert said.startswith("Waiting for the lock MIGRATE, held by newsdedup migrate, ")
        # A question changes nothing, so it is answered at once.
        call_command("migrate", "--check", verbosity=0)

        other.execute("SELECT pg_advisory_unlock_all()")
        call_command("migrate", verbosity=0)
        held = other.execute("SELECT pg_try_advisory_lock(%s)", [Lock.MIGRATE]).fetchone()
        assert held == (True,)

"""manage.py, in processes of its own: a sentence where the machine or its settings are to blame."""

import errno
import re

import psycopg
import pytest
from django.core.management import ManagementUtility
from django.db import connection

import manage as program
from tests.databases import TEST_KEY, database_url, own_database, run_python

NO_SERVER = {"DATABASE_URL": "postgres://anna:s3cret@127.0.0.1:9/news", "SECRET_KEY": TEST_KEY}


def manage(*arguments: str, **environment: str) -> tuple[int, str, str]:
    done = run_python("manage.py", *arguments, **environment)
    return done.returncode, done.stdout, done.stderr


def test_a_server_that_is_away_is_said_in_a_sentence() -> None:
    status, _, said = manage("migrate", **NO_SERVER)
    assert status == 1
    [sentence] = said.splitlines()
    assert sentence.startswith("The database cannot be used: connection failed")
    assert "DATABASE_URL" in sentence
    assert "s3cret" not in said
    status, _, said = manage("migrate", "--traceback", **NO_SERVER)
    assert status == 1
    assert said.startswith("Traceback (most recent call last):")


def test_wrong_settings_are_said_in_a_sentence() -> None:
    assert manage("check", **NO_SERVER, DEBUG="ture") == (
        1,
        "",
        "DEBUG=ture is neither true nor false. Set one of true, yes, on, 1, false, no, off, 0.\n",
    )


def test_a_home_that_cannot_be_used_is_said_in_a_sentence() -> None:
    status, _, said = manage("check", NEWSDEDUP_HOME="/srv/a,b")
    assert (status, len(said.splitlines())) == (1, 1)
    assert "'/srv/a,b'" in said
    assert "NEWSDEDUP_HOME" in said


@pytest.fixture
def c_locale(db):
    """The URL of an empty database in which pg_trgm would ignore all letters but ASCII."""
    name = f"{connection.settings_dict['NAME']}_manage_c"
    with own_database(name, options="ENCODING 'UTF8' LOCALE 'C'") as url:
        yield url


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            psycopg.OperationalError("server closed the\nconnection"),
            "The database cannot be used: server closed the",
        ),
        (
            psycopg.errors.DiskFull("could not extend file"),
            "The disk of the database is full: could not",
        ),
        (
            psycopg.errors.OutOfMemory("Failed on request of size 16"),
            "The server of the database ran out of memory: Failed on request of size 16. Give it more",
        ),
        (OSError(errno.ENOSPC, "No space left", "rows.tmp"), "rows.tmp cannot be written: No space left. Make room"),
        (MemoryError(), "Memory ran out during manage.py anything, in fail of tests/site/test_manage.py. Free"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "Memory ran out during manage.py anything"),
    ],
)
def test_what_no_command_expects_of_the_machine_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(ManagementUtility, "execute", fail)
    monkeypatch.setattr(program, "discard_output", lambda: None)
    with pytest.raises(SystemExit) as ended:
        program.main(["manage.py", "anything"])
    assert str(ended.value).startswith(said)
    with pytest.raises(type(error)):
        program.main(["manage.py", "anything", "--traceback"])


@pytest.fixture
def unmigrated(db):
    """The URL of an empty database, and that for a role that may do nothing in it."""
    # Named after the test database, which each of several test processes has for itself.
    name = f"{connection.settings_dict['NAME']}_unmigrated"
    role = f"{connection.settings_dict['NAME']}_guest"
    with psycopg.connect(database_url(), autocommit=True) as server:
        server.execute(f"DROP ROLE IF EXISTS {role}")
        server.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'guest'")
        with own_database(name) as url:
            yield url, re.sub(r"//[^@]*@", f"//{role}:guest@", url)
        server.execute(f"DROP ROLE {role}")


def test_a_database_without_tables_is_to_be_migrated(unmigrated) -> None:
    url, _ = unmigrated
    status, _, said = manage("make_editor", "anna", DATABASE_URL=url, SECRET_KEY=TEST_KEY)
    assert (status, len(said.splitlines())) == (1, 1)
    assert said.startswith('The database is not up to date: relation "auth_')
    assert said.endswith(". Run manage.py migrate.\n")


OLD_SERVER = """
from django.db.backends.postgresql.features import DatabaseFeatures
DatabaseFeatures.minimum_database_version = (99,)
import manage
manage.main(["manage.py", "migrate"])
"""


def test_a_server_that_django_refuses_is_said_in_a_sentence(unmigrated) -> None:
    url, _ = unmigrated
    done = run_python("-c", OLD_SERVER, DATABASE_URL=url, SECRET_KEY=TEST_KEY)
    [sentence] = done.stderr.splitlines()
    assert sentence.startswith("PostgreSQL 99 or later is required (found ")
    assert sentence.endswith("restore into a newer server, and point DATABASE_URL at that.")
    assert done.returncode == 1


@pytest.mark.parametrize(
    "command", ["migrate", *(pytest.param(name, marks=pytest.mark.slow) for name in ("db_worker", "find_duplicates"))]
)
def test_a_database_in_a_c_locale_is_refused_with_the_remedy(c_locale, command: str) -> None:
    status, _, said = manage(command, DATABASE_URL=c_locale, SECRET_KEY=TEST_KEY)
    assert status == 1
    assert "(dedup.E003) The database has LC_CTYPE C, in which pg_trgm sees no letters" in said
    assert "HINT: Create the database with LC_CTYPE C.UTF-8" in said
    with psycopg.connect(c_locale) as untouched:
        assert untouched.execute(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        ).fetchone() == (0,)


@pytest.mark.slow
def test_a_role_that_may_not_migrate_is_told_who_may(unmigrated) -> None:
    url, guest = unmigrated
    environment = {"DATABASE_URL": guest, "SECRET_KEY": TEST_KEY}
    status, _, said = manage("migrate", "--verbosity", "0", **environment)
    assert (status, len(said.splitlines())) == (1, 1)
    assert "Unable to create the django_migrations table" in said
    assert "the owner of the database" in said
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    status, _, said = manage("migrate", "--verbosity", "0", **environment)
    assert (status, len(said.splitlines())) == (1, 1)
    assert said.startswith('permission denied to create extension "pg_trgm"')
    assert "CREATE EXTENSION pg_trgm" in said
    assert "manage.py migrate again" in said

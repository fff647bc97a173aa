"""manage.py says in a sentence what the machine or its settings are to blame for; what all commands have alike."""

import errno
import importlib.metadata
import io
import os
import platform
import re
import signal
import threading
import tomllib
from typing import Any

import django
import psycopg
import pytest
from django.core.management import CommandError, ManagementUtility, call_command, get_commands, load_command_class
from django.core.management.base import CommandParser
from django.db import OperationalError, connection, transaction

from articles import versions
from articles.management.base import ExitCode, LongCommand, ProjectCommand
from articles.storage import locks
from articles.storage.locks import Lock
from newsdedup import program
from tests.databases import CHECKOUT, TEST_KEY, database_url, own_database, run_python

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


def test_wrong_settings_and_a_home_that_cannot_be_used_are_said_in_a_sentence() -> None:
    assert manage("check", **NO_SERVER, DEBUG="ture") == (
        1,
        "",
        "DEBUG=ture is neither true nor false. Set one of true, yes, on, 1, false, no, off, 0.\n",
    )
    status, _, said = manage("check", NEWSDEDUP_HOME="/srv/a,b")
    assert (status, len(said.splitlines())) == (1, 1)
    assert "'/srv/a,b'" in said
    assert "NEWSDEDUP_HOME" in said


@pytest.fixture
def c_locale(db):
    """The URL of an empty database in which pg_trgm would ignore all letters but ASCII."""
    with own_database(f"{connection.settings_dict['NAME']}_manage_c", options="ENCODING 'UTF8' LOCALE 'C'") as url:
        yield url


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (psycopg.OperationalError("server closed the\nconnection"), "The database cannot be used: server closed the"),
        (psycopg.errors.DiskFull("could not extend file"), "The disk of the database is full: could not"),
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
from newsdedup import program as manage
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
        tables = untouched.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
        assert tables.fetchone() == (0,)


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


OWN = {
    name: load_command_class(app, name)
    for name, app in get_commands().items()
    if app in {"articles", "dedup", "crawlers", "newsdedup_site"} and name != "migrate"  # whose help is Django's
}
LONG = {
    "backup", "clean", "crawl", "evaluate", "evaluate_extraction", "export", "export_articles",
    "export_corpus", "export_detection", "export_revisions",
    "export_warc", "index_search",
    "find_boilerplate", "find_duplicates", "fit_verdicts", "import_articles", "import_detection", "import_warc",
    "reextract", "remove_article", "remove_newspaper", "remove_pages", "renormalize", "restore",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(OWN))
def test_the_help_of_a_command_shows_its_own_options_first_and_its_exit_codes(name: str) -> None:
    command = OWN[name]
    assert isinstance(command, ProjectCommand)
    options, codes = command.create_parser("manage.py", name).format_help().split("\nexit codes:\n")
    own, _, _ = options.partition("  --version ")
    assert "--verbosity" not in own.split("options:")[1]
    assert ("  --no-progress " in own) == (name in LONG) == isinstance(command, LongCommand)
    listed = [int(line.split()[0]) for line in codes.splitlines()]
    assert listed == sorted(command.ends | set(command.exit_codes.values()))
    assert set(listed) >= {0, 1, 2}


class Waiting(LongCommand):
    """Sends itself a signal, or raises what it is given."""

    resuming = "Run it again."
    exit_codes = {LookupError: ExitCode.ACTIVE}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--signal", type=int)

    def handle(self, **options: Any) -> None:
        if options["signal"]:
            os.kill(os.getpid(), options["signal"])
            threading.Event().wait(10)
        raise KeyError("nothing is there")


def end_of(*arguments: str) -> tuple[int, str]:
    errors = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        Waiting(stderr=errors).run_from_argv(["manage.py", "waiting", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code, errors.getvalue()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_ends_with_130_and_a_sentence(number: signal.Signals) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert end_of(f"--signal={number}") == (130, "Interrupted. Run it again.\n")
    assert signal.getsignal(signal.SIGTERM) == before


def test_an_error_ends_a_command_with_the_exit_code_that_is_declared_for_it_or_its_base() -> None:
    assert end_of() == (3, "CommandError: 'nothing is there'.\n")
    with pytest.raises(CommandError) as raised:
        Waiting().execute(force_color=False, no_color=True, skip_checks=True, signal=None)
    assert raised.value.returncode == 3


OURS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
FIRST = f"newsdedup {OURS}\nPython {platform.python_version()}\nDjango {django.get_version()}\n"


@pytest.mark.django_db
def test_the_versions_are_those_in_use(capsys) -> None:
    call_command("version")
    with connection.cursor() as cursor:
        server = cursor.execute("SELECT split_part(version(), ' ', 2)").fetchone()[0]
    assert capsys.readouterr().out.startswith(f"{FIRST}PostgreSQL {server}")


def test_it_answers_without_a_database_and_in_place_of_djangos_own() -> None:
    assert manage("version", **NO_SERVER) == (0, f"{FIRST}PostgreSQL unknown: the database is not reachable\n", "")


def test_a_plain_checkout_knows_its_version(monkeypatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert versions.newsdedup_version() == OURS


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
        assert other.execute("SELECT pg_try_advisory_lock(%s)", [Lock.MIGRATE]).fetchone() == (True,)

"""All commands alike: their help, errors and interrupts; what version prints, and who waits to migrate."""

from __future__ import annotations

import importlib.metadata
import io
import os
import platform
import signal
import threading
import tomllib
from typing import Any

import django
import psycopg
import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.core.management.base import CommandParser
from django.db import OperationalError, connection, transaction

from articles import versions
from articles.management.base import ExitCode, LongCommand, ProjectCommand
from articles.storage import locks
from articles.storage.locks import Lock
from tests.databases import CHECKOUT, database_url
from tests.site.test_manage import NO_SERVER, manage

OWN = {
    name: load_command_class(app, name)
    for name, app in get_commands().items()
    if app in {"articles", "dedup", "crawlers", "newsdedup_site"} and name != "migrate"  # whose help is Django's
}
LONG = {
    "backup", "crawl", "evaluate", "evaluate_extraction", "export", "export_articles",
    "export_corpus", "export_detection", "export_revisions",
    "export_warc",
    "find_boilerplate", "find_duplicates", "fit_verdicts", "import_articles", "import_detection", "import_warc",
    "measure_noise", "reextract", "remove_article", "remove_newspaper", "remove_pages", "renormalize", "restore",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(OWN))
def test_the_help_of_a_command_shows_its_own_options_first_and_its_exit_codes(name: str) -> None:
    command = OWN[name]
    assert isinstance(command, ProjectCommand)
    shown = command.create_parser("manage.py", name).format_help()
    options, codes = shown.split("\nexit codes:\n")
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
        held = other.execute("SELECT pg_try_advisory_lock(%s)", [Lock.MIGRATE]).fetchone()
        assert held == (True,)

"""manage.py version: what a report of a fault has to name."""

import importlib.metadata
import platform
import tomllib
from pathlib import Path

import django
import pytest
from django.core.management import call_command
from django.db import connection

from articles import versions
from tests.site.test_manage import NO_SERVER, manage

CHECKOUT = Path(__file__).resolve().parents[2]
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

"""The system checks, on real databases."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.core.checks import CheckMessage, run_checks
from django.db import connection, connections

from dedup import checks
from dedup.checks import _check_database, check_trigrams
from tests.databases import database_url


@pytest.mark.django_db
def test_the_test_database_passes() -> None:
    assert check_trigrams(databases=["default"]) == []
    assert run_checks(databases=["default"]) == []


def test_without_a_named_database_nothing_is_checked() -> None:
    assert check_trigrams(databases=None) == []


@contextmanager
def database(kind: str, options: str) -> Iterator[str]:
    # Named after the test database, which each of several test processes has for itself.
    name = f"{connection.settings_dict['NAME']}_{kind}"
    with psycopg.connect(database_url(), autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name}")
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 {options}")
        other = connection.copy(name)
        other.settings_dict["NAME"] = name
        connections[name] = other
        try:
            yield name
        finally:
            other.close()
            del connections[name]
            server.execute(f"DROP DATABASE {name}")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_is_not_utf8_fails_before_the_first_migration(
    django_db_setup, django_db_blocker, encoding: str
) -> None:
    options = f"ENCODING '{encoding}' LOCALE 'C' LOCALE_PROVIDER libc"
    with django_db_blocker.unblock(), database(encoding.lower(), options) as name:
        [error] = check_trigrams(databases=[name])
    assert error.id == "dedup.E005"
    assert encoding in error.msg
    assert "ENCODING 'UTF8'" in error.hint


def before_and_with_pg_trgm(kind: str, options: str) -> tuple[list[CheckMessage], list[CheckMessage]]:
    with database(kind, f"ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER {options}") as name:
        before = check_trigrams(databases=[name])
        with connections[name].cursor() as cursor:
            cursor.execute("CREATE EXTENSION pg_trgm")
        return before, check_trigrams(databases=[name])


@pytest.mark.parametrize(("provider", "locale"), [("builtin", "BUILTIN_LOCALE 'C.UTF-8'"), ("icu", "ICU_LOCALE 'und'")])
def test_no_other_provider_helps_if_the_ctype_is_c(
    django_db_setup, django_db_blocker, provider: str, locale: str
) -> None:
    try:
        with django_db_blocker.unblock():
            before, after = before_and_with_pg_trgm(provider, f"{provider} {locale}")
    except (psycopg.errors.SyntaxError, psycopg.errors.InvalidParameterValue, psycopg.errors.FeatureNotSupported):
        pytest.skip(f"this server has no provider {provider}")
    assert [error.id for error in before + after] == ["dedup.E003", "dedup.E003"]


def test_a_c_locale_fails_with_id_and_hint_before_pg_trgm_and_with_it(django_db_setup, django_db_blocker) -> None:
    # There, pg_trgm ignores all letters but ASCII.
    with django_db_blocker.unblock():
        before, after = before_and_with_pg_trgm("c_locale", "libc")
    for [error], said in ((before, "LC_CTYPE C,"), (after, "'Москва'")):
        assert error.id == "dedup.E003"
        assert said in error.msg
        assert "LC_CTYPE 'C.UTF-8'" in error.hint


@pytest.mark.django_db
def test_pg_trgm_missing_from_a_database_with_articles_fails_with_id_and_hint() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
    [error] = check_trigrams(databases=["default"])
    assert error.id == "dedup.E004"
    assert "pg_trgm" in error.msg
    assert "CREATE EXTENSION pg_trgm" in error.hint


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("answer", "expected"),
    [(None, "dedup.E002"), (("1.6",), "dedup.E003")],
    ids=["no extension on the server", "no trigrams"],
)
def test_each_fault_has_its_id(answer, expected: str) -> None:
    class Cursor:
        """A server that answers as one without pg_trgm, which cannot be made here."""

        def __init__(self) -> None:
            self.answers = [answer, (0,)]

        def execute(self, *_arguments: object) -> None: ...

        def fetchone(self):
            return self.answers.pop(0)

    assert _check_database(Cursor()).id == expected


@pytest.mark.django_db
def test_the_number_that_is_checked_is_that_of_the_server(monkeypatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = int(cursor.fetchone()[0].split(".")[0])
    monkeypatch.setattr(checks, "MINIMUM_VERSION", version)
    assert check_trigrams(databases=["default"]) == []
    monkeypatch.setattr(checks, "MINIMUM_VERSION", version + 1)
    [error] = check_trigrams(databases=["default"])
    message = f"PostgreSQL {version} is too old; newsdedup needs {version + 1} or newer."
    assert (error.id, error.msg) == ("dedup.E001", message)

"""System checks of the database: its version, and that no encoding or locale makes pg_trgm silently find nothing.

A command asks for them by `check_database`.
"""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from dedup.detection.article_sql import ARTICLES

# A word without ASCII letters: pg_trgm finds no trigrams in it if the database ignores all other letters.
PROBE_WORD = "Москва"
# The oldest PostgreSQL on which all tests pass: .github/workflows/ci.yml runs them on it.
MINIMUM_VERSION = 15
UTF8_HINT = (
    "Create the database with LC_CTYPE C.UTF-8 (or another UTF-8 locale), for example "
    "CREATE DATABASE newsdedup TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'."
)


@register(Tags.database)
def check_trigrams(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Report a server that is too old, pg_trgm missing, or a locale or encoding in which it ignores other scripts."""
    messages: list[CheckMessage] = []
    for alias in databases or []:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version_num')::int")
            fault = _check_version(cursor.fetchone()[0]) or _check_encoding(cursor) or _check_database(cursor)
            messages += [fault] if fault else []
    return messages


def _check_version(version: int) -> CheckMessage | None:
    if version >= MINIMUM_VERSION * 10_000:
        return None
    return Error(
        f"PostgreSQL {version // 10_000} is too old; newsdedup needs {MINIMUM_VERSION} or newer.",
        hint="Back up, restore into a newer server, and point DATABASE_URL at that (docs/running.md).",
        id="dedup.E001",
    )


def _check_encoding(cursor: Any) -> CheckMessage | None:
    cursor.execute("SELECT current_setting('server_encoding')")
    encoding = cursor.fetchone()[0]
    if encoding == "UTF8":
        return None
    return Error(
        f"The database encoding is {encoding}, which cannot store the letters of every newspaper; it must be UTF8.",
        hint=UTF8_HINT,
        id="dedup.E005",
    )


def _check_database(cursor: Any) -> CheckMessage | None:
    cursor.execute("SELECT installed_version FROM pg_available_extensions WHERE name = 'pg_trgm'")
    row = cursor.fetchone()
    if row is None:
        return Error(
            "The PostgreSQL server does not have the extension pg_trgm.",
            hint="Install PostgreSQL's contrib modules on the server (on Debian they come with `postgresql`).",
            id="dedup.E002",
        )
    if row[0] is None:
        return _check_not_migrated(cursor)
    cursor.execute("SELECT cardinality(show_trgm(%s))", [PROBE_WORD])
    if cursor.fetchone()[0] > 0:
        return None
    return Error(
        f"pg_trgm sees no letters in {PROBE_WORD!r}: the database has the C locale, "
        "so all texts in non-Latin scripts would score 0.",
        hint=UTF8_HINT,
        id="dedup.E003",
    )


def _check_not_migrated(cursor: Any) -> CheckMessage | None:
    """Allow pg_trgm to be missing before the first migration, which creates it together with the articles."""
    cursor.execute("SELECT to_regclass(%s)", [ARTICLES])
    if cursor.fetchone()[0] is None:
        return _check_locale(cursor)
    return Error(
        "The database has articles but not the extension pg_trgm (perhaps it is a restored dump).",
        hint="Run CREATE EXTENSION pg_trgm in this database, as its owner or another role with the right to.",
        id="dedup.E004",
    )


def _check_locale(cursor: Any) -> CheckMessage | None:
    """Judge by LC_CTYPE while pg_trgm is missing: pg_trgm follows it with every locale provider."""
    cursor.execute("SELECT datctype FROM pg_database WHERE datname = current_database()")
    ctype = cursor.fetchone()[0]
    if ctype not in ("C", "POSIX"):
        return None
    return Error(
        f"The database has LC_CTYPE {ctype}, in which pg_trgm sees no letters of non-Latin scripts.",
        hint=UTF8_HINT,
        id="dedup.E003",
    )

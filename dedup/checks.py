"""System checks of the database: without them pg_trgm finds nothing, and says nothing."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

# A word of which nothing is left when the database drops every non-ASCII letter.
PROBE_WORD = "Москва"
MINIMUM_VERSION = 14


@register(Tags.database)
def check_trigrams(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Fail where pg_trgm is missing, or where it is blind to other scripts (a C locale)."""
    messages: list[CheckMessage] = []
    for alias in databases or []:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version_num')::int")
            messages += _check_version(cursor.fetchone()[0]) or _check_database(cursor)
    return messages


def _check_version(version: int) -> list[CheckMessage]:
    if version >= MINIMUM_VERSION * 10_000:
        return []
    return [
        Error(
            f"PostgreSQL {version // 10_000} is too old; newsdedup needs {MINIMUM_VERSION} or newer.",
            hint="Point DATABASE_URL at a newer server.",
            id="dedup.E001",
        )
    ]


def _check_database(cursor: Any) -> list[CheckMessage]:
    cursor.execute("SELECT installed_version FROM pg_available_extensions WHERE name = 'pg_trgm'")
    row = cursor.fetchone()
    if row is None:
        return [
            Error(
                "The PostgreSQL server does not offer the extension pg_trgm.",
                hint="Install PostgreSQL's contrib modules on the server (on Debian they come with `postgresql`).",
                id="dedup.E002",
            )
        ]
    if row[0] is None:
        return _check_not_migrated(cursor)
    cursor.execute("SELECT cardinality(show_trgm(%s))", [PROBE_WORD])
    if cursor.fetchone()[0] > 0:
        return []
    return [
        Error(
            f"pg_trgm sees no letters in {PROBE_WORD!r}: the database has the C locale, "
            "and every text in another script than Latin would score 0.",
            hint="Make the database with LC_CTYPE C.UTF-8 (or another UTF-8 locale), for example "
            "CREATE DATABASE newsdedup TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'.",
            id="dedup.E003",
        )
    ]


def _check_not_migrated(cursor: Any) -> list[CheckMessage]:
    """Accept that pg_trgm is missing until the first migration, which creates it together with the articles."""
    cursor.execute("SELECT to_regclass('articles_article')")
    if cursor.fetchone()[0] is None:
        return []
    return [
        Error(
            "The extension pg_trgm is missing in a database that holds articles (a restored dump, perhaps).",
            hint="Run CREATE EXTENSION pg_trgm in this database, as its owner or another role that may.",
            id="dedup.E004",
        )
    ]

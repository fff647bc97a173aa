"""System checks of the database: without them pg_trgm finds nothing, and says nothing."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from dedup.article_sql import ARTICLES

# A word of which nothing is left when the database drops every non-ASCII letter.
PROBE_WORD = "Москва"
MINIMUM_VERSION = 14
UTF8_HINT = (
    "Make the database with LC_CTYPE C.UTF-8 (or another UTF-8 locale), for example "
    "CREATE DATABASE newsdedup TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'."
)


@register(Tags.database)
def check_trigrams(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Fail where pg_trgm is missing, or where it is or will be blind to other scripts (a C locale, no UTF-8)."""
    messages: list[CheckMessage] = []
    for alias in databases or []:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version_num')::int")
            messages += _check_version(cursor.fetchone()[0]) or _check_encoding(cursor) or _check_database(cursor)
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


def _check_encoding(cursor: Any) -> list[CheckMessage]:
    cursor.execute("SELECT current_setting('server_encoding')")
    encoding = cursor.fetchone()[0]
    if encoding == "UTF8":
        return []
    return [
        Error(
            f"The database is encoded in {encoding}, which cannot hold the letters of every newspaper.",
            hint=UTF8_HINT,
            id="dedup.E005",
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
            hint=UTF8_HINT,
            id="dedup.E003",
        )
    ]


def _check_not_migrated(cursor: Any) -> list[CheckMessage]:
    """Accept that pg_trgm is missing until the first migration, which creates it together with the articles."""
    cursor.execute("SELECT to_regclass(%s)", [ARTICLES])
    if cursor.fetchone()[0] is None:
        return _check_locale(cursor)
    return [
        Error(
            "The extension pg_trgm is missing in a database that holds articles (a restored dump, perhaps).",
            hint="Run CREATE EXTENSION pg_trgm in this database, as its owner or another role that may.",
            id="dedup.E004",
        )
    ]


def _check_locale(cursor: Any) -> list[CheckMessage]:
    """Judge by the name of LC_CTYPE, while there is no pg_trgm to ask; it obeys it beside any locale provider."""
    cursor.execute("SELECT datctype FROM pg_database WHERE datname = current_database()")
    ctype = cursor.fetchone()[0]
    if ctype not in ("C", "POSIX"):
        return []
    return [
        Error(
            f"The database has LC_CTYPE {ctype}, in which pg_trgm sees no letters of another script than Latin.",
            hint=UTF8_HINT,
            id="dedup.E003",
        )
    ]

"""The small tables of an export: newspapers, editors' links and rules, and PostgreSQL's alphabet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
from django.db import connection
from pyarrow import parquet

from articles.models import Newspaper
from dedup.detection.article_sql import article_sql
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.detection.passes.trigram import whole_alphabet
from dedup.detection.spark.manifest import AlphabetError
from dedup.detection.spark.schema import (
    ALPHABET,
    COMPRESSION,
    GROUP_RULES,
    LINKS,
    NEWSPAPERS,
    SERIES_RULES,
    Bundle,
    table_of,
)
from dedup.models import GroupMember, Series


def _newspapers() -> list[tuple[Any, ...]]:
    return [(item_.pk, item_.name, item_.affixes) for item_ in Newspaper.objects.order_by("pk")]


def _links() -> list[tuple[Any, ...]]:
    links = constraints_in_force()._asdict().items()
    return sorted((left, right, effect) for effect, pairs in links for left, right in pairs)


def _series_rules() -> list[tuple[Any, ...]]:
    ruled = Series.objects.filter(ruled_at__isnull=False).order_by("newspaper", "form")
    return list(ruled.values_list("newspaper", "form"))


def _group_rules() -> list[tuple[Any, ...]]:
    ruled = GroupMember.objects.filter(group__ruled_at__isnull=False).order_by("article")
    return list(ruled.values_list("article", "group", "group__first"))


@cache
def _alphabet(_database: str) -> list[tuple[Any, ...]]:
    """Return the rows of ALPHABET, which never change in a database."""
    try:
        return sorted((ord(character), ord(lowered)) for character, lowered in whole_alphabet(connection))
    except ValueError as error:
        raise AlphabetError(str(error)) from error


# Each small table: its columns, and what returns its rows.
_MADE: dict[str, tuple[pa.Schema, Callable[[], list[tuple[Any, ...]]]]] = {
    "newspapers": (NEWSPAPERS, _newspapers),
    "links": (LINKS, _links),
    "series_rules": (SERIES_RULES, _series_rules),
    "group_rules": (GROUP_RULES, _group_rules),
    "alphabet": (ALPHABET, lambda: _alphabet(connection.settings_dict["NAME"])),
}
TABLES = tuple(_MADE)


def write_tables(bundle: Bundle) -> dict[str, str]:
    """Write the small tables; return a hash of the rows of each, by name. Raises AlphabetError."""
    tables = {name: make() for name, (_, make) in _MADE.items()}
    for name, rows in tables.items():
        parquet.write_table(table_of(rows, _MADE[name][0]), bundle.table(name), compression=COMPRESSION)
    return {name: _hash(rows) for name, rows in tables.items()}


def changed_tables(known: Mapping[str, str]) -> list[str]:
    """Return which of the tables that editors change have other rows now than when these hashes were made."""
    return [name for name, (_, make) in _MADE.items() if name != "alphabet" and known.get(name) != _hash(make())]


def _hash(rows: Iterable[tuple[Any, ...]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()[:32]


_MONTHS_SQL = article_sql(
    """
SELECT to_char(date, 'YYYY-MM'), count(*), bit_xor(hashint8extended(article.id, article.revision))
FROM {articles} AS article
WHERE revision <= %(newest)s AND date <= %(last_day)s AND {article.in_newspapers}
GROUP BY 1
ORDER BY 1
""",
    "article",
)
_CHANGED_SQL = article_sql(
    """
SELECT exported.id, coalesce(article.headline, ''), coalesce(newspaper.name, '')
FROM unnest(%(ids)s::bigint[], %(revisions)s::bigint[]) AS exported (id, revision)
LEFT JOIN {articles} AS article ON article.id = exported.id
LEFT JOIN articles_newspaper AS newspaper ON newspaper.id = article.newspaper_id
WHERE article.revision IS DISTINCT FROM exported.revision
ORDER BY exported.id
"""
)


def months_of(parameters: dict[str, Any]) -> dict[str, list[int]]:
    """Return the number of articles of each month and a hash of their ids and revisions.

    Parameters: newest, the highest revision that counts; last_day; newspaper_ids, None for all.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MONTHS_SQL, parameters)
        return {month: [count, state] for month, count, state in cursor}


def changed(ids: Sequence[int], revisions: Sequence[int]) -> list[tuple[int, str, str]]:
    """Return those of these articles that have another revision now or are missing: id, headline, newspaper."""
    with connection.cursor() as cursor:
        cursor.execute(_CHANGED_SQL, {"ids": list(ids), "revisions": list(revisions)})
        return list(cursor)

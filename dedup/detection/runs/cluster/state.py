"""Which articles there are, and in which state: an export and the import of its results must agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection

from dedup.detection.article_sql import article_sql

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

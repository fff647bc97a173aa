"""The writer of the shingle index: each article's masked word shingles, stored so that no run makes them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from django.db import connection, transaction

from dedup.article_sql import article_sql
from dedup.kernels.masked_shingles import masked_shingle_sets, sample_of

_WRITTEN_AT_ONCE = 2_000

_COUNT_SQL = article_sql(
    """
SELECT count(*)
FROM {articles} AS article
LEFT JOIN dedup_articleshingles AS known ON known.article_id = article.id
WHERE known.revision IS DISTINCT FROM article.revision OR known.sample IS NULL
"""
)
# One batch at a time by id, from the primary keys.
_OUTDATED_SQL = article_sql(
    """
SELECT article.id, article.newspaper_id, article.date, article.revision, article.normalized_text
FROM {articles} AS article
LEFT JOIN dedup_articleshingles AS known ON known.article_id = article.id
WHERE article.id > %(after_id)s AND (known.revision IS DISTINCT FROM article.revision OR known.sample IS NULL)
ORDER BY article.id
LIMIT %(batch)s
"""
)
_CREATE_SQL = """
CREATE TEMPORARY TABLE made_shingles (
    article_id bigint, newspaper_id bigint, date date, revision bigint, shingles bytea, sample int[]
) ON COMMIT DROP
"""
_COPY_SQL = "COPY made_shingles (article_id, newspaper_id, date, revision, shingles, sample) FROM STDIN (FORMAT binary)"
_STORE_SQL = """
INSERT INTO dedup_articleshingles (article_id, newspaper_id, date, revision, shingles, sample)
SELECT article_id, newspaper_id, date, revision, shingles, sample FROM made_shingles
ON CONFLICT (article_id) DO UPDATE
SET newspaper_id = excluded.newspaper_id, date = excluded.date, revision = excluded.revision,
    shingles = excluded.shingles, sample = excluded.sample
"""
# What was written last waits in a list that every search reads; merging it makes a search 20 times faster.
_MERGE_SQL = "SELECT gin_clean_pending_list('article_shingle_sample')"


def outdated_shingles() -> int:
    """Return the number of articles whose shingles are missing or outdated."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_SQL)
        count: int = cursor.fetchone()[0]
    return count


def update_shingles(on_written: Callable[[int], None] = lambda _articles: None) -> None:
    """Bring the shingle index up to date with all articles; call `on_written` with the size of each batch.

    Each batch is one transaction, so a process that is killed loses one batch, and the next call does the rest.
    """
    after = 0
    while rows := _outdated(after):
        _write(rows)
        on_written(len(rows))
        after = rows[-1][0]
    if after:
        with connection.cursor() as cursor:
            cursor.execute(_MERGE_SQL)


def _outdated(after: int) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(_OUTDATED_SQL, {"after_id": after, "batch": _WRITTEN_AT_ONCE})
        return cursor.fetchall()


def _write(rows: list[Any]) -> None:
    made = masked_shingle_sets([text for *_, text in rows])
    stored = made.values.astype("<u4")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CREATE_SQL)
        with cursor.copy(_COPY_SQL) as copy:
            copy.set_types(["int8", "int8", "date", "int8", "bytea", "int4[]"])
            for row, each in zip(rows, np.split(stored, made.offsets[1:-1]), strict=True):
                copy.write_row((*row[:-1], each.tobytes(), sample_of(each).view("<i4").tolist()))
        cursor.execute(_STORE_SQL)
        cursor.execute("DROP TABLE made_shingles")

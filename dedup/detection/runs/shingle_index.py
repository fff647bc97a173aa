"""The shingle index: each article's masked word shingles, stored so that no run makes them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from articles.processes import THIS_PROCESS, Pool
from dedup.detection.article_sql import article_sql
from dedup.detection.kernels.masked_shingles import masked_shingle_sets
from dedup.detection.runs.phases import NO_PROGRESS, Progress
from dedup.detection.runs.shingle_samples import complete_samples, sets_of_rows, store_samples
from dedup.detection.runs.text_indexes import IndexTask, TextIndex, outdated_parts, update_index
from dedup.detection.types import SHINGLES


def _made(rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the row of the index for each article: of its id, newspaper, day, revision and normalised text."""
    made = masked_shingle_sets([text for *_, text in rows])
    stored, begins = made.values.astype("<u4").tobytes(), (4 * made.offsets).tolist()
    for place, row in enumerate(rows):
        yield (*row[:-1], stored[begins[place] : begins[place + 1]])


def _sample(rows: Sequence[tuple[Any, ...]]) -> None:
    store_samples(np.array([row[0] for row in rows], dtype=np.int64), sets_of_rows([row[-1] for row in rows]))


SHINGLE_INDEX = TextIndex(
    name=SHINGLES,
    # In parts of so many articles. The index article_revision finds those above a revision.
    parts_sql=article_sql(
        """
SELECT min(id), max(id), count(*)
FROM (
    SELECT article.id, (row_number() OVER (ORDER BY article.id) - 1) / %(part)s AS part
    FROM {articles} AS article
    LEFT JOIN dedup_articleshingles AS known ON known.article_id = article.id
    WHERE article.revision > %(above)s AND known.revision IS DISTINCT FROM article.revision
) AS outdated
GROUP BY part
ORDER BY part
"""
    ),
    read_sql=article_sql(
        """
SELECT article.id, article.newspaper_id, article.date, article.revision, article.normalized_text
FROM {articles} AS article
LEFT JOIN dedup_articleshingles AS known
    ON known.article_id = article.id AND known.article_id BETWEEN %(first_id)s AND %(last_id)s
WHERE article.id BETWEEN %(first_id)s AND %(last_id)s AND article.revision > %(above)s
  AND known.revision IS DISTINCT FROM article.revision
ORDER BY article.id
"""
    ),
    delete_sql="DELETE FROM dedup_articleshingles WHERE article_id = ANY (%(ids)s)",
    copy_sql="COPY dedup_articleshingles (article_id, newspaper_id, date, revision, shingles) "
    "FROM STDIN (FORMAT binary)",
    types=("int8", "int8", "date", "int8", "bytea"),
    made=_made,
    on_made=_sample,
)


def write_shingles(task: IndexTask, on_written: Callable[[int], None]) -> None:
    """Write a part of the index, in any process."""
    SHINGLE_INDEX.write(task, on_written)


def outdated_shingles() -> int:
    """Return the number of articles whose shingles are missing or outdated."""
    return sum(part.articles for part in outdated_parts(SHINGLE_INDEX))


def update_shingles(
    progress: Progress = NO_PROGRESS, *, pool: Pool = THIS_PROCESS, on_idle: Callable[[], None] = lambda: None
) -> None:
    """Bring the shingle index up to date with all articles."""
    update_index(SHINGLE_INDEX, write_shingles, progress, pool=pool, on_idle=on_idle)
    complete_samples()

"""The shingle index: each article's masked word shingles, stored so that no run makes them again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from django.db import Error, connection

from dedup.article_sql import article_sql
from dedup.kernels.masked_shingles import masked_shingle_sets, samples_of
from dedup.runs.phases import NO_PROGRESS, Progress
from dedup.runs.text_indexes import IndexTask, TextIndex, outdated_parts, update_index
from dedup.types import SHINGLES

# With more articles to write than this, the search tree is brought up to date while the run goes on.
_MERGED_LATER = 20_000

# With what was written last in a list of its own, a search reads this list; merging it makes a search 20 times faster.
_MERGE_SQL = "SELECT gin_clean_pending_list('article_shingle_sample')"
# Or each of the writers would merge it again and again. The setting is in kB.
_NO_MERGE_SQL = "SET LOCAL gin_pending_list_limit = 2000000"


def _made(rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the row of the index for each article: of its id, newspaper, day, revision and normalised text."""
    made = masked_shingle_sets([text for *_, text in rows])
    samples = samples_of(made)
    stored, looked_up = made.values.astype("<u4").tobytes(), samples.values.view(np.int32).tolist()
    begins, firsts = (4 * made.offsets).tolist(), samples.offsets.tolist()
    for place, row in enumerate(rows):
        shingles = stored[begins[place] : begins[place + 1]]
        yield (*row[:-1], shingles, looked_up[firsts[place] : firsts[place + 1]])


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
    WHERE article.revision > %(above)s
      AND (known.revision IS DISTINCT FROM article.revision OR known.sample IS NULL)
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
  AND (known.revision IS DISTINCT FROM article.revision OR known.sample IS NULL)
ORDER BY article.id
"""
    ),
    delete_sql="DELETE FROM dedup_articleshingles WHERE article_id = ANY (%(ids)s)",
    copy_sql="COPY dedup_articleshingles (article_id, newspaper_id, date, revision, shingles, sample) "
    "FROM STDIN (FORMAT binary)",
    types=("int8", "int8", "date", "int8", "bytea", "int4[]"),
    made=_made,
    before_sql=_NO_MERGE_SQL,
)


def write_shingles(task: IndexTask, on_written: Callable[[int], None]) -> None:
    """Write a part of the index, in any process."""
    SHINGLE_INDEX.write(task, on_written)


def outdated_shingles() -> int:
    """Return the number of articles whose shingles are missing or outdated."""
    return sum(part.articles for part in outdated_parts(SHINGLE_INDEX))


def update_shingles(progress: Progress = NO_PROGRESS) -> None:
    """Bring the shingle index up to date with all articles, in this process."""
    update_index(SHINGLE_INDEX, write_shingles, progress)
    merge_samples()


def merge_samples() -> None:
    """Merge what was written last into the search tree."""
    with connection.cursor() as cursor:
        cursor.execute(_MERGE_SQL)


class SampleMerge:
    """Merges what was written last into the search tree; in another thread if it is much, because it takes long."""

    def __init__(self) -> None:
        self._side: Any = None
        self._thread: threading.Thread | None = None

    def start(self, written: int) -> None:
        """Merge the samples of so many articles."""
        if 0 < written < _MERGED_LATER:
            merge_samples()
        elif written:
            self._side = connection.copy()
            self._side.inc_thread_sharing()
            self._thread = threading.Thread(target=self._merge, daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait until all is merged."""
        if self._thread is not None:
            self._thread.join()

    def stop(self) -> None:
        """Stop merging: PostgreSQL does the rest when it next cleans up."""
        if self._thread is not None and self._thread.is_alive():
            with suppress(Error):
                self._side.connection.cancel()
            self._thread.join()

    def _merge(self) -> None:
        with suppress(Error), self._side.cursor() as cursor:
            cursor.execute(_MERGE_SQL)
        self._side.close()

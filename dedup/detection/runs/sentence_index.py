"""The sentence index: the sentences of each article, stored so that no run divides its text again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dedup.detection.article_sql import article_sql
from dedup.detection.kernels.sentences import marked_sentences
from dedup.detection.runs.text_indexes import IndexTask, TextIndex
from dedup.detection.types import SENTENCES


def _made(rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the row of the index for each article: of its id, revision and content."""
    (hashes, offsets), marks = marked_sentences([content for _, _, content in rows])
    stored, marked = hashes.astype("<i8").tobytes(), marks.astype("<u2").tobytes()
    for (article, revision, _), begin, end in zip(rows, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        yield article, revision, stored[8 * begin : 8 * end], marked[2 * begin : 2 * end]


SENTENCE_INDEX = TextIndex(
    name=SENTENCES,
    # In parts of so many articles. The index article_revision finds those above a revision.
    parts_sql=article_sql(
        """
SELECT min(id), max(id), count(*)
FROM (
    SELECT article.id, (row_number() OVER (ORDER BY article.id) - 1) / %(part)s AS part
    FROM {articles} AS article
    LEFT JOIN dedup_articlesentences AS known ON known.article_id = article.id
    WHERE article.revision > %(above)s AND known.revision IS DISTINCT FROM article.revision
) AS outdated
GROUP BY part
ORDER BY part
"""
    ),
    read_sql=article_sql(
        """
SELECT article.id, article.revision, article.content
FROM {articles} AS article
LEFT JOIN dedup_articlesentences AS known
    ON known.article_id = article.id AND known.article_id BETWEEN %(first_id)s AND %(last_id)s
WHERE article.id BETWEEN %(first_id)s AND %(last_id)s AND article.revision > %(above)s
  AND known.revision IS DISTINCT FROM article.revision
ORDER BY article.id
"""
    ),
    delete_sql="DELETE FROM dedup_articlesentences WHERE article_id = ANY (%(ids)s)",
    copy_sql="COPY dedup_articlesentences (article_id, revision, hashes, marks) FROM STDIN (FORMAT binary)",
    types=("int8", "int8", "bytea", "bytea"),
    made=_made,
)


def write_sentences(task: IndexTask, on_written: Callable[[int], None]) -> None:
    """Write a part of the index, in any process."""
    SENTENCE_INDEX.write(task, on_written)

"""What a run keeps of each article's text, so that no run makes it again: written once per article, by many processes.

Articles get a higher revision whenever they change. Once all of them are in an index, it notes the highest revision;
from then on, only articles above it are looked at.
"""

import datetime
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from string import Template
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.db.models import Count, Sum

from articles.processes import THIS_PROCESS, Pool
from articles.storage.ingest import newest_revision
from dedup.detection.article_sql import article_sql
from dedup.detection.kernels.masked_shingles import (
    Hashes,
    ShingleSets,
    as_stored,
    from_stored,
    masked_shingle_sets,
    samples_of,
)
from dedup.detection.kernels.sentences import marked_sentences
from dedup.detection.kernels.tokens import IntArray, joined
from dedup.detection.passes.reading import read_holders, shingles_by_id
from dedup.detection.runs.phases import NO_PROGRESS, Progress
from dedup.detection.types import Phase, Window
from dedup.models import ArticleShingles, ShingleSample, Watermark

# ---- samples of the shingles of all articles, in which those are looked up that have some of a text ------------------
# They are stored by the thousands of articles, as sorted numbers. Reading all of them, some 40 MB for 100,000 articles,
# takes a tenth of a second; writing them, a hundredth of what an index takes that has an entry for each.

# Batches of articles whose samples are one row, when all are made again.
_BATCHES = 4
# All are made again if they have more articles that have changed since, or rows, than these and a share of all.
_MOST_OLDER = 20_000
_MOST_ROWS, _ARTICLES_PER_ROW = 500, 500

EVERYTHING = Window(datetime.date.min, datetime.date.max)
_SAMPLES_SQL = "COPY (SELECT articles, hashes, owners FROM dedup_shinglesample ORDER BY id) TO STDOUT (FORMAT binary)"


def store_samples(articles: IntArray, sets: ShingleSets) -> None:
    """Store the samples of the shingles of some articles, at most 65,536; those stored before do no harm."""
    samples = samples_of(sets)
    owners = np.repeat(np.arange(len(articles), dtype=np.uint64), samples.sizes)
    keys = np.sort(samples.values.astype(np.uint64) << np.uint64(16) | owners)
    ShingleSample.objects.create(
        count=len(articles),
        articles=articles.astype("<i8").tobytes(),
        hashes=(keys >> np.uint64(16)).astype("<u4").tobytes(),
        owners=keys.astype("<u2").tobytes(),
    )


def complete_samples() -> None:
    """Make all samples again if some are missing, or if there are many of earlier texts of articles."""
    known = ArticleShingles.objects.count()
    stored = ShingleSample.objects.aggregate(rows=Count("id"), articles=Sum("count"))
    articles = stored["articles"] or 0
    most_rows = _MOST_ROWS + known // _ARTICLES_PER_ROW
    if known <= articles <= 2 * known + _MOST_OLDER and stored["rows"] <= most_rows:
        return
    with transaction.atomic():
        ShingleSample.objects.all().delete()
        batches = shingles_by_id(EVERYTHING, connection)
        while parts := list(islice(batches, _BATCHES)):
            store_samples(np.concatenate([part.ids for part in parts]), joined([part.sets for part in parts]))


def holders(hashes: Hashes, most: int) -> dict[int, list[int]]:
    """Return the articles that have, or had, each of these sampled shingles: at most so many of each.

    The hashes are ascending and distinct. Before the first run of this version, it reads all shingles instead.
    """
    found: defaultdict[int, dict[int, None]] = defaultdict(dict)
    for ids, values in _found_in_samples(hashes):
        for article, value in zip(ids.tolist(), values.tolist(), strict=True):
            if len(found[value]) < most:
                found[value][article] = None
    return {value: list(articles) for value, articles in found.items()}


def _found_in_samples(hashes: Hashes) -> Iterator[tuple[IntArray, Hashes]]:
    """Yield articles with a shingle that each of them has or had."""
    if not ShingleSample.objects.exists():
        yield read_holders(hashes, EVERYTHING, connection)
        return
    with connection.cursor() as cursor, cursor.copy(_SAMPLES_SQL) as copy:
        copy.set_types(("bytea", "bytea", "bytea"))
        for articles, stored, owners in copy.rows():
            values = np.frombuffer(stored, dtype="<u4")
            firsts = np.searchsorted(values, hashes)
            counts = np.searchsorted(values, hashes, side="right") - firsts
            behind = np.cumsum(counts) - counts
            places = np.repeat(firsts - behind, counts) + np.arange(counts.sum())
            ids = np.frombuffer(articles, dtype="<i8")[np.frombuffer(owners, dtype="<u2")[places]]
            yield ids, values[places]


# Articles per transaction.
_WRITTEN_AT_ONCE = 2_000

# In parts of so many articles. The index article_revision finds those above a revision.
_PARTS_SQL = """
SELECT min(id), max(id), count(*)
FROM (
    SELECT article.id, (row_number() OVER (ORDER BY article.id) - 1) / %(part)s AS part
    FROM {articles} AS article
    LEFT JOIN $table AS known ON known.article_id = article.id
    WHERE article.revision > %(above)s AND ($outdated)
) AS outdated
GROUP BY part
ORDER BY part
"""
_READ_SQL = """
SELECT $read
FROM {articles} AS article
LEFT JOIN $table AS known
    ON known.article_id = article.id AND known.article_id BETWEEN %(first_id)s AND %(last_id)s
WHERE article.id BETWEEN %(first_id)s AND %(last_id)s AND article.revision > %(above)s AND ($outdated)
ORDER BY article.id
"""
_DELETE_SQL = "DELETE FROM $table WHERE article_id = ANY (%(ids)s)"
_COPY_SQL = "COPY $table ($columns) FROM STDIN (FORMAT binary)"


@dataclass(frozen=True, slots=True)
class TextIndex:
    """A table with one row for each article, and how its rows are made.

    `read` are the expressions on `article` of which `made` makes the rows, the id first; `columns` are those of a row,
    each with its type. `on_made` gets the rows of a part before they replace those stored, in the same transaction.
    `outdated` says when an article needs another row than `known`. So many articles pay for another process.
    """

    name: str
    table: str
    read: Sequence[str]
    columns: Mapping[str, str]
    made: Callable[[Sequence[Any]], Iterator[tuple[Any, ...]]]
    on_made: Callable[[Sequence[tuple[Any, ...]]], None] | None = None
    outdated: str = "known.revision IS DISTINCT FROM article.revision"
    articles_per_worker: int = 5_000

    def sql(self, statement: str) -> str:
        """Return a statement on this index."""
        names = {"read": ", ".join(self.read), "columns": ", ".join(self.columns)}
        return article_sql(Template(statement).substitute(names, table=self.table, outdated=self.outdated))


@dataclass(frozen=True, slots=True)
class IndexTask:
    """Some articles to write, for any process: those outdated among the ids from the first to the last."""

    index: TextIndex
    first_id: int
    last_id: int
    above: int  # the revision up to which all are up to date
    articles: int


def write_part(task: IndexTask, _on_written: Callable[[int], None]) -> None:
    """Write a part of an index in one transaction."""
    index, bounds = task.index, {"first_id": task.first_id, "last_id": task.last_id, "above": task.above}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(index.sql(_READ_SQL), bounds)
        made = list(index.made(cursor.fetchall()))
        if index.on_made:
            index.on_made(made)
        cursor.execute(index.sql(_DELETE_SQL), {"ids": [row[0] for row in made]})
        with cursor.copy(index.sql(_COPY_SQL)) as copy:
            copy.set_types(list(index.columns.values()))
            for row in made:
                copy.write_row(row)


def watermark_of(name: str) -> int:
    """Return the revision up to which what has this name is up to date; 0 if all of it is to be made."""
    return Watermark.objects.filter(name=name).values_list("revision", flat=True).first() or 0


def outdated_parts(index: TextIndex) -> list[IndexTask]:
    """Return the articles that are missing in an index or outdated, in parts."""
    above = watermark_of(index.name)
    with connection.cursor() as cursor:
        cursor.execute(index.sql(_PARTS_SQL), {"above": above, "part": _WRITTEN_AT_ONCE})
        return [IndexTask(index, first, last, above, articles) for first, last, articles in cursor]


def write_outdated(index: TextIndex, progress: Progress, pool: Pool = THIS_PROCESS) -> int:
    """Write what is missing in an index or outdated; return how many articles. A step is shown if there are any.

    Each part is one transaction, so a process that is killed loses one part, and the next call does the rest.
    """
    parts = outdated_parts(index)
    articles = sum(part.articles for part in parts)
    if parts:
        progress.start(index.name, articles)
    at_most = max(1, articles // index.articles_per_worker)
    for place, _ in pool.results(parts, write_part, at_most=at_most, on_idle=progress.look):
        progress.advance(index.name, parts[place].articles, 0)
    return articles


def update_index(index: TextIndex, progress: Progress = NO_PROGRESS, pool: Pool = THIS_PROCESS) -> int:
    """Bring an index up to date with all articles; return how many were written."""
    newest = newest_revision()
    articles = write_outdated(index, progress, pool)
    Watermark.objects.update_or_create(name=index.name, defaults={"revision": newest})
    return articles


def _masked_shingles(rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    made = as_stored(masked_shingle_sets([text for *_, text in rows]))
    for row, shingles in zip(rows, made, strict=True):
        yield (*row[:-1], shingles)


def _sample(rows: Sequence[tuple[Any, ...]]) -> None:
    store_samples(np.array([row[0] for row in rows], dtype=np.int64), from_stored([row[-1] for row in rows]))


def _marked_sentences(rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    (hashes, offsets), marks = marked_sentences([content for _, _, content in rows])
    stored, marked = hashes.astype("<i8").tobytes(), marks.astype("<u2").tobytes()
    for (article, revision, _), begin, end in zip(rows, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        yield article, revision, stored[8 * begin : 8 * end], marked[2 * begin : 2 * end]


SHINGLE_INDEX = TextIndex(
    name=Phase.SHINGLES,
    table="dedup_articleshingles",
    read=("article.id", "article.newspaper_id", "article.date", "article.revision", "article.normalized_text"),
    columns={"article_id": "int8", "newspaper_id": "int8", "date": "date", "revision": "int8", "shingles": "bytea"},
    made=_masked_shingles,
    on_made=_sample,
)
SENTENCE_INDEX = TextIndex(
    name=Phase.SENTENCES,
    table="dedup_articlesentences",
    read=("article.id", "article.revision", "article.content"),
    columns={"article_id": "int8", "revision": "int8", "hashes": "bytea", "marks": "bytea"},
    made=_marked_sentences,
)


def update_shingles(progress: Progress = NO_PROGRESS, pool: Pool = THIS_PROCESS) -> None:
    """Bring the shingle index up to date with all articles."""
    update_index(SHINGLE_INDEX, progress, pool)
    complete_samples()

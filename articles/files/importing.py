"""Imports articles from files in bounded memory, with a reason for each row it rejects.

This process finds the rows and stores them, batch by batch and in their order; worker processes do what lies between.
articles/storage/ingest.py does the storing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO, NamedTuple, TypeAlias
from uuid import UUID

from articles.files.columns import article_in, check_columns
from articles.files.formats import STDIN, Source
from articles.files.records import MAX_LINE_BYTES, FileFormat, FoundRow, find_rows, record_of
from articles.models import Newspaper
from articles.normalization.logins import without_logins
from articles.normalization.times import UnreadableDayError
from articles.processes import THIS_PROCESS, Pool
from articles.storage.incoming import IncomingArticle, RejectedArticleError, check_article
from articles.storage.ingest import MANY, Again, Stored, known_keys, refresh_statistics, store_prepared
from articles.storage.newspapers import Naming, Paper, papers_for
from articles.storage.preparing import Prepared, prepare_again, prepare_all
from articles.storage.title_affixes import newspapers_since, update_affixes_and_forms

# Starting processes takes longer than preparing this many rows.
FEW_ROWS = 2_000
# The parts of a reason that differ from row to row: quoted values and numbers.
_VALUE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<!UTF-)\d(?:[\d,.:-]*\d)?""")


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its article, or the reason why it has none. `raw` is the beginning of its text, without logins in URLs."""

    line: int
    raw: str
    article: IncomingArticle | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are stored in one transaction, and the newspaper of those that do not name one."""

    rows: Sequence[FoundRow]
    newspaper: str


class PreparedRow(NamedTuple):
    """A row, and its article when it is ready to be stored, or the reason why it has none and `raw` as in Row."""

    line: int
    raw: str
    reason: str
    article: Prepared | None = None


Imported: TypeAlias = tuple[PreparedRow, Stored]
Store: TypeAlias = Callable[[Sequence[Prepared], Again], list[Stored]]


def read_rows(stream: BinaryIO, file_format: FileFormat, *, newspaper: str = "") -> Iterator[Row]:
    """Yield the rows of an uncompressed or decompressing stream; blank lines are skipped.

    `newspaper` is used for rows that do not name one. Raises UnreadableFileError before the first row.
    """
    for found in find_rows(stream, file_format, check_header=check_columns):
        yield row_of(found, newspaper)


def row_of(found: FoundRow, newspaper: str) -> Row:
    """Read a row; `newspaper` is used if it does not name one."""
    record = record_of(found)
    raw = without_logins(record.raw)
    if record.fault:
        return Row(record.line, raw, reason=record.fault)
    try:
        return Row(record.line, raw, article_in(record, newspaper))
    except (RejectedArticleError, UnreadableDayError) as rejection:
        return Row(record.line, raw, reason=str(rejection))


@contextmanager
def open_rows(source: Source, *, newspaper: str = "") -> Iterator[tuple[Iterator[Row], Callable[[], int], int | None]]:
    """Open a file: its rows, the number of bytes read so far, and the size of the file in bytes.

    Raises UnreadableFileError, here or before the first row.
    """
    with source.open() as (stream, position, size):
        yield read_rows(stream, source.file_format, newspaper=newspaper), position, size


def check_rows(source: Source) -> None:
    """Raise UnreadableFileError if a file cannot be opened or its rows cannot be read.

    Standard input is not checked, because it can be read only once.
    """
    if source.name == STDIN:
        return
    with open_rows(source) as (rows, _, _):
        next(rows, None)


def import_rows(
    rows: Iterable[FoundRow],
    *,
    pool: Pool = THIS_PROCESS,
    batch_size: int,
    newspaper: str = "",
    store: Store = store_prepared,
) -> Iterator[list[Imported]]:
    """Store the rows in batches, one transaction each; yield the rows of each with their results.

    The processes of the pool prepare the batches, unless these are few. Raises WorkerDiedError if one was killed.
    """
    batches = _batches(rows, batch_size, newspaper)
    first = list(islice(batches, -(-FEW_ROWS // batch_size)))
    left = next(batches, None)
    tasks = chain(first, [left], batches) if left else iter(first)
    with closing((pool if left else THIS_PROCESS).stream(tasks, prepare_batch)) as stream:
        for batch, found in stream:
            yield _stored(batch, found, store)


def settle_import(before: int, created: int, pool: Pool) -> list[Newspaper]:
    """Learn the affixes of newspapers with articles newer than the revision `before`; return those that changed.

    `created` is how many articles were stored since that.
    """
    if created >= MANY:
        refresh_statistics()
    return list(update_affixes_and_forms(newspapers_since(before), pool=pool))


def reason_form(reason: str) -> str:
    """Return the kind of a reason, to count it by: without its values and its remedy, which follows a semicolon."""
    return _VALUE.sub("…", reason).partition(";")[0]


def prepare_batch(batch: Batch, _on_progress: Callable[[int], None] = lambda _rows: None) -> list[PreparedRow]:
    """Read and check the rows of a batch, and prepare their articles; a task of a worker process."""
    rows = [row_of(found, batch.newspaper) for found in batch.rows]
    namings: dict[int, Naming] = {}
    faults: dict[int, str] = {}
    for place, row in enumerate(rows):
        if row.article is not None:
            try:
                check_article(row.article)
                namings[place] = Naming.of(row.article.newspaper, row.article.url)
            except RejectedArticleError as rejection:
                faults[place] = str(rejection)
    papers = papers_for(list(namings.values()))
    valid = [(article, naming) for place, naming in namings.items() if (article := rows[place].article) is not None]
    of_papers = [(article, naming, paper) for (article, naming), paper in zip(valid, papers, strict=True)]
    prepared = prepare_all(of_papers, known_keys)
    articles = dict(zip(namings, prepared, strict=True))
    return [
        PreparedRow(row.line, "", "", articles[place])
        if place in articles
        else PreparedRow(row.line, row.raw, faults.get(place, row.reason))
        for place, row in enumerate(rows)
    ]


class Rehearsal:
    """Replaces store_prepared in a dry run: stores nothing, keeps the keys of all URLs (100 bytes each)."""

    def __init__(self) -> None:
        self._met: set[UUID] = set()

    def __call__(self, batch: Sequence[Prepared], _again: Again) -> list[Stored]:
        stored = known_keys({key for prepared in batch for key in prepared.own_keys})
        return [self._outcome(prepared, stored) for prepared in batch]

    def _outcome(self, article: Prepared, stored: Collection[UUID]) -> Stored:
        met = any(key in stored or key in self._met for key in article.own_keys)
        self._met.update(article.own_keys)
        return Stored("known" if met else "created")


def _batches(rows: Iterable[FoundRow], size: int, newspaper: str) -> Iterator[Batch]:
    """Yield the rows in lists of `size`, or shorter ones if they are long."""
    batch: list[FoundRow] = []
    held = 0
    for row in rows:
        batch.append(row)
        held += row.size
        if len(batch) == size or held > MAX_LINE_BYTES:
            yield Batch(batch, newspaper)
            batch, held = [], 0
    if batch:
        yield Batch(batch, newspaper)


def _stored(batch: Batch, rows: Sequence[PreparedRow], store: Store) -> list[Imported]:
    """Store the articles of a batch; return its rows with their results."""
    found = [(place, row.article) for place, row in enumerate(rows) if row.article is not None]

    def again(number: int, paper: Paper) -> Prepared:
        place, article = found[number]
        row = row_of(batch.rows[place], batch.newspaper)
        return article if row.article is None else prepare_again(article, row.article, paper)

    stored = iter(store([article for _, article in found], again))
    return [(row, Stored("rejected", reason=row.reason) if row.article is None else next(stored)) for row in rows]

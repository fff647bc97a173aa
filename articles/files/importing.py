"""Imports articles from files in bounded memory, with a reason for each row it rejects.

This process finds the rows and stores them, batch by batch and in their order; worker processes do what lies between.
articles/storage/ingest.py does the storing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Generic, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from articles.files.columns import article_in, check_columns
from articles.files.formats import Source
from articles.files.records import MAX_LINE_BYTES, FileFormat, FoundRow, find_rows, record_of
from articles.normalization.logins import without_logins
from articles.normalization.times import UnreadableDayError
from articles.processes import THIS_PROCESS, Pool, in_batches
from articles.storage.incoming import IncomingArticle, RejectedArticleError, check_article
from articles.storage.ingest import ForPaper, Stored, store_prepared
from articles.storage.known_articles import known_keys
from articles.storage.newspapers import Naming, Paper, papers_for
from articles.storage.preparing import Prepared, prepare_again, prepare_all

# Starting processes takes longer than preparing this many rows.
FEW_ROWS = 2_000
# The parts of a reason that differ from row to row: quoted values and numbers.
_VALUE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<!UTF-)\d(?:[\d,.:-]*\d)?""")


_Article = TypeVar("_Article", IncomingArticle, Prepared)


class Row(NamedTuple, Generic[_Article]):
    """A row: its article, or the reason why it has none. `raw` is the beginning of its text, without logins in URLs."""

    line: int
    raw: str
    reason: str = ""
    article: _Article | None = None


class Batch(NamedTuple):
    """Rows that are stored in one transaction, and the newspaper of those that do not name one."""

    rows: Sequence[FoundRow]
    newspaper: str


# Of a row that has an article, nobody looks at `raw`: it is empty.
PreparedRow: TypeAlias = Row[Prepared]
Imported: TypeAlias = tuple[PreparedRow, Stored]
Store: TypeAlias = Callable[[Sequence[Prepared], ForPaper], list[Stored]]


def row_of(found: FoundRow, newspaper: str, *, check: bool = False) -> Row[IncomingArticle]:
    """Read a row; `newspaper` is used if it does not name one. With `check`, its article can be stored."""
    record = record_of(found)
    raw = without_logins(record.raw)
    if record.fault:
        return Row(record.line, raw, record.fault)
    try:
        article = article_in(record, newspaper)
        if check:
            check_article(article)
    except (RejectedArticleError, UnreadableDayError) as rejection:
        return Row(record.line, raw, str(rejection))
    return Row(record.line, raw, article=article)


@contextmanager
def open_rows(source: Source) -> Iterator[Iterator[Row[IncomingArticle]]]:
    """Open a file and give its rows; blank lines are skipped.

    Raises UnreadableFileError, here or before the first row.
    """
    with source.open() as (stream, _, _):
        yield (row_of(row, "") for row in find_rows(stream, source.file_format, check_header=check_columns))


@dataclass
class Tally:
    """Counts of what became of rows, of other headlines of known articles, and of why rows were rejected."""

    outcomes: Counter[str] = field(default_factory=Counter)
    headlines: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, batch: Sequence[Imported]) -> list[tuple[PreparedRow, str]]:
        """Count the rows of a batch; return the rejected ones with their reasons."""
        self.outcomes.update(stored.outcome for _, stored in batch)
        self.headlines.update(stored.headline for _, stored in batch)
        rejected = [(row, stored.reason) for row, stored in batch if stored.outcome == "rejected"]
        self.reasons.update(reason_form(reason) for _, reason in rejected)
        return rejected


def import_rows(
    stream: BinaryIO,
    file_format: FileFormat,
    *,
    pool: Pool = THIS_PROCESS,
    batch_size: int,
    newspaper: str = "",
    store: Store = store_prepared,
) -> Iterator[list[Imported]]:
    """Store the rows of a stream in batches, one transaction each; yield the rows of each with their results.

    The processes of the pool prepare the batches, unless these are few. Raises UnreadableFileError before the first
    row, and WorkerDiedError if a process was killed.
    """
    rows = find_rows(stream, file_format, check_header=check_columns)
    found_rows = in_batches(rows, lambda row: row.size, MAX_LINE_BYTES, count=batch_size)
    batches = (Batch(some, newspaper) for some in found_rows)
    with closing(pool.stream(batches, prepare_batch, few=-(-FEW_ROWS // batch_size))) as prepared:
        yield from (_stored(batch, found, store) for batch, found in prepared)


def reason_form(reason: str) -> str:
    """Return the kind of a reason, to count it by: without its values and its remedy, which follows a semicolon."""
    return _VALUE.sub("…", reason).partition(";")[0]


def prepare_batch(batch: Batch, _on_progress: object = None) -> list[PreparedRow]:
    """Read and check the rows of a batch, and prepare their articles; a task of a worker process."""
    rows = [row_of(found, batch.newspaper, check=True) for found in batch.rows]
    articles = [row.article for row in rows if row.article is not None]
    namings = [Naming.of(article.newspaper, article.url) for article in articles]
    prepared = iter(prepare_all(list(zip(articles, namings, papers_for(namings), strict=True)), known_keys))
    return [
        Row(row.line, row.raw, row.reason) if row.article is None else Row(row.line, "", article=next(prepared))
        for row in rows
    ]


class Rehearsal:
    """Replaces store_prepared in a dry run: stores nothing, keeps the keys of all URLs (100 bytes each)."""

    def __init__(self) -> None:
        self._met: set[UUID] = set()

    def __call__(self, batch: Sequence[Prepared], _again: ForPaper) -> list[Stored]:
        self._met |= known_keys({key for prepared in batch for key in prepared.own_keys})
        stored: list[Stored] = []
        for prepared in batch:
            stored.append(Stored("created" if self._met.isdisjoint(prepared.own_keys) else "known"))
            self._met.update(prepared.own_keys)
        return stored


def _stored(batch: Batch, rows: Sequence[PreparedRow], store: Store) -> list[Imported]:
    """Store the articles of a batch; return its rows with their results."""
    found = [(place, row.article) for place, row in enumerate(rows) if row.article is not None]

    def again(number: int, paper: Paper) -> Prepared:
        place, article = found[number]
        row = row_of(batch.rows[place], batch.newspaper)
        return article if row.article is None else prepare_again(article, row.article, paper)

    stored = iter(store([article for _, article in found], again))
    return [(row, Stored("rejected", reason=row.reason) if row.article is None else next(stored)) for row in rows]

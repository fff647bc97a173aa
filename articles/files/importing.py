"""Imports the articles of files, row by row in bounded memory, and says what is wrong with a row.

What is stored is the business of articles/storage/ingest.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias
from uuid import UUID

from articles.files.columns import article_in, check_columns
from articles.files.formats import STDIN, Source
from articles.files.records import MAX_LINE_BYTES, FileFormat, read_records
from articles.normalization.urls import url_key
from articles.normalization.values import UnreadableDayError
from articles.storage.incoming import IncomingArticle, RejectedArticleError, check_article, story_url
from articles.storage.ingest import Stored, known_urls, store_articles


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the article in it, or the reason why there is none. `raw` is the beginning of its text."""

    line: int
    raw: str
    article: IncomingArticle | None = None
    reason: str = ""


Imported: TypeAlias = tuple[Row, Stored]
Store: TypeAlias = Callable[[Sequence[IncomingArticle]], list[Stored]]


def read_rows(stream: BinaryIO, file_format: FileFormat, *, newspaper: str = "") -> Iterator[Row]:
    """Yield the rows of an uncompressed or decompressing stream; blank lines are no rows.

    `newspaper` is the newspaper of the rows that name none. Raises UnreadableFileError before the first row.
    """
    for record in read_records(stream, file_format, check_header=check_columns):
        if record.fault:
            yield Row(record.line, record.raw, reason=record.fault)
            continue
        try:
            yield Row(record.line, record.raw, article_in(record.values, newspaper))
        except (RejectedArticleError, UnreadableDayError) as rejection:
            yield Row(record.line, record.raw, reason=str(rejection))


@contextmanager
def open_rows(source: Source, *, newspaper: str = "") -> Iterator[tuple[Iterator[Row], Callable[[], int], int | None]]:
    """Open a file: its rows, how much of it was read by now, and its size, both in bytes.

    Raises UnreadableFileError, here or before the first row.
    """
    with source.open() as (stream, position, size):
        yield read_rows(stream, source.file_format, newspaper=newspaper), position, size


def check_rows(source: Source) -> None:
    """Raise UnreadableFileError if a file cannot be opened or holds no row that can be read.

    Standard input can be read once, and so is not looked at.
    """
    if source.name == STDIN:
        return
    with open_rows(source) as (rows, _, _):
        next(rows, None)


def import_rows(rows: Iterable[Row], *, batch_size: int, store: Store = store_articles) -> Iterator[list[Imported]]:
    """Store the rows batch by batch, each in a transaction of its own; yield what became of them."""
    for batch in _batches(rows, batch_size):
        stored = iter(store([row.article for row in batch if row.article is not None]))
        yield [(row, Stored("rejected", reason=row.reason) if row.article is None else next(stored)) for row in batch]


class Rehearsal:
    """Stands in for store_articles and stores nothing; holds the keys of all URLs met, 100 bytes each."""

    def __init__(self) -> None:
        self._met: set[UUID] = set()

    def __call__(self, batch: Sequence[IncomingArticle]) -> list[Stored]:
        known = known_urls(article.url for article in batch)
        return [self._outcome(article, known) for article in batch]

    def _outcome(self, article: IncomingArticle, known: Collection[str]) -> Stored:
        try:
            check_article(article)
        except RejectedArticleError as rejection:
            return Stored("rejected", reason=str(rejection))
        key = url_key(story_url(article.url))
        met = article.url in known or key in self._met
        self._met.add(key)
        return Stored("known" if met else "created")


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Yield the rows in lists of `size`; of long articles, fewer."""
    batch: list[Row] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += len(row.article.content) if row.article else 0
        if len(batch) == size or characters > MAX_LINE_BYTES:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch

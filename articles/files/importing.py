"""Imports articles from files, row by row in bounded memory, with a reason for each row it rejects.

articles/storage/ingest.py does the storing.
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
    """A row: its article, or the reason why it has none. `raw` is the beginning of its text."""

    line: int
    raw: str
    article: IncomingArticle | None = None
    reason: str = ""


Imported: TypeAlias = tuple[Row, Stored]
Store: TypeAlias = Callable[[Sequence[IncomingArticle]], list[Stored]]


def read_rows(stream: BinaryIO, file_format: FileFormat, *, newspaper: str = "") -> Iterator[Row]:
    """Yield the rows of an uncompressed or decompressing stream; blank lines are skipped.

    `newspaper` is used for rows that do not name one. Raises UnreadableFileError before the first row.
    """
    for record in read_records(stream, file_format, check_header=check_columns):
        if record.fault:
            yield Row(record.line, record.raw, reason=record.fault)
            continue
        try:
            yield Row(record.line, record.raw, article_in(record, newspaper))
        except (RejectedArticleError, UnreadableDayError) as rejection:
            yield Row(record.line, record.raw, reason=str(rejection))


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


def import_rows(rows: Iterable[Row], *, batch_size: int, store: Store = store_articles) -> Iterator[list[Imported]]:
    """Store the rows in batches, one transaction each; yield the rows of each with their results."""
    for batch in _batches(rows, batch_size):
        stored = iter(store([row.article for row in batch if row.article is not None]))
        yield [(row, Stored("rejected", reason=row.reason) if row.article is None else next(stored)) for row in batch]


class Rehearsal:
    """Replaces store_articles in a dry run: stores nothing, keeps the keys of all URLs (100 bytes each)."""

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
    """Yield the rows in lists of `size`, or shorter ones if the articles are long."""
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

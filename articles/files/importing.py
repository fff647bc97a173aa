"""Imports articles from JSON lines or CSV, row by row in bounded memory, and says what is wrong with a row.

Every row of a file comes out once, in order, with the number of its first physical line in the
uncompressed file: as an article, or with the reason why it holds none. What is stored is the business
of articles/storage/ingest.py.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from typing import BinaryIO, Literal, TypeAlias
from uuid import UUID

from articles.models import Article, ArticleURL
from articles.normalization.urls import url_key
from articles.normalization.values import UnreadableDayError, parse_day, plain_text
from articles.storage.incoming import Details, IncomingArticle, RejectedArticleError, check_article
from articles.storage.ingest import Stored, known_urls, store_articles, story_url

FileFormat: TypeAlias = Literal["jsonl", "csv"]

# An article of the greatest length that is stored, each character written as a six-byte JSON escape, and room.
MAX_LINE_BYTES = 20_000_000
RAW_CHARACTERS = 500
# Of each thing that is read: the names of its column, the preferred one first. Case, blanks, underscores
# and hyphens make no difference (publishedAt, PUBLISHED_AT).
COLUMNS = {
    "date": ("date", "published", "published_at", "pubdate", "time", "timestamp"),
    "headline": ("headline", "title"),
    "url": ("url", "link"),
    "content": ("content", "text"),
    "description": ("description", "summary"),
    "newspaper": ("newspaper", "source", "publisher"),
    "external_id": ("external_id", "id"),
}


class UnreadableFileError(ValueError):
    """A file of which no row can be read; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the article in it, or the reason why there is none. `raw` is the beginning of its text."""

    line: int
    raw: str
    article: IncomingArticle | None = None
    reason: str = ""


Imported: TypeAlias = tuple[Row, Stored]
Store: TypeAlias = Callable[[Sequence[IncomingArticle]], list[Stored]]


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    data: bytes
    fault: str = ""


@dataclass(frozen=True, slots=True)
class _Record:
    """The values of a row by the names of its columns, or what keeps them from being read."""

    line: int
    raw: str
    values: Mapping[str, object]
    fault: str = ""


def read_rows(stream: BinaryIO, file_format: FileFormat, *, newspaper: str = "") -> Iterator[Row]:
    """Yield the rows of an uncompressed or decompressing stream; blank lines are no rows.

    `newspaper` is the newspaper of the rows that name none. Raises UnreadableFileError before the first row.
    """
    lines = _read_lines(stream)
    for record in _json_records(lines) if file_format == "jsonl" else _csv_records(lines):
        if record.fault:
            yield Row(record.line, record.raw, reason=record.fault)
            continue
        try:
            yield Row(record.line, record.raw, _article(record.values, newspaper))
        except (RejectedArticleError, UnreadableDayError) as rejection:
            yield Row(record.line, record.raw, reason=str(rejection))


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


def _read_lines(stream: BinaryIO) -> Iterator[_Line]:
    """Yield the physical lines, never holding more than MAX_LINE_BYTES of one."""
    for number in count(1):
        fault = ""
        try:
            data = stream.readline(MAX_LINE_BYTES + 1)
            if len(data) > MAX_LINE_BYTES:
                fault = f"line has more than {MAX_LINE_BYTES:,} bytes; longer ones are not read"
                _skip_line(stream, data)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            if number == 1 and isinstance(error, gzip.BadGzipFile):
                raise UnreadableFileError(f"its name says gzip, but: {error}; rename or compress it") from error
            fault = f"the gzip data breaks off or is damaged in this line ({error}); get the file again for the rest"
            yield _Line(number, b"", fault)
            return
        if not data:
            return
        yield _Line(number, _without_mark(data) if number == 1 else data, fault)


def _skip_line(stream: BinaryIO, beginning: bytes) -> None:
    part = beginning
    while part and not part.endswith(b"\n"):
        part = stream.readline(1_000_000)


def _without_mark(first_line: bytes) -> bytes:
    if first_line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableFileError("it is UTF-16; save it as UTF-8")
    if first_line.startswith(b"\x1f\x8b"):
        raise UnreadableFileError("it is compressed with gzip; give it a name that ends in .gz")
    return first_line.removeprefix(codecs.BOM_UTF8)


def _beginning(data: bytes) -> str:
    # A character has up to four bytes.
    return data[: 4 * RAW_CHARACTERS].decode(errors="replace").strip("\r\n")[:RAW_CHARACTERS]


def _json_records(lines: Iterable[_Line]) -> Iterator[_Record]:
    for line in lines:
        if not line.fault and not line.data.strip():
            continue
        values: object = {}
        fault = line.fault
        if not fault:
            try:
                values = json.loads(line.data.decode())
            except UnicodeDecodeError as error:
                fault = _encoding_fault(line.number, error)
            except json.JSONDecodeError as error:
                fault = f"line is not JSON: {error.msg} at character {error.pos + 1}; write one object a line"
            except (ValueError, RecursionError):
                fault = "line is JSON that nests too deep or holds a number too long; write one object a line"
        if not isinstance(values, dict):
            fault, values = f"line holds {_kind(values)}, not a JSON object; write one object a line", {}
        yield _Record(line.number, _beginning(line.data), values, fault)


def _encoding_fault(line_number: int, error: UnicodeDecodeError) -> str:
    return f"byte {error.start + 1} of line {line_number} is not UTF-8; save the file as UTF-8"


class _RecordLines:
    """Hands lines to csv.reader and keeps those of the record in hand, whose end only the reader knows."""

    def __init__(self, lines: Iterator[_Line]) -> None:
        self._lines = lines
        self._returned: deque[_Line] = deque()
        self.begin()

    def begin(self) -> None:
        self.taken: list[_Line] = []
        self.fault = ""
        self._bytes = 0

    def __iter__(self) -> _RecordLines:
        return self

    def __next__(self) -> str:
        line = self._returned.popleft() if self._returned else next(self._lines)
        self.taken.append(line)
        self._bytes += len(line.data)
        if line.fault:
            raise csv.Error(line.fault)
        if self._bytes > MAX_LINE_BYTES:
            raise csv.Error(f"it has more than {MAX_LINE_BYTES:,} bytes; a closing quote may be missing")
        try:
            return line.data.decode()
        except UnicodeDecodeError as error:
            self.fault = _encoding_fault(line.number, error)
            return line.data.decode(errors="replace")

    def give_back(self) -> None:
        """Give back all lines but the first: a quote that is never closed must not swallow the next rows."""
        self._returned.extendleft(reversed(self.taken[1:]))

    def record(self, values: Mapping[str, object], fault: str) -> _Record:
        first, *others = self.taken
        data = first.data
        for line in others:
            if len(data) > 4 * RAW_CHARACTERS:
                break
            data += line.data
        return _Record(first.number, _beginning(data), values, fault)


def _csv_records(lines: Iterator[_Line]) -> Iterator[_Record]:
    first = next((line for line in lines if line.fault or line.data.strip()), None)
    if first is None:
        return
    csv.field_size_limit(MAX_LINE_BYTES)
    source = _RecordLines(chain([first], lines))
    reader = csv.reader(source, delimiter=_delimiter(first.data), strict=True)
    header = _header(reader, source)
    while True:
        source.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield source.record({}, source.taken[-1].fault or _csv_fault(error))
            source.give_back()
            continue
        if len(cells) <= 1 and not "".join(cells).strip():
            continue
        fault = source.fault
        if not fault and len(cells) != len(header):
            fault = f"row has {len(cells)} columns, and the header has {len(header)}; check its quotes and separators"
        yield source.record({} if fault else dict(zip(header, cells, strict=True)), fault)


def _csv_fault(error: csv.Error) -> str:
    reason = "a carriage return outside quotes" if "new-line character" in str(error) else error
    return f"row is not CSV: {reason}; put quotes round its cells and double the quotes in them"


def _delimiter(header: bytes) -> str:
    """Return the separator of the header: spreadsheets write semicolons and tabs too."""
    return max(",;\t", key=lambda separator: header.count(separator.encode()))


def _header(reader: Iterator[list[str]], source: _RecordLines) -> list[str]:
    """Return the names of the columns. Raises UnreadableFileError when no row could become an article."""
    try:
        header = next(reader)
    except csv.Error as error:
        raise UnreadableFileError(f"its header cannot be read: {source.taken[-1].fault or error}") from error
    if source.fault:
        raise UnreadableFileError(f"its header cannot be read: {source.fault}")
    columns = _columns(tuple(header))
    wanted = {"url": ["url"], "date": ["date"], "content": ["content", "description"]}
    for field, any_of in wanted.items():
        if not any(columns[each] for each in any_of):
            accepted = ", ".join(name for each in any_of for name in COLUMNS[each])
            present = ", ".join(header)[:RAW_CHARACTERS]
            fault = f"its header has no {field} column ({accepted}), only {present}"
            raise UnreadableFileError(f"{fault}; rename or add one")
    return header


@lru_cache(maxsize=256)
def _columns(names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return for each thing that is read the columns, out of these, that hold it; the preferred one first."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(_form(name), []).append(name)
    return {
        field: [name for each in accepted for name in by_form.get(_form(each), [])]
        for field, accepted in COLUMNS.items()
    }


def _form(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _article(values: Mapping[str, object], newspaper: str) -> IncomingArticle:
    """Return the article in a row. Raises RejectedArticleError; what ingest checks is left to it."""
    columns = _columns(tuple(values))
    url = _text(values, columns["url"])
    if not url:
        raise RejectedArticleError("url is missing; every article needs the URL it stands at")
    day = parse_day(_text(values, columns["date"], numbers=True))
    return IncomingArticle(
        date=day,
        headline=plain_text(_text(values, columns["headline"])),
        url=url,
        content=_content(values, columns),
        newspaper=" ".join(_newspaper(values, columns["newspaper"]).split()) or newspaper,
        external_id=_external_id(values, columns["external_id"]),
        kind=ArticleURL.Kind.IMPORT,
        details=Details(date_source=Article.DateSource.IMPORT),
    )


def _newspaper(values: Mapping[str, object], names: Iterable[str]) -> str:
    """Return the newspaper's name, also out of an object that holds it; what is no name counts as absent."""
    for name in names:
        value = values[name]
        if isinstance(value, dict):
            value = value.get("name")
        if isinstance(value, str) and (text := value.strip()):
            return text
    return ""


def _external_id(values: Mapping[str, object], names: Iterable[str]) -> str:
    """Return the first text or number of these; an id of another kind, such as an object, counts as absent."""
    plain = [
        name for name in names if isinstance(values[name], str | int | float) and not isinstance(values[name], bool)
    ]
    return _text(values, plain, numbers=True)


def _content(values: Mapping[str, object], columns: Mapping[str, list[str]]) -> str:
    """Return the text of the article; its teaser only where the row has no place for a text.

    A teaser is HTML by the custom of feeds; a text is taken as it stands.
    """
    if any(values[name] is not None for name in columns["content"]):
        return _text(values, columns["content"])
    if not columns["content"] and not columns["description"]:
        names = ", ".join(COLUMNS["content"] + COLUMNS["description"])
        raise RejectedArticleError(f"content is missing: the row has none of {names}; an article needs its text")
    return plain_text(_text(values, columns["description"]))


def _text(values: Mapping[str, object], names: Iterable[str], *, numbers: bool = False) -> str:
    """Return the first of these values that is not blank, without blanks around it; empty if all are."""
    for name in names:
        value = values[name]
        if numbers and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if value is not None and not isinstance(value, str):
            raise RejectedArticleError(f"{name} is {_kind(value)}, not text")
        if value and (text := value.strip()):
            return text
    return ""


def _kind(value: object) -> str:
    """Return what JSON calls the value."""
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "null")

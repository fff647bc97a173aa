"""Reads lists of URLs: one a line, or a column of CSV or JSON lines; compressed with gzip or not."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from articles.files.records import FileFormat, Record, UnreadableFileError, read_records
from articles.normalization.logins import without_login
from articles.storage.incoming import ListedDate
from crawlers.fetching.gzipped import GZIP
from crawlers.fetching.sites import is_visitable
from crawlers.listings.dates import headline, language_code, listed_date

# The accepted names of columns, the preferred one first. Case, blanks, underscores and hyphens make no difference.
COLUMNS = {
    "url": ("url", "link", "expandedurl", "href", "storyurl", "articleurl", "address"),
    "date": ("date", "published", "publishedat", "publishdate", "publicationdate", "pubdate"),
    "headline": ("headline", "title"),
    "language": ("language", "lang"),
}
_BEGINNING = 64 * 1024
_MAX_LINE = 20_000  # bytes
# What gzip raises for data that are damaged or cut off.
_DAMAGE = (OSError, EOFError, zlib.error)
_ADDRESS = re.compile(r"\s*<?\s*(?:https?|ftp)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ListedURL:
    """A row of a list, with the number of its line; `fault` says why it is no URL, and is empty if it is one."""

    line: int
    url: str = ""
    published: ListedDate | None = None
    headline: str = ""
    language: str = ""
    fault: str = ""


def read_list(raw: BinaryIO) -> Iterator[ListedURL]:
    """Yield the rows of a list that are not blank, in bounded memory. Its beginning shows which format it has.

    A line of a plain list is a URL and, after a blank or tab, its date, or anything else, which is ignored; a line that
    begins with # is a comment. Raises UnreadableFileError.
    """
    stream = _opened(raw)
    try:
        beginning = stream.peek(_BEGINNING)[:_BEGINNING]
    except _DAMAGE as error:
        raise UnreadableFileError(f"it cannot be unpacked ({error}); get a complete copy") from error
    file_format = _format(beginning.removeprefix(b"\xef\xbb\xbf").decode(errors="replace"))
    if file_format is None:
        yield from _lines(stream)
    else:
        yield from map(_listed, read_records(cast("BinaryIO", stream), file_format, check_header=_check_header))


def _opened(raw: BinaryIO) -> io.BufferedReader[Any]:
    stream: io.BufferedReader[Any] = io.BufferedReader(cast("io.RawIOBase", raw), _BEGINNING)
    if stream.peek(3).startswith(GZIP):
        return io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=stream)), _BEGINNING)
    return stream


def _format(beginning: str) -> FileFormat | None:
    """Return the format of a list by its beginning; None if it is one URL a line."""
    first = next((line for line in beginning.splitlines() if line.strip()), "")
    if first.lstrip().startswith("{"):
        return "jsonl"
    names = {_plain(name) for name in re.split("[,;\t]", first)}
    return "csv" if not _ADDRESS.match(first) and not names.isdisjoint(COLUMNS["url"]) else None


def _check_header(header: Sequence[str]) -> None:
    if {_plain(name) for name in header}.isdisjoint(COLUMNS["url"]):
        raise UnreadableFileError(f"its header has no url column ({', '.join(COLUMNS['url'])}); rename or add one")


def _lines(stream: io.BufferedReader[Any]) -> Iterator[ListedURL]:
    number = 0
    try:
        while data := stream.readline(_MAX_LINE):
            number += 1
            while not data.endswith(b"\n") and (rest := stream.readline(_MAX_LINE)):
                data = data[:_MAX_LINE] + rest[-1:]  # the rest of a line that is far too long for a URL
            text = data.decode(errors="replace").replace("\ufeff", "").strip()
            if text and not text.startswith("#"):
                url, _, after = text.partition("\t") if "\t" in text else text.partition(" ")
                yield _checked(number, url.strip("<>"), after.strip())
    except _DAMAGE as error:
        raise UnreadableFileError(f"it breaks off after line {number:,} ({error}); get a complete copy") from error


def _listed(record: Record) -> ListedURL:
    if record.fault:
        return ListedURL(record.line, fault=record.fault)
    values = {_plain(name): value for name, value in record.values.items()}
    url, date, title, language = (_first(values, names) for names in COLUMNS.values())
    return _checked(record.line, url, date, headline(title), language_code(language))


def _first(values: Mapping[str, object], names: Sequence[str]) -> str:
    found = (values.get(name) for name in names)
    return next((str(value).strip() for value in found if isinstance(value, str | int) and str(value).strip()), "")


def _checked(line: int, url: str, date: str, title: str = "", language: str = "") -> ListedURL:
    url = without_login(url)
    if not is_visitable(url):
        return ListedURL(line, fault=f"{json.dumps(url[:100], ensure_ascii=False)} is not a web address")
    return ListedURL(line, url, listed_date(date), title, language)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).strip('"').lower()

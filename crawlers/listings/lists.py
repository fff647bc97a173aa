"""Reads lists of URLs, one a line or a column of CSV or JSON lines, compressed with gzip or not; and saves them."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, cast
from uuid import UUID

from articles.files.records import FileFormat, Record, UnreadableFileError, read_records
from articles.grouping import by_key
from articles.models import ArticleURL, Newspaper
from articles.normalization.logins import without_login
from articles.storage.newspapers import Naming, Paper, newspapers_for
from crawlers import frontier
from crawlers.fetching.downloads import GZIP
from crawlers.fetching.sites import is_visitable
from crawlers.items import ArticleLink, Entry, Source
from crawlers.listings.dates import headline, language_code, listed_date

# The accepted names of columns, the preferred one first. Case, blanks, underscores and hyphens make no difference.
COLUMNS = {
    "url": ("url", "link", "expandedurl", "href", "storyurl", "articleurl", "address"),
    "date": ("date", "published", "publishedat", "publishdate", "publicationdate", "pubdate"),
    "headline": ("headline", "title"),
    "language": ("language", "lang"),
}
MAX_SHOWN_FAULTS = 5
_BEGINNING = 64 * 1024
_MAX_LINE = 20_000  # bytes
# What gzip raises for data that are damaged or cut off.
_DAMAGE = (OSError, EOFError, zlib.error)
_ADDRESS = re.compile(r"\s*<?\s*(?:https?|ftp)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedURL(Entry):
    """A row of a list, with the number of its line; `fault` says why it is no URL, and is empty if it is one."""

    line: int
    url: str = ""
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
        return ListedURL(line=record.line, fault=record.fault)
    values = {_plain(name): value for name, value in record.values.items()}
    said = {name: str(value).strip() for name, value in values.items() if isinstance(value, str | int)}
    url, date, title, language = (next(filter(None, map(said.get, names)), "") for names in COLUMNS.values())
    return _checked(record.line, url, date, headline(title), language_code(language))


def _checked(line: int, url: str, date: str, title: str = "", language: str = "") -> ListedURL:
    url = without_login(url)
    if not is_visitable(url):
        return ListedURL(line=line, fault=f"{json.dumps(url[:100], ensure_ascii=False)} is not a web address")
    return ListedURL(line=line, url=url, published=listed_date(date), headline=title, language=language)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).strip('"').lower()


# -- Saving them as links that wait, each under the newspaper of its host ------------------------------------------


@dataclass(slots=True)
class SavedList:
    """What became of a list: URLs by outcome, and the newspapers that have links to visit.

    `urls` counts the rows that are URLs, and `repeated` those of them that came before in the list.
    """

    new: int = 0
    known: int = 0
    refused_earlier: int = 0
    urls: int = 0
    repeated: int = 0
    faults: int = 0
    first_faults: list[str] = field(default_factory=list)
    newspapers: dict[int, Newspaper] = field(default_factory=dict)


def save_list(listed: Iterable[ListedURL]) -> SavedList:
    """Save the URLs that are neither stored nor refused; a list that was saved before is saved again to the same end.

    Newspapers that are missing are created, named by their hosts, as an import does.
    """
    saved = SavedList()
    seen: set[UUID] = set()
    rows = iter(listed)
    while batch := list(islice(rows, frontier.BATCH)):
        for newspaper, all_links in _by_newspaper(_links(batch, saved)):
            links = [link for link in all_links if link.key not in seen]
            if not links:
                continue
            seen |= {link.key for link in links}
            if newspaper.teasers:
                saved.faults += len(links)
                saved.first_faults.append(f"{links[0].url}: the pages of {newspaper} are never fetched (teasers)")
                continue
            found = frontier.sort_links(links[0].source, links)
            frontier.save_links(found.new)
            saved.new += len(found.new)
            saved.known += len(found.known)
            saved.refused_earlier += len(found.refused)
            if found.new:
                saved.newspapers[newspaper.pk] = newspaper
    saved.repeated = saved.urls - len(seen)
    return saved


def _links(batch: Iterable[ListedURL], saved: SavedList) -> Iterator[ListedURL]:
    """Yield the rows that have a URL; count all."""
    for row in batch:
        if row.fault:
            saved.faults += 1
            if len(saved.first_faults) < MAX_SHOWN_FAULTS:
                saved.first_faults.append(f"line {row.line:,}: {row.fault}")
        else:
            saved.urls += 1
            yield row


def _by_newspaper(rows: Iterable[ListedURL]) -> list[tuple[Newspaper, list[ArticleLink]]]:
    rows = list(rows)
    newspapers = newspapers_for([Naming.of("", row.url) for row in rows])
    sources = [Source(paper.pk, paper.article_url_pattern, Paper.of(paper)) for paper in newspapers]
    links = [row.link(source, ArticleURL.Kind.IMPORT) for row, source in zip(rows, sources, strict=True)]
    return list(by_key(zip(newspapers, links, strict=True)).items())

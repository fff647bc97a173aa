"""Reads pages from WARC files and writes them: response records of HTTP, as crawlers and web archives exchange them.

Format: WARC 1.1, https://iipc.github.io/warc-specifications/. A file is compressed record by record.
"""

from __future__ import annotations

import datetime
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders, StatusAndHeadersParser
from warcio.warcwriter import WARCWriter

ENDING = ".warc.gz"
# A longer page is a mistake, or an attack; the crawler's bound is the same.
MAX_PAGE_BYTES = 10_000_000
MAX_HEAD_BYTES = 100_000
_TOO_LARGE = f"larger than {MAX_PAGE_BYTES:,} bytes"
# A field of our own, which WARC allows: the URL of the first page of an article, in the records of its further pages.
_FIRST_PAGE = "Newsdedup-First-Page"
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_ENCODINGS = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate", "br": "br"}
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})")
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_MARKUP = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<", re.IGNORECASE)
_TYPE = re.compile(r"[a-z]+/[a-z0-9.+-]{1,40}")
_DAMAGE = (ArchiveLoadFailed, EOFError, OSError, ValueError, zlib.error)


class DamagedArchiveError(ValueError):
    """A file that is no WARC file, or not from here on; the message says why."""


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page as its server sent it, its body without transfer and content encodings, and when it was fetched, in UTC.

    `first` is the URL of the first page of its article if it is a further one, and `following` are those further pages.
    """

    url: str
    content_type: str
    body: bytes = field(repr=False)
    fetched: datetime.datetime
    first: str = ""
    following: tuple[ArchivedPage, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherRecord:
    """A record without a page that can be read. `is_page` says whether it was meant to have one."""

    reason: str
    is_page: bool = False


def read_pages(stream: BinaryIO) -> Iterator[ArchivedPage | OtherRecord]:
    """Yield the records of a WARC file, compressed or not. At most one page is in memory.

    Raises DamagedArchiveError at the place where the file is damaged, or if it is no WARC file.
    """
    number = 0
    try:
        # The HTTP head is parsed here, because warcio reads it without a bound.
        for record in ArchiveIterator(stream, no_record_parse=True):
            number += 1
            yield _page_of(record)
    except _DAMAGE as error:
        raise DamagedArchiveError(f"it is damaged after record {number:,} ({error})") from error
    if not number:
        raise DamagedArchiveError("it has no WARC records")


def join_following(records: Iterable[ArchivedPage | OtherRecord]) -> Iterator[ArchivedPage | OtherRecord]:
    """Yield the records, the further pages of an article with its first one if they come directly after it."""
    waiting: ArchivedPage | None = None
    for record in records:
        if isinstance(record, ArchivedPage) and waiting and record.first == waiting.url:
            waiting = replace(waiting, following=(*waiting.following, record))
            continue
        if waiting:
            yield waiting
        waiting = record if isinstance(record, ArchivedPage) else None
        if waiting is None:
            yield record
    if waiting:
        yield waiting


def _page_of(record: Any) -> ArchivedPage | OtherRecord:
    if record.rec_type != "response":
        return OtherRecord(f"a record of type {record.rec_type or 'unknown'}, which has no page"[:100])
    if record.length > MAX_PAGE_BYTES + MAX_HEAD_BYTES:
        return OtherRecord(_TOO_LARGE, is_page=True)
    content = _read(record.raw_stream, MAX_PAGE_BYTES + MAX_HEAD_BYTES)
    if len(content) < record.length:
        raise EOFError("a record ends too early")
    named = record.rec_headers.get_header
    found = _response(content)
    if isinstance(found, OtherRecord):
        return found
    content_type, body = found
    url = (named("WARC-Target-URI") or "").strip().strip("<>")
    return ArchivedPage(url, content_type, body, _time(named("WARC-Date")), first=named(_FIRST_PAGE) or "")


def _response(content: bytes) -> tuple[str, bytes] | OtherRecord:
    """Return the content type and the decoded body of an HTTP response that is a page."""
    end = _END_OF_HEAD.search(content, 0, MAX_HEAD_BYTES)
    status = _STATUS.match(content)
    if not end or not status:
        return OtherRecord("not an HTTP response", is_page=True)
    if status[1] != b"200":
        return OtherRecord(f"HTTP status {status[1].decode()}", is_page=True)
    headers = StatusAndHeadersParser([], verify=False).parse(io.BytesIO(content[: end.end()]))
    content_type = headers.get_header("Content-Type", "").strip()
    try:
        body = _decoded(content[end.end() :], headers)
    except _DAMAGE as error:
        return OtherRecord(f"its body cannot be decoded ({error})"[:100], is_page=True)
    if other := _other_type(content_type, body):
        return OtherRecord(other)
    return OtherRecord(_TOO_LARGE, is_page=True) if len(body) > MAX_PAGE_BYTES else (content_type, body)


def _other_type(content_type: str, start: bytes) -> str:
    """Return what a response is, if it is not HTML."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in _HTML or (not media_type and _MARKUP.match(start)):
        return ""
    return f"not HTML: {media_type}" if _TYPE.fullmatch(media_type) else "not HTML"


def _decoded(body: bytes, headers: StatusAndHeaders) -> bytes:
    """Return the body without chunks and compression; some archives keep the headers but not the encodings."""
    encoding = headers.get_header("Content-Encoding", "").lower()
    if encoding in ("", "identity", "none") and "chunked" not in headers.get_header("Transfer-Encoding", "").lower():
        return body
    if encoding not in ("", "identity", "none", *_ENCODINGS):
        raise ValueError(f"content encoding {encoding}"[:60])
    return _read(ChunkedDataReader(io.BytesIO(body), decomp_type=_ENCODINGS.get(encoding)), MAX_PAGE_BYTES + 1)


def _read(stream: Any, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0 and (part := stream.read(min(limit, 65_536))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def _time(written: str | None) -> datetime.datetime:
    """Return the time of the fetch in UTC; now if the record names none, or one to come."""
    now = datetime.datetime.now(datetime.UTC)
    try:
        time = datetime.datetime.fromisoformat(written or "")
    except ValueError:
        return now
    return min(time.replace(tzinfo=datetime.UTC) if time.tzinfo is None else time.astimezone(datetime.UTC), now)


@contextmanager
def opened(name: str, standard_input: BinaryIO) -> Iterator[tuple[BinaryIO, Callable[[], int], int | None]]:
    """Open a file: its stream, the number of bytes read so far, and its size. "-" is standard input.

    Raises OSError.
    """
    if name == "-":
        yield standard_input, lambda: 0, None
        return
    path = Path(name)
    with path.open("rb") as raw:
        yield raw, raw.tell, path.stat().st_size


class PageWriter:
    """Writes pages as response records of WARC 1.1, each compressed with gzip."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._writer = WARCWriter(stream, gzip=True, warc_version="WARC/1.1")
        self._writer.write_record(
            self._writer.create_warcinfo_record(name, {"software": "newsdedup", "format": "WARC/1.1"})
        )

    def write(self, page: ArchivedPage) -> None:
        headers = [("Content-Type", page.content_type)] if page.content_type else []
        headers.append(("Content-Length", str(len(page.body))))
        record = self._writer.create_warc_record(
            page.url,
            "response",
            payload=io.BytesIO(page.body),
            length=len(page.body),
            http_headers=StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1"),
            warc_headers_dict={"WARC-Date": f"{page.fetched.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%S.%fZ}"}
            | ({_FIRST_PAGE: page.first} if page.first else {}),
        )
        self._writer.write_record(record)

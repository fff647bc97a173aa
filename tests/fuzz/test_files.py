"""Every reader of files, on files that are nearly right: only documented errors, in bounded time; and past finds."""

import contextlib
import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import environ
import pytest
from hypothesis import strategies as st

from articles.extraction.kept_pages import unpacked
from articles.extraction.names import _ADDRESS
from articles.files.records import UnreadableFileError, read_records
from articles.files.uploads import preview_rows
from articles.storage.incoming import RejectedArticleError, check_article
from articles.warc import DamagedArchiveError, join_following, read_pages
from crawlers.listings.lists import read_list
from dedup.detection.runs.cluster.importing import read_results
from dedup.detection.spark.manifest import BundleError
from dedup.research.labels import LabelsError, read_labels
from tests.articles.rows import read_rows
from tests.fuzz import texts
from tests.fuzz.effort import Found, timed, try_all
from tests.fuzz.test_parsers import allowing

EXAMPLES = 6
PACKED = gzip.compress(b"http://paper.example/a\n" * 90, mtime=0)


def archive(body: bytes) -> bytes:
    """Return a WARC file with a page that has this body."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:6f1c0f4e-3a52-4d43-9b6e-0d7f5e2a9c11>\r\n"
        "WARC-Date: 2026-03-02T08:00:00Z\r\nWARC-Target-URI: http://paper.example/a\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n\r\n"
    )
    return head.encode() + answer + b"\r\n\r\n"


def changed(whole: bytes) -> st.SearchStrategy[bytes]:
    """Return these bytes with some of them replaced, and cut off somewhere."""
    places = st.lists(st.tuples(st.integers(0, len(whole) - 1), st.binary(max_size=6)), max_size=6)

    def of(drawn: list[tuple[int, bytes]]) -> bytes:
        body = bytearray(whole)
        for place, odd in drawn:
            body[place : place + len(odd)] = odd
        return bytes(body[: drawn[0][0] * 4] if drawn and len(drawn) % 2 else body)

    return places.map(of)


def read_all_rows(body: bytes) -> None:
    for file_format in ("jsonl", "csv"):
        try:
            for row in read_rows(io.BytesIO(body), file_format, newspaper="Paper"):
                assert (row.article is None) == bool(row.reason)
                if row.article:
                    with contextlib.suppress(RejectedArticleError):
                        check_article(row.article)
            list(read_records(io.BytesIO(body), file_format))
            preview_rows(io.BytesIO(body), file_format, "Paper")
        except UnreadableFileError:
            continue


def in_file(folder: Path, name: str, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    def of(body: bytes) -> None:
        path = folder / name
        path.write_bytes(body)
        found = read(path)
        if isinstance(found, Iterator):
            list(found)

    return of


@pytest.mark.parametrize(
    "kind", ["rows", "a list of links", "a list that is packed", "an archive", "labels", "results", "an entry", ".env"]
)
def test_no_reader_fails_at_any_file(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environ.Env, "ENVIRON", {})
    rows, whole = texts.lines_of_rows, archive(texts.PAGE.encode())
    manifest = texts.mutated('{"format": 1, "name": "x", "config": {}, "scope": {"since": "2026-03-01"}, "tiles": []}')
    as_links = allowing(UnreadableFileError)(lambda body: list(read_list(io.BytesIO(body))))
    checks = {
        "rows": (rows, allowing()(read_all_rows)),
        "a list of links": (rows, as_links),
        "a list that is packed": (changed(PACKED), as_links),
        "an archive": (
            changed(whole) | changed(gzip.compress(whole, mtime=0)),
            allowing(DamagedArchiveError)(lambda body: list(join_following(read_pages(io.BytesIO(body))))),
        ),
        "labels": (rows, allowing(LabelsError, UnreadableFileError)(in_file(tmp_path, "labels.csv", read_labels))),
        "results": (
            manifest,
            allowing(BundleError)(in_file(tmp_path, "manifest.json", lambda path: read_results(path.parent))),
        ),
        "an entry": (rows | texts.packed, allowing()(unpacked)),
        ".env": (
            texts.mutated("DEBUG=true\nSECRET_KEY='a#b'\n# a comment\nexport TIME_ZONE=Europe/Berlin\n"),
            allowing(UnicodeDecodeError)(in_file(tmp_path, ".env", environ.Env.read_env)),
        ),
    }
    found = Found()
    try_all([(kind, *checks[kind])], examples=EXAMPLES, found=found, sharing=len(checks))
    print(f"{kind}: {found.tried.total():,} files")
    found.check()
    assert found.tried.total() >= EXAMPLES // 2


# ---- what was once found, smallest form: each with the name of what it broke ----


@pytest.mark.parametrize(
    "body",
    [PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:], PACKED[:-9], PACKED[:12] + b"\xff\xff" + PACKED[14:]],
    ids=["a wrong checksum", "cut off", "damaged data"],
)
def test_a_damaged_list_of_links_broke_crawl_with_a_traceback(body: bytes) -> None:
    with pytest.raises(UnreadableFileError, match="get a complete copy"):
        list(read_list(io.BytesIO(body)))


def test_a_password_in_a_list_of_links_was_shown_with_the_fault() -> None:
    (listed,) = read_list(io.BytesIO(b"http://mara:pw7kq@[x]/a\n"))
    assert "pw7kq" not in listed.fault
    assert listed.fault
    (listed,) = read_list(io.BytesIO(b"http://mara:pw7kq@paper.example/a\n"))
    assert listed.url == "http://paper.example/a"


def test_a_byline_of_many_at_signs_took_cubic_time() -> None:
    row = "@" * 20_000
    left = timed(0.5, lambda: _ADDRESS.sub("", f"{row} Liv Dahl <a.b@c.example>, l@d@e.f.g! x@y. .@"))
    assert left == f"{row} Liv Dahl   x@y. .@"

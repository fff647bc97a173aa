"""WARC files: what is exported comes back, and what others put into them does no harm."""

import datetime
import gzip
import io
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from warcio.archiveiterator import ArchiveIterator

from articles.models import Article, ArticlePage, Newspaper
from articles.warc import MAX_PAGE_BYTES, ArchivedPage, OtherRecord, read_pages

pytestmark = pytest.mark.django_db

FERRY = "The old ferry across the sound made its last crossing on Friday, and half the island stood on the quay."
FETCHED = datetime.datetime(2024, 5, 4, 6, 30, 15, tzinfo=datetime.UTC)
URL = "https://www.fjordbladet.example/ferry"


def page(headline: str = "Last ferry", text: str = FERRY, day: str = "2024-05-03") -> bytes:
    head = f'<meta property="article:published_time" content="{day}"><meta name="author" content="Liv Dahl">'
    return f"<html lang='en'><head>{head}</head><article><h1>{headline}</h1><p>{text}</p></article></html>".encode()


def record(
    body: bytes,
    url: str = URL,
    head: str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8",
    *,
    kind: str = "response",
    length: int | None = None,
    more: Mapping[str, str] | None = None,
) -> bytes:
    """Return a record as another program may write it."""
    content = head.encode() + b"\r\n\r\n" + body
    named = {"WARC-Type": kind, "WARC-Target-URI": url, "WARC-Date": "2024-05-04T06:30:15Z", **(more or {})}
    named["Content-Length"] = str(len(content) if length is None else length)
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"WARC/1.0\r\n{lines}\r\n".encode() + content + b"\r\n\r\n"


def run(command: str, *arguments: object) -> str:
    out = io.StringIO()
    call_command(command, *map(str, arguments), "--no-progress", stdout=out, stderr=out)
    return out.getvalue()


def imported(path: Path, *records: bytes) -> str:
    path.write_bytes(b"".join(records))
    return run("import_warc", path, "--workers", "1")


def test_exported_pages_come_back_with_their_times_and_further_pages(tmp_path: Path) -> None:
    second = page(
        text="On the quay, the mayor thanked the captain, and the band played until the boat was out of sight."
    )
    imported(
        tmp_path / "first.warc",
        record(page()),
        record(second, f"{URL}?page=2", more={"Newsdedup-First-Page": URL}),
        record(page("Second bridge", day="2024-05-05"), "https://nordpost.example/bridge"),
    )
    before = list(Article.objects.order_by("url").values("url", "headline", "content", "date", "byline", "language"))
    pages = list(ArticlePage.objects.order_by("url").values_list("url", "content_type", "body", "fetched_at"))
    assert [article["headline"] for article in before] == ["Second bridge", "Last ferry"]
    assert "the band played" in before[1]["content"]
    assert pages[1] == (URL, "text/html; charset=utf-8", gzip.compress(page(), mtime=0), FETCHED)

    file = tmp_path / "pages.warc.gz"
    assert run("export_warc", file) == "Pages written: 3. Articles without a stored page: 0.\n"
    with file.open("rb") as stream:  # as another program reads it
        found = [(entry.rec_type, entry.rec_headers.get_header("WARC-Target-URI")) for entry in ArchiveIterator(stream)]
    others = [("response", "https://nordpost.example/bridge")]
    assert sorted(found[1:]) == sorted([("response", URL), ("response", f"{URL}?page=2"), *others])
    Article.objects.all().delete()
    Newspaper.objects.all().delete()
    assert "2 pages read: 2 stored, 0 already known, 0 refused." in run("import_warc", file, "--workers", "1")
    after = Article.objects.order_by("url").values("url", "headline", "content", "date", "byline", "language")
    assert list(after) == before
    assert list(ArticlePage.objects.order_by("url").values_list("url", "content_type", "body", "fetched_at")) == pages
    assert set(Newspaper.objects.values_list("name", flat=True)) == {"fjordbladet.example", "nordpost.example"}
    # Again, nothing is doubled.
    assert "2 pages read: 0 stored, 2 already known, 0 refused." in run("import_warc", file, "--workers", "1")

    few = tmp_path / "few.warc.gz"
    assert "Pages written: 1." in run("export_warc", few, "--since", "2024-05-05")
    assert "Pages written: 2." in run("export_warc", few, "--newspaper", "fjordbladet.example")


def test_encodings_and_other_records(tmp_path: Path) -> None:
    html = "HTTP/1.1 200 OK\r\nContent-Type: text/html"
    body = page()
    packed = gzip.compress(body)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (packed[:50], packed[50:])) + b"0\r\n\r\n"
    report = imported(
        tmp_path / "kinds.warc",
        record(b"", kind="warcinfo"),
        record(b"", kind="request"),
        record(b"", kind="revisit"),
        record(chunks, f"{URL}/1", f"{html}\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip"),
        record(zlib.compress(body), f"<{URL}/2>", f"{html}\r\ncontent-encoding: DEFLATE"),
        record(body, f"{URL}/3", f"{html}\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip"),  # not any more
        record(body, f"{URL}/4", "HTTP/1.1 200 OK"),
        record(b"\xff\xd8\xff", f"{URL}/5", "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg"),
        record(body, f"{URL}/6", html.replace("200 OK", "404 Not Found")),
        record(body, f"{URL}/7", f"{html}\r\nContent-Encoding: zstd"),
        record(body, f"{URL}/8", "no HTTP"),
        record(body, "ftp://fjordbladet.example/9"),
        record(b"<p>Nothing here.</p>", f"{URL}/10"),
        record(page(day="") + b" " * (MAX_PAGE_BYTES + 200_000), f"{URL}/11"),
        record(gzip.compress(b"<p>" + b" " * 50_000_000), f"{URL}/12", f"{html}\r\nContent-Encoding: gzip"),
    )
    assert "11 pages read: 4 stored, 0 already known, 7 refused." in report
    for line in (
        *("        2  larger than 10,000,000 bytes\n", "        1  HTTP status 404\n", "        1  no article text\n"),
        *("        1  not an HTTP response\n", "        1  not HTML: image/jpeg\n", "(content encoding zstd)"),
        "        1  a record of type revisit, which has no page\n",
    ):
        assert line in report
    assert set(Article.objects.values_list("content", flat=True)) == {FERRY}


def test_damaged_files_give_what_comes_before_the_damage(tmp_path: Path) -> None:
    whole = b"".join(gzip.compress(record(page(), f"{URL}/{number}")) for number in range(3))
    for name, content in (("cut.warc.gz", whole[:-60]), ("long.warc", record(page(), f"{URL}/0", length=10**6))):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CommandError, match=r"cut\.warc\.gz cannot be read: it is damaged after record [23]"):
        run("import_warc", tmp_path / "cut.warc.gz", "--workers", "1")
    assert Article.objects.count() == 2
    with pytest.raises(CommandError, match=r"long\.warc cannot be read: it is damaged after record 1 .*ends too early"):
        run("import_warc", tmp_path / "long.warc", "--workers", "1")
    faults = {b"": "no WARC records", b"<html>": "damaged after record 0", b"\x1f\x8b\0": "damaged|no WARC"}
    for content, fault in faults.items():
        (tmp_path / "none.warc").write_bytes(content)
        with pytest.raises(CommandError, match=fault):
            run("import_warc", tmp_path / "none.warc", "--workers", "1")
    with pytest.raises(CommandError, match=r"nowhere\.warc cannot be read: No such file"):
        run("import_warc", tmp_path / "nowhere.warc", "--workers", "1")
    with pytest.raises(CommandError, match=r"pages\.txt must end in \.warc\.gz\."):
        run("export_warc", tmp_path / "pages.txt")


def test_times_of_fetches() -> None:
    def fetched(written: str) -> datetime.datetime:
        [found] = read_pages(io.BytesIO(record(page(), more={"WARC-Date": written})))
        assert isinstance(found, ArchivedPage)
        return found.fetched

    now = datetime.datetime.now(datetime.UTC)
    assert fetched("2024-05-04T06:30:15Z") == fetched("2024-05-04T06:30:15") == FETCHED
    assert fetched("2024-05-04T06:30:15.500Z") == FETCHED.replace(microsecond=500_000)
    assert all(now <= fetched(written) < now + datetime.timedelta(minutes=1) for written in ("", "soon", "2999-01-01"))
    assert [type(kept_page) for kept_page in read_pages(io.BytesIO(record(b"", kind="metadata")))] == [OtherRecord]

"""Reading articles from JSON lines and CSV: rows and their faults."""

import csv
import datetime
import gzip
import io
import json
import re
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import pytest

from articles.files import importing, records
from articles.files.importing import Row
from articles.models import Article, ArticleURL
from articles.normalization.times import DATE_FORMS, written_time
from articles.storage import ingest
from articles.storage.incoming import Details, IncomingArticle
from articles.storage.newspapers import Paper
from tests.articles.rows import json_lines, read_rows, row

IMPORTED = Details(date_source=Article.DateSource.IMPORT)


def read_json(data: bytes) -> list[Row[IncomingArticle]]:
    return list(read_rows(io.BytesIO(data), "jsonl"))


def read_csv(data: bytes) -> list[Row[IncomingArticle]]:
    return list(read_rows(io.BytesIO(data), "csv"))


def article_of(row: Row[IncomingArticle]) -> IncomingArticle:
    assert row.article is not None, row.reason
    return row.article


def faults(rows: list[Row[IncomingArticle]]) -> list[tuple[int, str]]:
    return [(read.line, read.reason) for read in rows]


@pytest.mark.parametrize(
    "names",
    [
        ("date", "newspaper", "url", "headline", "content", "id"),
        ("PUBLISHED_AT", "SOURCE", "LINK", "TITLE", "TEXT", "ID"),
        ("publishedAt", "Publisher", " Url ", "Title", "text", "External ID"),
        ("pubDate", "source", "link", "title", "description", "external_id"),
        ("timestamp", "source", "link", "title", "summary", "external-id"),
    ],
)
def test_columns_have_many_names(names: tuple[str, ...]) -> None:
    cells = ("2026-03-02", "Harbour Post", "https://harbourpost.example/1", "Ferry sails", "It sails.", "hp-1")
    expected = IncomingArticle(
        date=datetime.date(2026, 3, 2),
        headline="Ferry sails",
        url="https://harbourpost.example/1",
        content="It sails.",
        newspaper="Harbour Post",
        external_id="hp-1",
        kind=ArticleURL.Kind.IMPORT,
        details=IMPORTED,
    )
    text = io.StringIO()
    csv.writer(text).writerows([(*names, "ignored"), (*cells, "anything")])

    [from_json] = read_json(json_lines(dict(zip(names, cells, strict=True)) | {"ignored": [1]}))
    [from_csv] = read_csv(text.getvalue().encode())
    assert from_json.article == replace(expected, extra_columns='{"ignored": [1]}')
    assert from_csv.article == replace(expected, extra_columns='{"ignored": "anything"}')
    assert (from_json.line, from_csv.line) == (1, 2)


@pytest.mark.parametrize(
    ("changes", "values"),
    [
        ({"headline": "Headline", "title": "Title"}, {"headline": "Headline"}),
        ({"content": "It sails.", "text": "Text"}, {"content": "It sails."}),
        ({"headline": " ", "title": "Title", "content": "", "text": "Text"}, {"headline": "Title", "content": "Text"}),
        ({"published": "2020-01-01"}, {"date": datetime.date(2026, 3, 2)}),
        ({"date": None, "published": "2020-01-01"}, {"date": datetime.date(2020, 1, 1)}),
        # A teaser, which is HTML, is the text only if there is no column for one; a text is taken unchanged.
        ({"content": None, "description": "It <b>sails</b> again&nbsp;..."}, {"content": "It sails again ..."}),
        ({"content": "", "description": "It sails again"}, {"content": ""}),
        ({"content": " a <b>b</b> &amp;\n\n c "}, {"content": "a <b>b</b> &amp;\n\n c"}),
        # Numbers are accepted only for dates and ids; an id of another kind counts as absent.
        ({"date": 1394470370698, "id": 17}, {"date": datetime.date(2014, 3, 10), "external_id": "17"}),
        ({"_id": {"$oid": "5f1d"}}, {"external_id": ""}),
        ({"id": True}, {"external_id": ""}),
        ({"id": ["hp-1"], "external_id": "hp-2"}, {"external_id": "hp-2"}),
        ({"external_id": {"n": 1}, "_id": 17}, {"external_id": "17"}),
        ({"id": None}, {"external_id": ""}),
        # A newspaper is a name, or an object with one.
        ({"newspaper": {"id": None, "name": " Skerry  Times "}}, {"newspaper": "Skerry Times"}),
        ({"newspaper": {"id": None, "name": None}}, {"newspaper": "Of the command"}),
        ({"newspaper": {"id": None}, "source": "Skerry Times"}, {"newspaper": "Skerry Times"}),
        ({"newspaper": "", "source": {"id": None, "name": "Skerry Times"}}, {"newspaper": "Skerry Times"}),
        ({"newspaper": ["Skerry Times"]}, {"newspaper": "Of the command"}),
        ({"newspaper": 1.5}, {"newspaper": "Of the command"}),
        # Details are taken if they fit, and are extra columns if they do not.
        (
            {"language": "en", "Byline": " Anna  Berg ", "agency": "AFP", "dateline": "VESTBY"},
            {"details": replace(IMPORTED, language="en", byline="Anna Berg", agency="AFP", dateline="VESTBY")},
        ),
        ({"byline": "x" * 501}, {"details": IMPORTED, "extra_columns": f'{{"byline": "{"x" * 501}"}}'}),
    ],
)
def test_a_value_is_the_first_of_its_columns_that_can_be_one(
    changes: dict[str, object], values: dict[str, object]
) -> None:
    [read] = read_rows(io.BytesIO(json_lines(row(**changes))), "jsonl", newspaper="Of the command")
    assert {name: getattr(article_of(read), name) for name in values} == values


def test_a_row_needs_a_column_for_its_text() -> None:
    [missing] = read_json(json_lines({name: value for name, value in row().items() if name != "content"}))
    assert re.match("content is missing.*content, text, description, summary;", missing.reason)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{x}", "line .*JSON.* 2;"),
        (b'{"a": 1} {"b": 2}', "line .*JSON.* 10;"),
        (b"[1]", "line .*array.*JSON object;"),
        (b'"text"', "line .*string.*JSON object;"),
        (b"null", "line .*null.*JSON object;"),
        (b"[" * 100_000, "line .*JSON.*levels.*number;"),
        (b'{"id": ' + b"1" * 5_000 + b"}", "line .*JSON.*levels.*number;"),
    ],
)
def test_a_line_that_is_not_a_json_object_is_rejected(line: bytes, reason: str) -> None:
    rows = read_json(json_lines(row()) + line + b"\n" + json_lines(row(2)))
    assert faults(rows) == [(1, ""), (2, rows[1].reason), (3, "")]
    assert re.match(reason, rows[1].reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"url": None}, "url is missing;"),
        ({"url": ["https://a.example"]}, "url is an array"),
        ({"headline": 7}, "headline is a number"),
        ({"headline": "", "title": True}, "title is a boolean"),
        ({"content": {"html": "x"}}, "content is an object"),
        ({"date": True}, "date is a boolean"),
        ({"date": ["2024-04-03"]}, "date is an array"),
        ({"date": None}, f"date is missing; {re.escape(DATE_FORMS)}"),
        ({"date": "03/04/2024"}, f"date '03/04/2024' is ambiguous.*; {re.escape(DATE_FORMS)}"),
        # Times that do not exist.
        ({"published_at": "noon"}, f"published_at 'noon' cannot be read; {re.escape(DATE_FORMS)}"),
        ({"published_at": "2024-02-30T10:00Z"}, r"published_at '2024-02-30T10:00Z' does not exist \(day is out of"),
        ({"published_at": "2024-04-03T23:59:60Z"}, r"published_at '2024-04-03T23:59:60Z' does not exist \(second must"),
        (
            {"published_at": "2024-04-03T10:00+26:00"},
            r"published_at '2024-04-03T10:00\+26:00' does not exist \(the offset from UTC is over 15:59\); give",
        ),
        ({"date": "2024-04-03T10:00+26:00"}, r"date '2024-04-03T10:00\+26:00' does not exist \(the offset from UTC is"),
        ({"date": "2024-04-03T10:00+02:75"}, r"date '2024-04-03T10:00\+02:75' .* \(the offset from UTC \+02:75"),
        ({"published_at": "0001-01-01T00:00+02:00"}, r"published_at '0001-01-01T00:00\+02:00' does not exist \(in UTC"),
        ({"published_at": ["2024-04-03"]}, "published_at is an array, not text"),
        # Extra columns over a bound.
        ({f"c{number}": "" for number in range(201)}, "row has 201 extra columns; the limit is 200; remove"),
        ({"n" * 201: 1}, "extra column 'n{50}'… has a name of 201 characters; the limit is 200; shorten"),
        (
            {"a": "", "html": "x" * 1_000_000},
            "extra columns have 1,000,021 characters.*'html'; the limit is 1,000,000;",
        ),
    ],
)
def test_a_bad_field_is_rejected(changes: dict[str, object], reason: str) -> None:
    [bad, good] = read_json(json_lines(row(**changes), row(2)))
    assert bad.article is None
    assert re.match(reason, bad.reason)
    assert article_of(good).url == "https://harbourpost.example/2"


@pytest.mark.parametrize(
    ("values", "day", "time"),
    [
        ({"date": "2024-04-03"}, "2024-04-03", "None"),
        ({"date": "2024-04-03T18:30+02:00"}, "2024-04-03", "2024-04-03T18:30+02:00"),
        ({"date": "2024-04-03T23:30:05-05:30"}, "2024-04-03", "2024-04-03T23:30:05-05:30"),
        ({"date": "2024-04-03 18:30:00"}, "2024-04-03", "2024-04-03T18:30:00"),
        ({"date": "Wed, 03 Apr 2024 18:30:00 EDT"}, "2024-04-03", "2024-04-03T18:30:00-04:00"),
        ({"date": "Wed,03 Apr 2024 18:30 CEST"}, "2024-04-03", "2024-04-03T18:30"),
        ({"date": 1712161800}, "2024-04-03", "2024-04-03T16:30:00+00:00"),
        ({"published_at": "2024-04-03T18:30Z"}, "2024-04-03", "2024-04-03T18:30+00:00"),
        ({"date": "2024-04-03", "publishedAt": "2024-04-03T18:30Z"}, "2024-04-03", "2024-04-03T18:30+00:00"),
        ({"date": "2024-04-03", "published_at": ""}, "2024-04-03", "None"),
        ({"date": "2024-04-03", "published_at": "2024-04-03"}, "2024-04-03", "None"),
        # The date column decides the day, and published_at the time.
        ({"date": "2024-04-03T00:00:00", "published_at": 1712161800}, "2024-04-03", "2024-04-03T16:30:00+00:00"),
        ({"date": "2024-04-03T18:30Z", "published_at": "2024-04-03"}, "2024-04-03", "2024-04-03T18:30+00:00"),
        ({"date": "2024-04-03", "published_at": "2024-04-04T00:30+05:30"}, "2024-04-03", "2024-04-04T00:30+05:30"),
    ],
)
def test_a_date_may_carry_a_time_and_a_zone(values: dict[str, object], day: str, time: str) -> None:
    [read] = read_json(json_lines(row(date=None) | values))
    article = article_of(read)
    assert str(article.date) == day
    assert article.details == IMPORTED.with_time(written_time(time))


def test_a_time_of_another_day_is_kept_with_a_doubt() -> None:
    [read] = read_json(json_lines(row(date="2024-04-03", published_at="2024-04-10T08:00Z")))
    article = article_of(read)
    assert (str(article.date), str(article.details.published_day)) == ("2024-04-03", "2024-04-10")
    assert article.details.date_doubt == "published_at says 2024-04-10"


def test_json_lines_are_numbered_as_in_the_file() -> None:
    data = b"\xef\xbb\xbf" + json_lines(row()).replace(b"\n", b"\r\n") + b"\r\n  \n" + json_lines(row(2)) + b"{\n"
    rows = read_json(data + json.dumps(row(3)).encode())
    assert [read.line for read in rows] == [1, 4, 5, 6]
    assert [read.article is not None for read in rows] == [True, True, False, True]


def test_broken_utf_8_costs_one_line() -> None:
    rows = read_json(json_lines(row()) + b'{"url": "caf\xe9"}\n' + json_lines(row(2)))
    assert faults(rows) == [(1, ""), (2, "byte 13 of line 2 is not UTF-8; save the file as UTF-8"), (3, "")]
    assert rows[1].raw == '{"url": "caf\ufffd"}'


@pytest.mark.parametrize(
    ("members", "kept"),
    [
        (b'"rubric": "Sport", "page": 4', '{"rubric": "Sport", "page": 4}'),
        (b'"page":1.0 , "b" :1e5,"a":-0', '{"page": 1.0, "b": 1e5, "a": -0}'),
        (b'"n": 12345678901234567890.10, "n": null', '{"n": 12345678901234567890.10, "n": null}'),
        (b'"t": "\\u00e9\\u0000\\ud800", "\\u0074": "\xc3\xa9"', '{"t": "\\u00e9\\u0000\\ud800", "\\u0074": "é"}'),
        (b'"o": {"b": [1 , {}], "a":1, "a":2}', '{"o": {"b": [1 , {}], "a":1, "a":2}}'),
        (b'"title": "Unused", "ID": 7', '{"title": "Unused"}'),
        (b'"title": null, "summary": " "', ""),
        (b'"url": "https://harbourpost.example/2"', '{"url": "https://harbourpost.example/1"}'),
        (b'"extra.id": 5, "extra.rubric": 6', '{"id": 5, "extra.rubric": 6}'),
        (b'"source": {"name": "Skerry Times", "id": 9}', '{"source": {"name": "Skerry Times", "id": 9}}'),
        (b'"Language": "English", "byline": ["A", "B"]', '{"Language": "English", "byline": ["A", "B"]}'),
        (b'"language": "en", "byline": " Anna  Berg ", "agency": "AFP", "dateline": "VESTBY"', ""),
    ],
)
def test_columns_without_a_field_are_kept_as_they_are_spelled(members: bytes, kept: str) -> None:
    [read] = read_json(json_lines(row()).rstrip(b"}\n") + b", " + members + b"}\n")
    assert article_of(read).extra_columns == kept


def test_cells_of_csv_are_kept_as_texts_and_empty_ones_are_absent() -> None:
    [read] = read_csv(b'date,url,content,,page,page,rubric\n2026-03-02,https://a.example/1,Text,0,4,"\'=5\n",\n')
    assert article_of(read).extra_columns == r"""{"": "0", "page": "4", "page": "'=5\n"}"""


HEADER = b"date,headline,url,content\n"


def test_csv_rows_are_numbered_by_their_first_physical_line() -> None:
    data = (
        b"\xef\xbb\xbf\n"
        + HEADER
        + (
            b'2026-03-02,One,https://a.example/1,"First,\r\n\r\nand ""second"" line"\r\n'
            b"\r\n"
            b"2026-03-02,Two,https://a.example/2\r\n"
            b"2026-03-02,Three,https://a.example/3,Text,more\n"
            b"2026-03-02,Four,https://a.example/4,Text"
        )
    )
    rows = read_csv(data)
    assert faults(rows) == [(3, ""), (7, rows[1].reason), (8, rows[2].reason), (9, "")]
    assert re.match("row has 3 columns.* 4; .*quotes", rows[1].reason)
    assert re.match("row has 5 columns.* 4; .*quotes", rows[2].reason)
    assert article_of(rows[0]).content == 'First,\r\n\r\nand "second" line'
    assert rows[0].raw == '2026-03-02,One,https://a.example/1,"First,\r\n\r\nand ""second"" line"'


@pytest.mark.parametrize("separator", [b",", b";", b"\t"])
def test_csv_of_spreadsheets_has_other_separators(separator: bytes) -> None:
    data = HEADER + b'2026-03-02,"A; B, C\tD",https://a.example/1,Text\n'
    cells = data.replace(b",", separator).replace(b"B" + separator, b"B,") if separator != b"," else data
    [read] = read_csv(cells)
    assert article_of(read).headline == "A; B, C D"


def test_an_unclosed_quote_costs_one_row() -> None:
    data = HEADER + (
        b'2026-03-02,"One,https://a.example/1,Text\n'
        b'2026-03-02,"Two, or two",https://a.example/2,Text\n'
        b'2026-03-02,He said "Three",https://a.example/3,Text\n'
        b'2026-03-02,"Four,https://a.example/4,Text\n'
        b"2026-03-02,Five,https://a.example/5,Text\n"
    )
    rows = read_csv(data)
    assert faults(rows) == [(2, rows[0].reason), (3, ""), (4, ""), (5, rows[3].reason), (6, "")]
    assert re.match("row is not CSV: ',' expected after '\"'; .*quotes", rows[0].reason)
    assert re.match("row is not CSV: unexpected end of data; .*quotes", rows[3].reason)


def test_broken_utf_8_and_carriage_returns_cost_one_csv_row() -> None:
    data = HEADER + (
        b'2026-03-02,One,https://a.example/1,"Text\nof two lines caf\xe9"\n'
        b"2026-03-02,Two,https://a.example/2,Te\rxt\n"
        b"2026-03-02,Three,https://a.example/3,Text\n"
    )
    rows = read_csv(data)
    assert faults(rows) == [(2, rows[0].reason), (4, rows[1].reason), (5, "")]
    assert re.match("byte 17 of line 3 is not UTF-8; ", rows[0].reason)
    assert re.match("row is not CSV: .*carriage return.*; .*quotes", rows[1].reason)


LACKS = "its header has no {} column ({}), only {}; rename or add one"
DATES = "date, published, published_at, pubdate, time, timestamp"
TEXTS = "content, text, description, summary"


@pytest.mark.parametrize(
    ("data", "file_format", "fault"),
    [
        (b"id,title,story", "csv", LACKS.format("url", "url, link", "id, title, story")),
        (b"url,title,text", "csv", LACKS.format("date", DATES, "url, title, text")),
        (b"ID,TITLE,URL,TIMESTAMP", "csv", LACKS.format("content", TEXTS, "ID, TITLE, URL, TIMESTAMP")),
        (b'date,"url', "csv", "its header cannot be read: unexpected end of data"),
        (
            b"date,url,caf\xe9",
            "csv",
            "its header cannot be read: byte 13 of line 1 is not UTF-8; save the file as UTF-8",
        ),
        ("x".encode("utf-16"), "jsonl", "it is UTF-16; save it as UTF-8"),
        (gzip.compress(b"x", mtime=0), "jsonl", "it is compressed with gzip; give it a name that ends in .gz"),
    ],
)
def test_a_file_in_another_format_or_without_the_needed_columns_is_refused(
    data: bytes, file_format: records.FileFormat, fault: str
) -> None:
    with pytest.raises(records.UnreadableFileError) as refusal:
        list(read_rows(io.BytesIO(data), file_format))
    assert str(refusal.value) == fault


@pytest.mark.parametrize("file_format", ["jsonl", "csv"])
def test_a_line_that_is_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch, file_format: records.FileFormat) -> None:
    monkeypatch.setattr(records, "MAX_LINE_BYTES", 1_000)
    if file_format == "jsonl":
        data = json_lines(row(), row(2, content="x" * 5_000), row(3))
    else:
        good = b"2026-03-02,One,https://a.example/%d,Text\n"
        data = HEADER + good % 1 + good.replace(b"Text", b"x" * 5_000) % 2 + good % 3
    rows = list(read_rows(io.BytesIO(data), file_format))
    assert [read.reason.partition(";")[0] for read in rows] == ["", rows[1].reason.partition(";")[0], ""]
    assert "line has more than 1,000 bytes" in rows[1].reason
    assert rows[2].line == rows[0].line + 2


def test_a_csv_row_of_many_lines_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_LINE_BYTES", 1_000)
    good = b"2026-03-02,Two,https://a.example/2,Text\n"
    rows = read_csv(HEADER + b'2026-03-02,"One,https://a.example/1,Text\n' + good * 50)
    assert re.match("row is not CSV: .*1,000 bytes; .*closing quote", rows[0].reason)
    assert [read.line for read in rows] == list(range(2, 53))
    assert all(read.article for read in rows[1:])


class Endless(io.RawIOBase):
    def __init__(self, length: int) -> None:
        self._left = length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = min(len(buffer), self._left)
        buffer[:size] = b"x" * size
        self._left -= size
        return size


def test_memory_does_not_grow_with_the_length_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_LINE_BYTES", 1_000_000)
    tracemalloc.start()
    try:
        [only] = read_rows(io.BufferedReader(Endless(50_000_000)), "jsonl")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert re.match("line has more than 1,000,000 bytes; ", only.reason)
    assert peak < 5_000_000


def test_long_rows_make_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MAX_LINE_BYTES", 1_000)
    monkeypatch.setattr(importing, "papers_for", lambda wanted: [Paper(name, host, (), ()) for name, host in wanted])
    monkeypatch.setattr(importing, "known_keys", lambda _keys: set())
    stream = io.BytesIO(json_lines(*(row(number, content="x" * 450) for number in range(5))))
    sizes: list[int] = []

    def store(batch: Sequence[object], _again: object) -> list[ingest.Stored]:
        sizes.append(len(batch))
        return [ingest.Stored("created", 1) for _ in batch]

    assert sum(len(batch) for batch in importing.import_rows(stream, "jsonl", batch_size=4, store=store)) == 5
    assert sizes == [2, 2, 1]

"""An export that is imported into an empty database and exported again is the same, apart from our own ids."""

import csv
import dataclasses
import datetime
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from articles.boilerplate.mode import Mode
from articles.fields import FOUND, Kind
from articles.files import exporting
from articles.files.exporting import LINES, csv_lines, exported_rows, json_lines
from articles.files.importing import import_rows
from articles.files.records import FileFormat
from articles.models import Article, ArticleURL, HeadlineVariant
from articles.normalization.times import written_time
from articles.storage.incoming import Details, IncomingArticle, PageCopy, SeenHeadline, SeenURL
from articles.storage.ingest import store_articles
from tests.articles.rows import json_lines as lines_of
from tests.articles.rows import row
from tests.articles.storage.test_ingest_details import TIMES
from tests.commands import called

pytestmark = pytest.mark.django_db


def exported(file_format: FileFormat) -> str:
    """Return the export of all articles, with their places instead of their ids."""
    rows = list(exported_rows(Mode.KEEP))
    for place, found_row in enumerate(rows):
        found_row.values["id"] = place
    return "".join(LINES[file_format](rows))


def import_text(text: str, file_format: FileFormat) -> list[str]:
    """Import a file and return the reasons of the rejected rows."""
    batches = import_rows(io.BytesIO(text.encode()), file_format, batch_size=3)
    results = [stored for batch in batches for _, stored in batch]
    return [stored.reason for stored in results if stored.outcome != "created"]


# Texts that files spell in several ways, and that spreadsheets and line readers trip over.
_PIECES = (
    *("=1+1", "+", "-", "-5", "@x", "'", '"', ",", ";", "\t", "\r", "\n", "\r\n", " ", "\u2028", "\ufeff", "a", "Ä"),
    *("&amp;", "<b>", "1e5", "null", "\U0001f600", "\x1f", "\\", "{}"),
)
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)
_HEADLINES = _TEXTS.map(str.strip)
_DAYS = st.dates(datetime.date(1950, 1, 1), datetime.date(2026, 3, 1))
_NUMBERS = st.sampled_from(["1", "-0", "1.0", "1e5", "1E+2", "12345678901234567890.10", "-5", "0.10"])
_STRINGS = st.one_of(_TEXTS.map(json.dumps), _TEXTS.map(lambda text: json.dumps(text, ensure_ascii=False)))
_LEAVES = st.one_of(_NUMBERS, _STRINGS, st.sampled_from(["null", "true", "false", '"\\u0000"', '"\\ud800x"', "NaN"]))
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(_STRINGS, inner), max_size=3).map(
            lambda items: "{" + ",".join(f"{name} :{value}" for name, value in items) + "}"
        ),
    ),
    max_leaves=5,
)
_NAMES = st.one_of(
    st.sampled_from(
        ["rubric", "page", "id", "extra.id", "extra.extra.url", "title", "language", "=x", "a;b;c", "", "\ud800"]
    ),
    _TEXTS,
)
_EXTRA = st.lists(st.tuples(_NAMES.map(json.dumps), _JSON), max_size=4).map(
    lambda members: "{" + ", ".join(f"{name}: {value}" for name, value in members) + "}" if members else ""
)
_FOUND: dict[str, st.SearchStrategy[Any]] = {
    "language": st.sampled_from(["", "en", "si"]),
    "agency": st.sampled_from(["", "AFP", "=AFP"]),
}
_OF_KIND: dict[Kind, st.SearchStrategy[Any]] = {Kind.TEXT: _TEXTS, Kind.YES_NO: st.booleans()}


@st.composite
def articles(draw: st.DrawFn, number: int) -> IncomingArticle:
    """Draw an article as crawls and imports bring them; its URLs are like no other article's."""
    host = f"https://paper.example/{number}"
    details = Details(
        date_source=draw(st.sampled_from(["", *Article.DateSource.values])),
        **{field.name: draw(_FOUND.get(field.name, _OF_KIND[field.kind])) for field in FOUND},
    ).with_time(written_time(draw(st.sampled_from(["", *TIMES]))))
    crawled = PageCopy(f"{host}/page", "text/html", b"<p>", 1) if draw(st.booleans()) else None
    kinds = draw(st.lists(st.sampled_from(ArticleURL.Kind.values), max_size=3))
    return IncomingArticle(
        date=draw(_DAYS),
        headline=draw(_TEXTS),
        url=f"https://www.google.com/url?rct=j&url={host}" if draw(st.booleans()) else host,
        content=draw(_TEXTS) + f"\nThe text of article {number}, by Anna Berg of Reuters.\n",
        newspaper=draw(st.sampled_from(["", "Harbour Post", "=Post"])),
        external_id=draw(st.one_of(st.just(""), st.text("a=-'7", min_size=1, max_size=4))),
        kind=ArticleURL.Kind(draw(st.sampled_from(ArticleURL.Kind.values))),
        other_urls=[SeenURL(f"{host}/{kind}/{place}", ArticleURL.Kind(kind)) for place, kind in enumerate(kinds)],
        details=details,
        page=crawled,
        headlines=[
            SeenHeadline(headline, draw(_DAYS), f"{host}/again") for headline in draw(st.lists(_HEADLINES, max_size=3))
        ],
        extra_columns=draw(_EXTRA) if crawled is None else "",
    )


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 4).flatmap(lambda count: st.tuples(*(articles(number) for number in range(count)))))
def test_an_export_imported_and_exported_again_is_the_same(drawn: tuple[IncomingArticle, ...]) -> None:
    with transaction.atomic():
        Article.objects.all().delete()
        assert [stored.reason for stored in store_articles(drawn) if stored.outcome != "created"] == []
        for file_format in LINES:
            first = exported(file_format)
            with transaction.atomic():
                Article.objects.all().delete()
                assert import_text(first, file_format) == []
                assert exported(file_format) == first
                transaction.set_rollback(True)


def test_the_other_columns_of_a_file_come_out_again() -> None:
    columns = {"rubric": "Sport", "page": 4, "id": 17, "external_id": "hp-1", "language": "English", "tags": ["a"]}
    assert import_text(lines_of(row(1, **columns), row(2, country="=NO")).decode(), "jsonl") == []
    first, second = map(json.loads, json_lines(exported_rows(Mode.KEEP)))
    extra = {"rubric": "Sport", "page": 4, "extra.id": 17, "extra.language": "English", "tags": ["a"]}
    assert dict(list(first.items())[-5:]) == extra
    assert (first["external_id"], first["language"]) == ("hp-1", "")
    assert list(second)[-2:] == ["headlines", "country"]

    first_cells, second_cells = csv.DictReader(csv_lines(exported_rows(Mode.KEEP)))
    assert list(first_cells)[-6:] == [*extra, "country"]
    assert [first_cells[name] for name in (*extra, "country")] == ["Sport", "4", "17", "English", '["a"]', ""]
    assert [second_cells[name] for name in (*extra, "country")] == ["", "", "", "", "", "'=NO"]


@pytest.mark.parametrize("file_format", ["jsonl", "csv"])
def test_what_a_page_did_not_name_is_not_looked_for_in_the_text_of_an_export(file_format: FileFormat) -> None:
    page = PageCopy("https://harbourpost.example/1", "text/html", b"<p>", 1)
    content = "VESTBY, March 3 (Reuters) - The ferry to the island sails again after the storm of the last two weeks."
    crawled = IncomingArticle(
        datetime.date(2026, 3, 3), "Ferry", page.url, content, "Harbour Post", page=page, other_urls=[]
    )
    store_articles([crawled])
    text = exported(file_format)
    Article.objects.all().delete()

    assert import_text(text, file_format) == []
    article = Article.objects.get()
    assert (article.external_id, article.language, article.agency, article.dateline) == ("", "", "", "")
    assert (article.extra_columns, article.date_source) == ("", "")

    Article.objects.all().delete()
    without = {name: value for name, value in json.loads(exported_line(crawled)).items() if name != "agency"}
    assert import_text(json.dumps(without), "jsonl") == []
    assert Article.objects.get().agency == "Reuters"


def exported_line(incoming: IncomingArticle) -> str:
    with transaction.atomic():
        store_articles([incoming])
        [line] = json_lines(exported_rows(Mode.KEEP))
        Article.objects.all().delete()
    return line


def test_an_export_of_an_older_version_is_read() -> None:
    names = ("id", "external_id", "date", "headline", "url", "content", "language", "byline", "agency", "dateline")
    values = (7, "", "2026-03-02", "AT&amp;T", "https://a.example/1", " Text ", "", "", "", "")
    line = dict(zip(names, values, strict=True)) | {"newspaper": "Harbour Post"}
    assert import_text(json.dumps(line), "jsonl") == []
    article = Article.objects.get()
    assert (article.external_id, article.headline, article.content) == ("", "AT&amp;T", " Text ")
    assert article.date_source == "import"
    assert list(article.urls.values_list("url", "kind")) == [("https://a.example/1", "import")]


AGAIN = {"headline": "H", "url": "https://a.example", "date": "2026-03-02"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"urls": "x"}, "urls is not JSON; leave it as export_articles wrote it"),
        ({"urls": ["https://a.example/1"]}, "urls is not a list of objects; leave it as export_articles wrote it"),
        ({"urls": [{"url": "a.example", "kind": "page"}]}, "urls: url 'a.example' has no host; "),
        ({"urls": [{"url": "https://a.example", "kind": "x"}]}, "urls: kind is 'x', not one of page, feed, "),
        ({"headlines": [AGAIN | {"date": "3/4"}]}, "headlines: date '3/4' is not "),
        ({"headlines": [AGAIN | {"headline": "x" * 2_001}]}, "headline has 2,001"),
        ({"date_source": "guess"}, "date_source is 'guess', not one of json-ld, "),
        ({"paywalled": "maybe"}, "paywalled is 'maybe', not true or false"),
        ({"paywalled": []}, "paywalled is '[]', not true or false"),
        ({"published_at": "2026-02-30T10:00"}, "published_at '2026-02-30T10:00' does not exist "),
        ({"language": "x" * 9}, "language has 9 characters; the limit is 8"),
        ({"content": ["x"]}, "content is an array, not text"),
    ],
)
def test_an_export_that_somebody_damaged_is_rejected(changes: dict[str, object], reason: str) -> None:
    line = exported_line(IncomingArticle(datetime.date(2026, 3, 2), "Ferry", "https://a.example/1", "Text"))
    [rejected] = import_text(json.dumps(json.loads(line) | changes), "jsonl")
    assert rejected.startswith(reason)
    assert Article.objects.count() == 0


def test_an_export_brings_a_known_article_its_other_urls_and_headlines() -> None:
    incoming = IncomingArticle(datetime.date(2026, 3, 2), "Ferry", "https://a.example/1", "Text")
    again = SeenHeadline("Ferry again", datetime.date(2026, 3, 4), "https://a.example/1?utm_source=x")
    amp = SeenURL("https://a.example/amp/1", ArticleURL.Kind.AMP)
    line = exported_line(dataclasses.replace(incoming, headlines=[again], other_urls=[amp]))
    store_articles([dataclasses.replace(incoming, headline="Boat")])

    import_text(line, "jsonl")
    article = Article.objects.get()
    assert list(article.urls.values_list("url", flat=True)) == ["https://a.example/1", "https://a.example/amp/1"]
    found = [(variant.headline, str(variant.day), variant.url) for variant in article.headline_variants.all()]
    assert found == [("Ferry", "2026-03-02", "https://a.example/1"), ("Ferry again", "2026-03-04", again.url)]


def test_a_csv_file_has_a_bounded_number_of_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "MAX_CSV_COLUMNS", 2)
    import_text(lines_of(row(1, a=1, b=2), row(2, c=3)).decode(), "jsonl")
    with pytest.raises(CommandError, match="more than 2 different extra columns; write JSON lines, or export fewer"):
        called("export_articles", "--format", "csv")


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl.gz"])
def test_the_commands_write_and_read_every_kind_of_file(tmp_path: Path, name: str) -> None:
    import_text(lines_of(row(1, rubric="Sport", headline="- Ferry"), row(2)).decode(), "jsonl")
    file = tmp_path / name
    called("export_articles", "--output", str(file))
    data, first = file.read_bytes(), exported("csv")
    called("export_articles", "--output", str(file))
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (data, [file])
    Article.objects.all().delete()
    said, _ = called("import_articles", str(file))
    assert re.search("2 articles read: 2 stored, 0 already known, 0 rejected", said)
    assert exported("csv") == first
    assert HeadlineVariant.objects.count() == 0

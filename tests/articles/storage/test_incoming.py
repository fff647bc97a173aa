"""What an article may be on its way into the store, and what is not known of it."""

import datetime

import pytest
import time_machine

from articles.extraction.extract import ExtractedArticle
from articles.fields import FOUND
from articles.models import Article, ArticleURL
from articles.normalization.times import Precision, written_time
from articles.storage.incoming import (
    Details,
    IncomingArticle,
    ListedDate,
    PageCopy,
    RejectedArticleError,
    SeenHeadline,
    check_article,
    extracted_details,
)
from tests.articles.storage.test_ingest import FERRY, incoming

Kind = ArticleURL.Kind


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"url": " "}, "url is missing; "),
        ({"url": "https://a.example/" + "x" * 1_983}, "url .*2,001.*2,000"),
        ({"url": "https://a.example/\0"}, "url .*NUL.* 19; remove"),
        ({"url": "https://a.example/\ud83d"}, "url .*surrogate.*; .*UTF-8"),
        ({"url": "/ferry"}, "url '/ferry' .*host; .*https?://"),
        ({"url": "ftp://a.example/"}, "url 'ftp://a.example/' .*host; .*https?://"),
        ({"url": f"https://{'a.' * 97}example/"}, "url .*host.* 201 .*200"),
        ({"content": "\n\t "}, "content is empty; "),
        ({"content": "x" * 1_000_001}, "content .*1,000,001.*1,000,000"),
        ({"content": "ab\0c"}, "content .*NUL.* 3; remove"),
        ({"content": "\udc00"}, "content .*surrogate.*; .*UTF-8"),
        ({"headline": "x" * 2_001}, "headline .*2,001.*2,000"),
        ({"headline": "\0"}, "headline .*NUL.* 1; remove"),
        ({"external_id": "x" * 201}, "id .*201.*200"),
        ({"newspaper": "x" * 201}, "newspaper .*201.*200"),
        ({"newspaper": "\0"}, "newspaper .*NUL.* 1; remove"),
        ({"date": datetime.date(1604, 12, 31)}, "date 1604-12-31 .*1605-01-01.*; correct"),
        *(
            (
                {"details": Details(**{field.name: "x" * (field.limit + 1)})},
                f"{field.name} has {field.limit + 1} characters; the limit is {field.limit}",
            )
            for field in FOUND
            if field.limit
        ),
        ({"details": Details(byline="a\0")}, "byline contains a NUL byte at character 2; remove it"),
        ({"extra_columns": "x" * 1_000_001}, "extra_columns has 1,000,001 characters; the limit is 1,000,000"),
        ({"extra_columns": "\ud83d"}, "extra_columns contains half a surrogate pair, which is not valid text; encode"),
        (
            {"headlines": [SeenHeadline("x" * 2_001, datetime.date(2026, 3, 2), FERRY)]},
            "headline has 2,001 characters; the limit is 2,000",
        ),
        (
            {"details": Details().with_time(written_time("1604-12-31T10:00Z"))},
            "published_at 1604-12-31 is before 1605-01-01, the year of the first newspaper; correct the date",
        ),
    ],
)
def test_rejections_name_the_value_and_the_bound(changes: dict[str, object], message: str) -> None:
    with pytest.raises(RejectedArticleError, match=rf"\A{message}"):
        check_article(incoming(**changes))  # type: ignore[arg-type]


@time_machine.travel(datetime.datetime(2026, 3, 2, 23, 30, tzinfo=datetime.UTC), tick=False)
def test_a_day_is_at_most_two_days_ahead_by_the_clock_of_its_source() -> None:
    check_article(incoming(date=datetime.date(2026, 3, 4)))
    check_article(incoming(details=Details().with_time(written_time("2026-03-04T23:59-11:00"))))
    for changes, day in (
        ({"date": datetime.date(2062, 3, 5)}, "date 2062-03-05"),
        ({"date": datetime.date(2026, 3, 5)}, "date 2026-03-05"),
        ({"details": Details().with_time(written_time("2026-03-05T00:01+14:00"))}, "published_at 2026-03-05"),
    ):
        with pytest.raises(RejectedArticleError) as rejection:
            check_article(incoming(**changes))  # type: ignore[arg-type]
        assert str(rejection.value) == f"{day} is after 2026-03-04, 2 days from today (UTC); correct the date"


def test_what_is_not_known_of_an_article_is_empty() -> None:
    details = Details()
    assert details.published_day is None
    timed = details.with_time(written_time("2026-03-03T23:30:05-05:30"))
    assert (str(timed.published_day), timed.published_offset, timed.published_precision) == (
        "2026-03-03", -330, Precision.SECOND,
    )  # fmt: skip
    assert timed.with_time(None) == details
    assert (ListedDate(datetime.date(2026, 3, 2)).source, ListedDate(datetime.date(2026, 3, 2), None, True).source) == (
        "feed", "sitemap",
    )  # fmt: skip
    page = PageCopy("https://mara:secret@paper.example/1", "text/html", b"<p>", 3)
    assert page == PageCopy("https://paper.example/1", "text/html", b"<p>", 3, None, None, (), b"", None)
    assert "<p>" not in repr(page)
    bare = IncomingArticle(datetime.date(2026, 3, 2), "Ferry", FERRY, "It sails.")
    assert bare == IncomingArticle(
        datetime.date(2026, 3, 2), "Ferry", FERRY, "It sails.", "", "", Kind.PAGE, (), Details(), None, (), "", False
    )


def test_all_details_of_an_extracted_article_are_kept() -> None:
    extracted = ExtractedArticle(
        "It sails.", "Ferry", datetime.date(2026, 3, 2), Article.DateSource.JSON_LD, None, language="no",
        byline="Liv Dahl", agency="NTB", dateline="VESTBY", date_doubt="two days are given",
        time=written_time("2026-03-02T18:30+02:00"), paywalled=True, text_doubt="x" * 301,
    )  # fmt: skip
    assert extracted_details(extracted) == Details(
        language="no", byline="Liv Dahl", agency="NTB", dateline="VESTBY", date_source=Article.DateSource.JSON_LD,
        date_doubt="two days are given", text_doubt="x" * 300, paywalled=True,
        published_at=datetime.datetime(2026, 3, 2, 16, 30, tzinfo=datetime.UTC), published_offset=120,
        published_precision=Precision.MINUTE,
    )  # fmt: skip

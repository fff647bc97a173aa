"""The publication day and time of an article, by its page and its feed."""

import datetime

import pytest

from articles.extraction.extract import ExtractedArticle, ExtractionError
from articles.normalization.times import written_time
from articles.storage.incoming import Details, ListedDate
from articles.storage.publication_day import dated_details, judge_day

TODAY = datetime.date(2026, 3, 10)


def day(text: str) -> datetime.date | None:
    return datetime.date.fromisoformat(text) if text else None


def listed(text: str, *, in_sitemap: bool = False) -> ListedDate | None:
    found = day(text[:10])
    return ListedDate(found, written_time(text), in_sitemap) if found else None


IMPOSSIBLE = "the page says {}, which is impossible; the feed says 2026-03-09"


@pytest.mark.parametrize(
    ("page", "feed", "expected", "doubt"),
    [
        ("2026-03-02", "", "2026-03-02", ""),
        ("", "2026-03-02", "2026-03-02", ""),
        ("2026-03-02", "2026-03-05", "2026-03-02", ""),
        ("2026-03-02", "2026-03-06", "2026-03-02", "the page says 2026-03-02, the feed 2026-03-06"),
        ("2026-03-12", "", "2026-03-12", ""),
        ("2026-03-13", "2026-03-09", "2026-03-09", IMPOSSIBLE.format("2026-03-13")),
        ("1970-01-01", "2026-03-09", "2026-03-09", IMPOSSIBLE.format("1970-01-01")),
        ("1970-01-01", "", "1970-01-01", "1970-01-01 is before the Web"),
        ("", "1970-01-01", "1970-01-01", "1970-01-01 is before the Web"),
        ("2026-03-09", "2099-01-01", "2026-03-09", "the page says 2026-03-09, the feed 2099-01-01"),
    ],
)
def test_the_page_is_believed_unless_its_day_is_impossible(page: str, feed: str, expected: str, doubt: str) -> None:
    assert judge_day(day(page), listed(feed), TODAY) == (day(expected), doubt)


@pytest.mark.parametrize(
    ("page", "feed", "reason"),
    [("", "", "no publication date"), ("2099-01-01", "", "date out of range"), ("", "2099-01-01", "date out of range")],
)
def test_without_a_possible_day_there_is_no_article(page: str, feed: str, reason: str) -> None:
    with pytest.raises(ExtractionError, match=f"^{reason}$"):
        judge_day(day(page), listed(feed), TODAY)


NIGHT = "2026-03-02T23:30:00-05:00"
MORNING = "2026-03-02T08:00:00+02:00"
NEXT_DAY = "2026-03-03T04:30:00Z"


@pytest.mark.parametrize(
    ("page", "feed", "in_sitemap", "expected", "source"),
    [
        (MORNING, NIGHT, False, MORNING, "json-ld"),
        (MORNING, "", False, MORNING, "json-ld"),
        ("2026-03-02", NIGHT, False, NIGHT, "feed"),
        ("2026-03-02", NIGHT, True, NIGHT, "sitemap"),
        ("2026-03-02", "2026-03-02", False, "2026-03-02", "json-ld"),
        # The time of another day is not the time of this one, even if it is the same moment.
        ("2026-03-02", NEXT_DAY, False, "2026-03-02", "json-ld"),
        ("", NIGHT, False, NIGHT, "feed"),
        ("", "2026-03-02", True, "2026-03-02", "sitemap"),
        ("2062-03-02T08:00:00Z", NIGHT, True, NIGHT, "sitemap"),
        ("2062-03-02T08:00:00Z", "2026-03-02", False, "2026-03-02", "feed"),
    ],
)
def test_the_feed_gives_the_time_of_the_day_that_the_page_names(
    page: str, feed: str, in_sitemap: bool, expected: str, source: str
) -> None:
    article = ExtractedArticle("Text.", "", day(page[:10]), "json-ld" if page else None, None, time=written_time(page))

    found, details = dated_details(article, listed(feed, in_sitemap=in_sitemap), TODAY)

    assert (found, details.date_source) == (day(expected[:10]), source)
    assert details == Details(date_source=source, date_doubt=details.date_doubt).with_time(written_time(expected))


def test_a_doubt_names_the_sitemap() -> None:
    link = listed("2026-03-09", in_sitemap=True)
    assert judge_day(day("2026-03-02"), link, TODAY)[1] == "the page says 2026-03-02, the sitemap 2026-03-09"
    assert judge_day(day("2062-03-02"), link, TODAY)[1] == IMPOSSIBLE.format("2062-03-02").replace("feed", "sitemap")

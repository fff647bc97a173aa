"""The publication day of an article, by its page and its feed."""

import datetime

import pytest

from articles.extraction.extract import ExtractionError
from articles.storage.publication_day import judge_day

TODAY = datetime.date(2026, 3, 10)


def day(text: str) -> datetime.date | None:
    return datetime.date.fromisoformat(text) if text else None


IMPOSSIBLE = "the page says {}, which is impossible; the feed says 2026-03-09"


@pytest.mark.parametrize(
    ("page", "feed", "expected", "doubt"),
    [
        ("2026-03-02", "", "2026-03-02", ""),
        ("", "2026-03-02", "2026-03-02", ""),
        ("2026-03-02", "2026-03-05", "2026-03-02", ""),
        ("2026-03-02", "2026-03-06", "2026-03-02", "the page says 2026-03-02, the feed 2026-03-06"),
        ("2026-03-12", "", "2026-03-12", ""),
        (
            "2026-03-13",
            "2026-03-09",
            "2026-03-09",
            IMPOSSIBLE.format("2026-03-13"),
        ),
        (
            "1970-01-01",
            "2026-03-09",
            "2026-03-09",
            IMPOSSIBLE.format("1970-01-01"),
        ),
        ("1970-01-01", "", "1970-01-01", "1970-01-01 is before the Web"),
        ("", "1970-01-01", "1970-01-01", "1970-01-01 is before the Web"),
        ("2026-03-09", "2099-01-01", "2026-03-09", "the page says 2026-03-09, the feed 2099-01-01"),
    ],
)
def test_the_page_is_believed_unless_its_day_is_impossible(page: str, feed: str, expected: str, doubt: str) -> None:
    assert judge_day(day(page), day(feed), TODAY) == (day(expected), doubt)


@pytest.mark.parametrize(
    ("page", "feed", "reason"),
    [("", "", "no publication date"), ("2099-01-01", "", "date out of range"), ("", "2099-01-01", "date out of range")],
)
def test_without_a_possible_day_there_is_no_article(page: str, feed: str, reason: str) -> None:
    with pytest.raises(ExtractionError, match=f"^{reason}$"):
        judge_day(day(page), day(feed), TODAY)

"""Pages show when an article was published as exactly as its source said it, in the source's own time zone."""

import re

import pytest
from django.test import Client

from tests.conftest import StoreArticle
from tests.factories import make_pair
from tests.pages import opened


def times(page: str) -> list[tuple[str, str]]:
    """Return the time elements of articles: their machine-readable dates and what people read."""
    found = re.findall(r'<time datetime="([^"]*)"[^>]*>(.*?)</time>', page)
    return [(machine, re.sub("<[^>]*>", "", shown).strip()) for machine, shown in found]


@pytest.mark.parametrize(
    ("date", "time", "machine", "shown"),
    [
        ("2026-03-02", "", "2026-03-02", "Monday, 2 March 2026"),
        ("2026-03-02", "2026-03-02T00:00", "2026-03-02T00:00", "Monday, 2 March 2026, 00:00 (time zone unknown)"),
        ("2026-03-02", "2026-03-02T23:30-05:00", "2026-03-02T23:30-05:00", "Monday, 2 March 2026, 23:30 UTC-05:00"),
        ("2026-03-02", "2026-03-02T07:05:09Z", "2026-03-02T07:05:09+00:00", "Monday, 2 March 2026, 07:05:09 UTC"),
        ("2026-03-02", "2026-03-02T07:05:00Z", "2026-03-02T07:05:00+00:00", "Monday, 2 March 2026, 07:05 UTC"),
        (
            "2026-03-02",
            "2026-03-03T00:10+05:45",
            "2026-03-03T00:10+05:45",
            "Monday, 2 March 2026, published 3 Mar 2026, 00:10 UTC+05:45",
        ),
    ],
)
def test_the_page_of_an_article(
    visitor: Client, store: StoreArticle, date: str, time: str, machine: str, shown: str
) -> None:
    article = store(date=date, time=time, date_source="feed")
    page = opened(visitor, "article", article.pk)
    assert times(page)[0] == (machine, shown)
    comes = "The date and the time come from" if time else "The date comes from"
    assert f"{comes} the feed or list that named the page." in page


def test_lists_and_pairs(visitor: Client, store: StoreArticle) -> None:
    timed, dated, other = store(time="2026-03-02T18:30+02:00"), store(), store(time="2026-03-02T18:30:05+02:00")
    late, day = ("2026-03-02T18:30+02:00", "{}2 Mar 2026, 18:30 UTC+02:00"), ("2026-03-02", "{}2 Mar 2026")
    later = ("2026-03-02T18:30:05+02:00", "{}2 Mar 2026, 18:30:05 UTC+02:00")

    def expected(*rows: tuple[str, str], weekday: str = "") -> list[tuple[str, str]]:
        return [(machine, shown.format(weekday)) for machine, shown in rows]

    # The table says the time zone once, above its rows.
    page = opened(visitor, "articles")
    assert times(page) == [(machine, text.removesuffix(" UTC+02:00")) for machine, text in expected(later, day, late)]
    assert page.count("UTC+02:00") == 1
    pair = make_pair(timed, dated, trigram=0.9)
    same = make_pair(dated, store(), trigram=0.9)
    queue = opened(visitor, "queue", verdict="any")
    assert times(queue) in (expected(late, day, day), expected(day, late, day))
    page = opened(visitor, "pair", pair.pk)
    assert times(page)[:2] == expected(late, day, weekday="Mon ")
    assert 'class="differs"' in page
    page = opened(visitor, "pair", same.pk)
    assert times(page)[:2] == expected(day, day, weekday="Mon ")
    page = opened(visitor, "compare", left=timed.pk, right=other.pk)
    assert times(page)[:2] == expected(late, later, weekday="Mon ")

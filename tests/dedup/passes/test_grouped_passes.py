"""The passes that group by a key: url, title, exact."""

import datetime

import pytest
from django.db import connection

from articles.models import ArticleURL
from articles.storage.incoming import SeenURL
from articles.storage.ingest import attach_urls
from dedup.passes import PASSES
from dedup.types import Tally, Window

pytestmark = pytest.mark.django_db
DAYS = Window(datetime.date(2026, 1, 1), datetime.date(2026, 12, 31))


def pairs(name: str, **settings) -> set[tuple[int, int]]:
    each = PASSES[name]
    return {(found.left, found.right) for found in each.find(DAYS, each.config_class(**settings), connection)}


def test_url_finds_the_dozen_addresses_of_one_story(store) -> None:
    tails = ("", "?utm_source=feed", "?fbclid=abc", "#comments", "?ga_campaign=x", "/", "/?ref=top")
    stored = [store(url=f"https://www.harbour.example/2026/03/02/breakwater-to-close{tail}") for tail in tails]
    ids = sorted({article.pk for article in stored})  # the fragment names the first one
    assert len(ids) == 6
    assert pairs("url") == {(left, right) for left in ids for right in ids if left < right}


def test_url_keeps_stories_apart_that_a_parameter_tells_apart(store) -> None:
    page = "https://harbour.example/council/minutes-of-little-skerry"
    ferry, oven = (" ".join(f"{word}{number}" for number in range(80)) for word in ("ferry", "oven"))
    one = store(ferry, url=f"{page}?sid=101", headline="Ferry sails again")
    store(oven, url=f"{page}?sid=102", headline="Pupils dig up an oven")
    again = store(ferry, url=f"{page}/?sid=101&utm_source=feed", headline="Ferry sails again")
    assert pairs("url") == {(one.pk, again.pk)}


def test_url_is_asked_within_one_newspaper_alone(store) -> None:
    store(newspaper="Harbour Post", url="https://shared.example/2026/03/02/breakwater-to-close?utm_source=a")
    store(newspaper="Inland Courier", url="https://shared.example/2026/03/02/breakwater-to-close?utm_source=b")
    assert pairs("url") == set()


def test_url_looks_at_every_url_of_an_article(store) -> None:
    one = store(url="https://harbour.example/read/breakwater-to-close-in-spring")
    other = store(url="https://harbour.example/p/991122")
    attach_urls(
        [SeenURL("https://harbour.example/read/breakwater-to-close-in-spring?utm_source=x", ArticleURL.Kind.REDIRECT)],
        known_as=other.url,
    )
    assert pairs("url") == {(one.pk, other.pk)}


def test_url_that_too_many_articles_share_says_nothing(store) -> None:
    for number in range(4):
        store(url=f"https://harbour.example/archive/the-front-page-of-today?utm_id={number}")
    assert len(pairs("url", largest_group=4)) == 6
    assert pairs("url", largest_group=3) == set()


def test_title_ignores_case_punctuation_and_the_name_of_the_newspaper(store) -> None:
    one = store(headline="Breakwater to close for six weeks - Harbour Post")
    other = store(headline="BREAKWATER to close: for six weeks!")
    third = store(headline="Breakwater to close for six weeks")
    assert (one.pk, third.pk) in pairs("title")
    assert other.normalized_title


def test_title_wants_the_same_day_and_the_same_newspaper(store) -> None:
    store(headline="Breakwater to close for six weeks", date="2026-03-02")
    store(headline="Breakwater to close for six weeks", date="2026-03-03")
    store(headline="Breakwater to close for six weeks", newspaper="Inland Courier")
    assert pairs("title") == set()


def test_title_needs_some_words(store) -> None:
    for headline in ("LIVE", "LIVE", "(no title)", "(no title)", "", ""):
        store(headline=headline)
    assert pairs("title") == set()
    assert len(pairs("title", minimum_words=1)) == 1


PIECES = (
    "The ferry “Gannet” sails at noon on weekdays until the end of May.",
    "A travelling exhibition of glass negatives opens in the old customs house at Carrack.",
    "Rain is expected on the western coast, with gusts that may reach sixty knots at sea.",
    "The council of Inverlea has voted to repair the tramway and to sell its depot.",
)


@pytest.mark.parametrize(
    "headline",
    [
        "Situation report from the coast",
        "තත්ත්ව වාර්තාව අද දින",
        "En direct de Port Selby",
        "(no title) (no title) (no title)",
    ],
    ids=["en", "si", "fr", "none"],
)
def test_title_leaves_out_a_headline_over_many_contents_on_whatever_days(store, headline: str) -> None:
    for day, piece in enumerate(PIECES[:3], start=1):
        store(piece, headline=headline, date=f"2026-03-0{day}")
    twice = store(PIECES[3], headline=headline, date="2026-03-01")
    assert pairs("title") == set()
    first = twice.pk - 3
    assert pairs("title", generic_contents=5) == {(first, twice.pk)}
    assert pairs("exact") == set()


def test_title_counts_what_generic_headlines_would_give(store) -> None:
    for day in (1, 1, 2, 3):
        store(PIECES[day], headline="Notes from the coast", date=f"2026-03-0{day}")
    for _ in range(2):
        store(PIECES[0], headline="Ferry sails at noon")
    tally = Tally()
    each = PASSES["title"]
    assert len(list(each.find(DAYS, each.config_class(), connection, tally))) == 1
    assert (tally.candidates, tally.verified) == (2, 1)


def test_title_keeps_the_versions_of_a_ticker(store) -> None:
    articles = [
        store(" ".join(reversed(PIECES[:length])), headline="Storm over the coast: live", date="2026-03-02").pk
        for length in (1, 2, 3, 4)
    ]
    assert pairs("title") == {(left, right) for left in articles for right in articles if left < right}


def test_title_is_generic_in_one_newspaper_alone(store) -> None:
    for day, piece in enumerate(PIECES[:3], start=1):
        store(piece, headline="Notes from the coast", date=f"2026-03-0{day}")
    one = store(PIECES[3], headline="Notes from the coast", newspaper="Inland Courier")
    other = store(PIECES[3], headline="Notes from the coast!", newspaper="Inland Courier")
    assert pairs("title") == {(one.pk, other.pk)}
    assert pairs("title", across_newspapers=True, days_apart=7) == {(one.pk, other.pk)}


def test_title_is_judged_by_what_was_published_up_to_the_last_day(store) -> None:
    for day in (1, 1, 2, 3):
        store(PIECES[day], headline="Notes from the coast", date=f"2026-03-0{day}")
    each = PASSES["title"]
    first_days = Window(datetime.date(2026, 3, 1), datetime.date(2026, 3, 2))
    assert len(list(each.find(first_days, each.config_class(), connection))) == 1
    last_day = Window(datetime.date(2026, 3, 3), datetime.date(2026, 3, 3))
    assert list(each.find(last_day, each.config_class(), connection)) == []
    assert pairs("title") == set()


def test_exact_ignores_case_and_punctuation_on_any_day_in_any_newspaper(store) -> None:
    one = store("The ferry — “Gannet” — sails at noon on weekdays until the end of May.")
    other = store(
        "the ferry gannet SAILS at noon, on weekdays, until the end of may",
        newspaper="Inland Courier",
        date="2026-11-20",
    )
    store("The ferry “Gannet” sails at one on weekdays until the end of May.")
    assert pairs("exact") == {(one.pk, other.pk)}


def test_exact_pairs_a_crowd_with_its_first_article_alone(store) -> None:
    ids = [store("This page could not be found. Please try the search instead.").pk for _ in range(5)]
    assert len(pairs("exact", largest_group=5)) == 10
    assert pairs("exact", largest_group=4) == {(ids[0], each) for each in ids[1:]}


def test_exact_leaves_very_short_texts_alone(store) -> None:
    store("comment now")
    store("Comment now!")
    assert pairs("exact") == set()
    assert len(pairs("exact", minimum_characters=5)) == 1


def test_evidence_says_what_was_shared(store) -> None:
    store("The ferry sails at noon on weekdays until the end of May.")
    store("The ferry sails at noon on weekdays until the end of May.")
    [found] = PASSES["exact"].find(DAYS, PASSES["exact"].config_class(), connection)
    assert found.evidence == {"articles": 2, "headlines": 2}
    store(headline="Ferry sails at noon, it says")
    store(headline="Ferry sails at NOON it says")
    [found] = PASSES["title"].find(DAYS, PASSES["title"].config_class(), connection)
    assert found.evidence == {"shared": "ferry sails at noon it says", "articles": 2}


def test_a_text_that_one_newspaper_has_under_many_headlines_is_marked_as_a_leftover(store) -> None:
    text = "About the senator: he was born in Port Selby and sits on the harbour committee."
    config = PASSES["exact"].config_class(most_headlines=3)

    def leftovers() -> set[int | None]:
        return {found.evidence.get("leftover") for found in PASSES["exact"].find(DAYS, config, connection)}

    for number in range(5):
        store(text, newspaper=f"Paper {number}", headline=f"Wire story in paper number {number}")
    assert leftovers() == {None}
    for number in range(3):
        store(text, newspaper="Paper 0", headline=f"Wholly other headline {number}")
    assert leftovers() == {4}


@pytest.mark.parametrize(
    "headline",
    ["総理大臣が港の改修計画を発表", "นายกรัฐมนตรีเปิดท่าเรือใหม่", "市长宣布港口扩建计划"],
    ids=["ja", "th", "zh"],
)
def test_title_matches_scripts_that_are_written_without_blanks(store, headline: str) -> None:
    one, other = store(headline=headline), store(headline=f"{headline}！")
    store(headline="港")
    store(headline="港")
    assert pairs("title") == {(one.pk, other.pk)}


def test_url_knows_addresses_that_are_all_query(store) -> None:
    one = store(url="https://blog.example/?p=123")
    other = store(url="https://blog.example/?p=123&utm_source=feed")
    store(url="https://blog.example/?p=124")
    store(url="https://blog.example/")
    store(url="https://www.blog.example/")
    assert pairs("url") == {(one.pk, other.pk)}

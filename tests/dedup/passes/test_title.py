"""The title pass: the same headline."""

import datetime
from functools import partial

import pytest
from django.db import connection

from dedup.detection.passes.title import TitleConfig, TitlePass
from dedup.detection.types import Tally, Window
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db
EXPLAINED = (
    {},
    {"largest_group": 2, "days_apart": 1},
    {"days_apart": 40, "across_newspapers": True, "generic_contents": 4},
)


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: the headline, each copy with other punctuation."""
    return {"headline": f"Breakwater {group} to close{'!' * (copy % 3)}"}


find = partial(finding.find, TitlePass())
pairs = partial(finding.pairs, TitlePass())


def test_title_ignores_case_punctuation_and_the_name_of_the_newspaper(store) -> None:
    one = store(headline="Breakwater to close for six weeks - Harbour Post")
    other = store(headline="BREAKWATER to close: for six weeks!")
    [found] = find()
    assert (found.left, found.right) == (one.pk, other.pk)
    assert found.evidence == {"shared": "breakwater to close for six weeks", "articles": 2}


def test_title_requires_one_newspaper_within_a_day(store) -> None:
    one = store(headline="Breakwater to close for six weeks", date="2026-03-02")
    other = store(headline="UPDATE 1-Breakwater to close for six weeks", date="2026-03-03")
    store(headline="Breakwater to close for six weeks", date="2026-03-05")
    store(headline="Breakwater to close for six weeks", newspaper="Inland Courier")
    assert pairs() == {(one.pk, other.pk)}


def test_title_makes_no_pair_of_headlines_that_differ_in_what_is_left_out(store) -> None:
    long = "offence and defence of the harbour team in numbers"
    one, other, plain = (
        store(headline=f"{game}{long}") for game in ("The game at Carrack: ", "The game against Inverlea: ", "")
    )
    assert pairs() == {(one.pk, plain.pk), (other.pk, plain.pk)}
    said = TitlePass().explain(one.pk, other.pk, finding.ALL_DAYS, TitleConfig(), connection)
    assert said.why == "Their headlines are the same but for a part in which they differ."
    # Two newspapers have their names there.
    abroad = store(headline=f"{long} – Courier of the inland towns", newspaper="Inland Courier")
    assert (one.pk, abroad.pk) in pairs(across_newspapers=True)


def test_title_needs_some_words(store) -> None:
    for headline in ("LIVE", "LIVE", "(no title)", "(no title)", "", ""):
        store(headline=headline)
    assert pairs() == set()
    assert len(pairs(minimum_words=1)) == 1


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
def test_title_ignores_a_headline_over_many_contents_on_any_days(store, headline: str) -> None:
    for day, piece in enumerate(PIECES[:3], start=1):
        store(piece, headline=headline, date=f"2026-03-0{day}")
    twice = store(PIECES[3], headline=headline, date="2026-03-01")
    assert pairs() == set()
    first = twice.pk - 3
    assert pairs(generic_contents=5, days_apart=0) == {(first, twice.pk)}


def test_title_counts_the_candidates_of_generic_headlines(store) -> None:
    for day in (1, 1, 2, 3):
        store(PIECES[day], headline="Notes from the coast", date=f"2026-03-0{day}")
    for _ in range(2):
        store(PIECES[0], headline="Ferry sails at noon")
    tally = Tally()
    title_pass = TitlePass()
    assert len(list(title_pass.find(finding.ALL_DAYS, TitleConfig(days_apart=0), connection, tally))) == 1
    assert (tally.candidates, tally.verified) == (2, 1)


def test_title_keeps_the_versions_of_a_ticker(store) -> None:
    articles = [
        store(" ".join(reversed(PIECES[:length])), headline="Storm over the coast: live", date="2026-03-02").pk
        for length in (1, 2, 3, 4)
    ]
    assert pairs() == {(left, right) for left in articles for right in articles if left < right}


def test_title_is_generic_only_within_one_newspaper(store) -> None:
    for day, piece in enumerate(PIECES[:3], start=1):
        store(piece, headline="Notes from the coast", date=f"2026-03-0{day}")
    one = store(PIECES[3], headline="Notes from the coast", newspaper="Inland Courier")
    other = store(PIECES[3], headline="Notes from the coast!", newspaper="Inland Courier")
    assert pairs() == {(one.pk, other.pk)}
    assert pairs(across_newspapers=True, days_apart=7) == {(one.pk, other.pk)}


def test_title_is_judged_by_articles_up_to_the_last_day(store) -> None:
    for day in (1, 1, 2, 3):
        store(PIECES[day], headline="Notes from the coast", date=f"2026-03-0{day}")
    title_pass = TitlePass()
    first_days = Window(datetime.date(2026, 3, 1), datetime.date(2026, 3, 2))
    assert len(list(title_pass.find(first_days, TitleConfig(days_apart=0), connection))) == 1
    last_day = Window(datetime.date(2026, 3, 3), datetime.date(2026, 3, 3))
    assert list(title_pass.find(last_day, TitleConfig(days_apart=0), connection)) == []
    assert pairs() == set()


@pytest.mark.parametrize(
    "headline",
    ["総理大臣が港の改修計画を発表", "นายกรัฐมนตรีเปิดท่าเรือใหม่", "市长宣布港口扩建计划"],
    ids=["ja", "th", "zh"],
)
def test_title_matches_scripts_without_blanks(store, headline: str) -> None:
    one, other = store(headline=headline), store(headline=f"{headline}！")
    store(headline="港")
    store(headline="港")
    assert pairs() == {(one.pk, other.pk)}

"""The exact pass: the same text."""

import datetime
from functools import partial

import pytest
from django.db import connection

from dedup.detection.passes.exact import ExactConfig, ExactPass
from dedup.detection.types import Window
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db
EXPLAINED = ({}, {"largest_group": 2}, {"minimum_characters": 200})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: the text, each copy with other punctuation."""
    return {"content": f"Breakwater number {group} will close for six weeks{'!' * (copy % 3)}"}


find = partial(finding.find, ExactPass())
pairs = partial(finding.pairs, ExactPass())


def test_exact_ignores_case_and_punctuation_on_any_day_in_any_newspaper(store) -> None:
    one = store("The ferry — “Gannet” — sails at noon on weekdays until the end of May.")
    other = store(
        "the ferry gannet SAILS at noon, on weekdays, until the end of may",
        newspaper="Inland Courier",
        date="2026-11-20",
    )
    store("The ferry “Gannet” sails at one on weekdays until the end of May.")
    [found] = find()
    assert (found.left, found.right, found.evidence) == (one.pk, other.pk, {"articles": 2, "headlines": 1})


def test_exact_pairs_a_large_group_only_with_its_first_article(store) -> None:
    ids = [store("This page could not be found. Please try the search instead.").pk for _ in range(5)]
    assert len(pairs(largest_group=5)) == 10
    assert pairs(largest_group=4) == {(ids[0], other) for other in ids[1:]}


def test_exact_ignores_very_short_texts(store) -> None:
    store("comment now")
    store("Comment now!")
    assert pairs() == set()
    assert len(pairs(minimum_characters=5)) == 1


def test_a_text_that_one_newspaper_has_under_many_headlines_is_marked_as_a_leftover(store) -> None:
    text = "About the senator: he was born in Port Selby and sits on the harbour committee."
    config = ExactConfig(most_headlines=3)

    def leftovers() -> set[int | None]:
        return {found.evidence.get("leftover") for found in ExactPass().find(finding.ALL_DAYS, config, connection)}

    for number in range(5):
        store(text, newspaper=f"Paper {number}", headline=f"Wire story in paper number {number}")
    assert leftovers() == {None}
    for number in range(3):
        store(text, newspaper="Paper 0", headline=f"Wholly other headline {number}")
    assert leftovers() == {4}


@pytest.mark.parametrize(
    ("last_day", "headlines", "leftover"),
    [
        ("2026-03-31", ("Dyke repaired", "Tram sold", "Choir wins prize"), None),
        ("2026-04-02", ("Dyke repaired", "Tram sold", "Choir wins prize"), 3),
        ("2026-04-02", ("Dyke repaired", "Tram sold", "Tram sold"), None),
    ],
)
def test_a_text_under_several_headlines_over_a_month_is_a_leftover_in_any_newspapers(
    store, last_day, headlines, leftover
) -> None:
    text = "Subscribe to the harbour letter, and read tomorrow's tides and the price of herring tonight."
    for number, (day, headline) in enumerate(zip(("2026-03-02", "2026-03-10", last_day), headlines, strict=True)):
        store(text, newspaper=f"Paper {number}", date=day, headline=headline)
    window = Window(datetime.date(2026, 3, 1), datetime.date(2026, 4, 30))
    found = ExactPass().find(window, ExactConfig(), connection)
    assert {pair.evidence.get("leftover") for pair in found} == {leftover}

"""The queue: what it lists, how it is narrowed and ordered, and what it costs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dedup.models import Evidence, Pair
from tests.conftest import StoreArticle
from tests.factories import make_pair

pytestmark = pytest.mark.django_db


def listed(client: Client, **query: Any) -> list[int]:
    page = client.get(reverse("queue"), query)
    assert page.status_code == 200
    return [int(number) for number in re.findall(r'pair-link" href="/pairs/(\d+)/', page.content.decode())]


@pytest.fixture
def pairs(store: StoreArticle) -> dict[str, Pair]:
    """Return pairs by what is special about each."""
    harbour = store(newspaper="Harbour Post", date="2026-03-02", headline="Ferry pier closes")
    harbour_later = store(newspaper="Harbour Post", date="2026-03-04", headline="Pier closed")
    coast = store(newspaper="Coast Telegraph", date="2026-03-03", headline="Pier to close")
    inland = store(newspaper="Inland Gazette", date="2026-05-01", headline="Harvest begins")
    return {
        "syndicated": make_pair(harbour, coast, exact=1.0, trigram=0.95),
        "same paper": make_pair(harbour, harbour_later, trigram=0.8),
        "far": make_pair(coast, inland, title=0.6),
    }


def ids(pairs: dict[str, Pair], *names: str) -> list[int]:
    return [pairs[name].pk for name in names]


def test_lists_undecided_pairs_the_highest_score_first(desk: Client, pairs: dict[str, Pair]) -> None:
    assert listed(desk) == ids(pairs, "syndicated", "same paper", "far")


def test_decided_pairs_and_pairs_without_current_evidence_are_not_asked_about(
    desk: Client, pairs: dict[str, Pair]
) -> None:
    Pair.objects.filter(pk=pairs["syndicated"].pk).update(state="rejected")
    Pair.objects.filter(pk=pairs["far"].pk).update(best_score=0)

    assert listed(desk) == ids(pairs, "same paper")
    assert listed(desk, state="rejected") == ids(pairs, "syndicated")
    assert listed(desk, state="any") == ids(pairs, "syndicated", "same paper", "far")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"pass_name": "trigram"}, ["syndicated", "same paper"]),
        ({"pass_name": "exact"}, ["syndicated"]),
        ({"score_from": "0.8"}, ["syndicated", "same paper"]),
        ({"score_to": "0.8"}, ["same paper", "far"]),
        ({"score_from": "0.7", "score_to": "0.9"}, ["same paper"]),
        ({"pass_name": "trigram", "score_to": "0.97"}, ["syndicated", "same paper"]),
        ({"same": "True"}, ["same paper"]),
        ({"same": "False"}, ["syndicated", "far"]),
        ({"date_from": "2026-03-04"}, ["same paper", "far"]),
        ({"date_to": "2026-03-02"}, ["syndicated", "same paper"]),
        ({"date_from": "2026-03-04", "date_to": "2026-03-31"}, ["same paper"]),
        ({"headline": "harvest"}, ["far"]),
        ({"headline": "FERRY", "same": "False"}, ["syndicated"]),
        ({"sort": "score"}, ["far", "same paper", "syndicated"]),
        ({"sort": "date", "same": "False"}, ["syndicated", "far"]),
        ({"sort": "-date", "same": "False"}, ["far", "syndicated"]),
    ],
)
def test_filter_and_order(desk: Client, pairs: dict[str, Pair], query: dict[str, str], names: list[str]) -> None:
    assert listed(desk, **query) == ids(pairs, *names)


def test_a_newspaper_is_found_on_either_side(desk: Client, pairs: dict[str, Pair]) -> None:
    newspaper = pairs["syndicated"].right.newspaper_id

    assert listed(desk, newspaper=newspaper) == ids(pairs, "syndicated", "far")


def test_a_pass_that_no_longer_finds_a_pair_does_not_list_it(desk: Client, pairs: dict[str, Pair]) -> None:
    Evidence.objects.filter(pair=pairs["syndicated"], pass_name="exact").update(stale=True)

    assert listed(desk, pass_name="exact") == []


@pytest.mark.parametrize(
    "query",
    [
        {"page": "zzz"},
        {"page": "-1"},
        {"page": "0"},
        {"page": "²"},
        {"score_from": "abc"},
        {"score_from": "nan", "score_to": "inf"},
        {"score_to": "7"},
        {"newspaper": "99999999999999999999"},
        {"newspaper": "x"},
        {"date_from": "2026-13-45"},
        {"same": "perhaps"},
        {"state": "nonsense"},
        {"sort": "id; DROP TABLE"},
        {"pass_name": "no such pass"},
        {"headline": "nul \x00 byte"},
        {"unknown": "field"},
    ],
)
def test_parameters_that_make_no_sense_are_passed_over(
    desk: Client, pairs: dict[str, Pair], query: dict[str, str]
) -> None:
    assert listed(desk, **query) == ids(pairs, "syndicated", "same paper", "far")


def test_says_which_parameter_was_passed_over(desk: Client, pairs: dict[str, Pair]) -> None:
    page = desk.get(reverse("queue"), {"score_from": "7"}).content.decode()

    assert "Ensure this value is less than or equal to 1. It was passed over." in page
    assert '<details class="filter" open>' in page
    assert '<details class="filter">' in desk.get(reverse("queue")).content.decode()


def test_pages_keep_the_filter(desk: Client, store: StoreArticle) -> None:
    first = store()
    for number in range(32):
        make_pair(first, store(), trigram=0.9 - number / 100)

    page = desk.get(reverse("queue"), {"pass_name": "trigram"}).content.decode()
    assert "32 pairs" in page
    assert 'href="/queue/?pass_name=trigram&amp;page=2"' in page
    assert len(listed(desk, pass_name="trigram")) == 30
    assert len(listed(desk, pass_name="trigram", page="2")) == 2
    assert "There are no pairs on page 9." in desk.get(reverse("queue"), {"page": "9"}).content.decode()
    assert listed(desk, page="99999999999999999999") == listed(desk)


def test_review_these_begins_with_the_first_pair_and_keeps_the_filter(desk: Client, pairs: dict[str, Pair]) -> None:
    page = desk.get(reverse("queue"), {"same": "False", "score_from": "", "page": "1"}).content.decode()

    assert f'href="/pairs/{pairs["syndicated"].pk}/?same=False">Review these' in page


def test_hostile_headlines_are_text(desk: Client, store: StoreArticle) -> None:
    make_pair(store(headline="<script>alert(1)</script>", newspaper="<b>Bold</b>"), store(headline=""), trigram=0.7)

    page = desk.get(reverse("queue")).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "<b>Bold</b>" not in page
    assert "(no headline)" in page


def test_costs_the_same_queries_for_two_pairs_and_for_twenty(
    desk: Client, store: StoreArticle, django_assert_num_queries: Any
) -> None:
    # session, user, permissions of the user and of the groups, newspapers of the form, page, count, rows, evidence
    queries = 9
    first = store()
    for expected in (2, 20):
        while Pair.objects.count() < expected:
            make_pair(first, store(), exact=0.9, trigram=0.8)
        with django_assert_num_queries(queries):
            assert len(listed(desk)) == expected


def test_an_empty_queue_says_what_comes_next(desk: Client) -> None:
    page = desk.get(reverse("queue")).content.decode()

    assert "No pair waits for a decision." in page
    assert "find_duplicates" in page


def test_an_empty_filter_offers_to_clear_it(desk: Client, pairs: dict[str, Pair]) -> None:
    page = desk.get(reverse("queue"), {"headline": "no such word"}).content.decode()

    assert "No pair fits this filter." in page

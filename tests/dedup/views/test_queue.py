"""The pairs of the queue: what it lists, how it is narrowed and ordered, and what it costs."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from articles.models import Newspaper
from articles.storage.search_index import index_words
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.models import Evidence, Pair
from tests import pages
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_series
from tests.pages import opened

pytestmark = pytest.mark.django_db


def listed(client: Client, **query: Any) -> list[int]:
    return pages.listed(client, "queue", **{"tab": "pairs", **query})


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


def test_decided_pairs_and_pairs_without_current_evidence_are_not_asked_about(
    editor_client: Client, pairs: dict[str, Pair]
) -> None:
    Pair.objects.filter(pk=pairs["syndicated"].pk).update(state="rejected")
    Pair.objects.filter(pk=pairs["far"].pk).update(best_score=0)
    Evidence.objects.filter(pair=pairs["syndicated"], pass_name="exact").update(stale=True)

    assert listed(editor_client, pass_name="exact", state="any") == []
    assert listed(editor_client) == ids(pairs, "same paper")
    assert listed(editor_client, state="rejected") == ids(pairs, "syndicated")
    assert listed(editor_client, state="any") == ids(pairs, "syndicated", "same paper", "far")
    on_either_side = pairs["syndicated"].right.newspaper_id
    assert listed(editor_client, newspaper=on_either_side, state="any") == ids(pairs, "syndicated", "far")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["syndicated", "same paper", "far"]),  # the most probable duplicates first
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
def test_filter_and_order(
    editor_client: Client, pairs: dict[str, Pair], query: dict[str, str], names: list[str]
) -> None:
    assert listed(editor_client, **query) == ids(pairs, *names)


@pytest.fixture
def judged(store: StoreArticle) -> dict[str, Pair]:
    """Return a pair of each verdict, and two that are doubtful; the scores rise while the probability falls."""
    made = [
        ("duplicate", 0.97, "duplicate", 0.97),
        ("doubtful", 0.55, "duplicate", 0.55),
        ("version", 0.8, "version", 0.08),
        ("template", 0.9, "template", 0.02),
        ("similar", 0.85, "similar", 0.09),
        ("unjudged", 0.0, "", 0.0),
        ("other template", 0.6, "template", 0.1),
    ]
    return {
        name: make_pair(
            store(),
            store(),
            verdict=verdict,
            probability=probability,
            duplicate_probability=duplicate,
            trigram=0.6 + place / 20,
        )
        for place, (name, probability, verdict, duplicate) in enumerate(made)
    }


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["duplicate", "doubtful", "other template", "version"]),
        ({"verdict": "any"}, ["duplicate", "doubtful", "other template", "similar", "version", "template"]),
        ({"verdict": "duplicate"}, ["duplicate", "doubtful"]),
        ({"verdict": "version"}, ["version"]),
        ({"verdict": "template"}, ["other template", "template"]),
        ({"verdict": "similar"}, ["similar"]),
        ({"verdict": "unjudged"}, ["unjudged"]),
        ({"verdict": "unjudged", "sort": "doubt"}, ["unjudged"]),
        ({"verdict": "nonsense"}, ["duplicate", "doubtful", "other template", "version"]),
        ({"sort": "doubt"}, ["doubtful", "other template", "version", "duplicate"]),
        ({"sort": "-score"}, ["other template", "version", "doubtful", "duplicate"]),
        (
            {"verdict": "any", "sort": "score"},
            ["duplicate", "doubtful", "version", "template", "similar", "unjudged", "other template"],
        ),
    ],
)
def test_verdicts_and_orders(
    editor_client: Client, judged: dict[str, Pair], query: dict[str, str], names: list[str]
) -> None:
    assert listed(editor_client, **query) == ids(judged, *names)
    # Going from pair to pair follows the same order, both ways.
    chain = ids(judged, *names)
    for place, number in enumerate(chain):
        page = opened(editor_client, "pair", number, **query)
        neighbours = re.findall(r'rel="(prev|next)"[^>]* href="/pairs/(\d+)/', page)
        before = [("prev", str(chain[place - 1]))] if place else []
        assert neighbours == before + [("next", str(question)) for question in chain[place + 1 : place + 2]]


def test_rows_name_their_verdict_and_what_is_left_out_is_told(editor_client: Client, judged: dict[str, Pair]) -> None:
    page = opened(editor_client, "queue", tab="pairs", verdict="any", sort="score")

    assert re.findall(r'<span class="verdict verdict-(\w+)">(.*?)</span>', page) == [
        ("duplicate", "Duplicate, 97%"),
        ("duplicate", "Duplicate, 55%"),
        ("version", "Version, 8% duplicate"),
        ("template", "Template, 2% duplicate"),
        ("similar", "Similar, 9% duplicate"),
        ("unjudged", "not yet judged"),
        ("template", "Template, 10% duplicate"),
    ]

    page = opened(editor_client, "queue", tab="pairs")

    assert "Pairs that may be duplicates, " in page
    assert '<a href="/queue/?verdict=any">' in page
    assert "1 pair in this selection has no verdict yet" in page
    assert '<a href="/queue/?tab=pairs&amp;verdict=unjudged">List it</a>' in page
    for query in ({"verdict": "template"}, {"sort": "-score", "verdict": "any"}, {"same": "False"}):
        assert "no verdict yet" not in opened(editor_client, "queue", tab="pairs", **query)


def test_after_a_pair_without_a_verdict_comes_the_first_that_has_one(
    editor_client: Client, judged: dict[str, Pair]
) -> None:
    number = judged["unjudged"].pk
    page = opened(editor_client, "pair", number)
    first = judged["duplicate"].pk

    assert re.findall(r'rel="(prev|next)"[^>]* href="/pairs/(\d+)/', page) == [("next", str(first))]
    answer = editor_client.post(reverse("pair_decide", args=[number]), {"kind": "unsure", "seen": "0"})
    assert answer["Location"] == f"/pairs/{first}/"


def test_the_pairs_of_one_series(editor_client: Client, store: StoreArticle, judged: dict[str, Pair]) -> None:
    inside, outside = judged["duplicate"], judged["doubtful"]
    series = make_series(inside.left.newspaper, "rates of #", inside.left, inside.right, outside.left)
    page = opened(editor_client, "queue", series=series.pk)

    assert listed(editor_client, series=series.pk) == [inside.pk]
    assert "Pairs of one series:" in page
    assert f'href="/pairs/{inside.pk}/?series={series.pk}">Review these' in page
    assert f'<input type="hidden" name="series" value="{series.pk}"' in page


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
        {"verdict": "nonsense"},
        {"series": "x"},
        {"series": "4711000000"},
        {"pass_name": "no such pass"},
        {"headline": "nul \x00 byte"},
        {"unknown": "field"},
    ],
)
def test_parameters_that_make_no_sense_are_passed_over(
    editor_client: Client, pairs: dict[str, Pair], query: dict[str, str]
) -> None:
    assert listed(editor_client, **query) == ids(pairs, "syndicated", "same paper", "far")


def test_says_which_parameter_was_passed_over(editor_client: Client, pairs: dict[str, Pair]) -> None:
    page = opened(editor_client, "queue", tab="pairs", score_from="7")

    assert "Ensure this value is less than or equal to 1. " in page
    assert '<details class="filter" open>' in page
    assert '<details class="filter">' in opened(editor_client, "queue", tab="pairs")


def test_pages_keep_the_filter(editor_client: Client, store: StoreArticle) -> None:
    first = store()
    for number in range(32):
        make_pair(first, store(), trigram=0.9 - number / 100)

    page = opened(editor_client, "queue", tab="pairs", pass_name="trigram")
    assert "32 pairs" in page
    assert 'href="/queue/?tab=pairs&amp;pass_name=trigram&amp;page=2"' in page
    assert len(listed(editor_client, pass_name="trigram")) == 30
    assert len(listed(editor_client, pass_name="trigram", page="2")) == 2
    assert "There is nothing on page 9." in opened(editor_client, "queue", tab="pairs", page="9")
    assert listed(editor_client, page="99999999999999999999") == listed(editor_client)


def test_review_these_begins_with_the_first_pair_and_keeps_the_filter(
    editor_client: Client, pairs: dict[str, Pair]
) -> None:
    page = opened(editor_client, "queue", tab="pairs", same="False", score_from="", page="1")

    assert f'href="/pairs/{pairs["syndicated"].pk}/?tab=pairs&amp;same=False">Review these' in page


def test_hostile_headlines_are_text(editor_client: Client, store: StoreArticle) -> None:
    make_pair(store(headline="<script>alert(1)</script>", newspaper="<b>Bold</b>"), store(headline=""), trigram=0.7)

    page = opened(editor_client, "queue", tab="pairs")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "<b>Bold</b>" not in page
    assert "(no headline)" in page


@pytest.mark.usefixtures("pairs")
def test_a_filter_finds_the_same_whether_few_or_many_rows_pass(
    editor_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuild_clusters()
    update_questions(None)
    list(index_words())
    paper = dict(Newspaper.objects.values_list("name", "pk"))
    both = f"newspaper={paper['Harbour Post']}&other={paper['Coast Telegraph']}"
    filters = [
        "headline=pier",
        "q=harvest",
        "date_from=2026-03-03&date_to=2026-03-04",
        "pass_name=trigram",
        both,
    ]
    asked = [f"/queue/?{tab}&{chosen}" for tab in ("tab=pairs", "tab=informative") for chosen in filters]
    asked += ["/stories/?q=pier", "/stories/?q=harvest", "/articles/?q=paper.example/2026/03"]
    asked += [f"/stories/?newspaper={number}" for number in paper.values()]

    def found() -> list[list[str]]:
        pages = (editor_client.get(address).content.decode() for address in asked)
        return [re.findall(r'href="/(?:pairs|clusters|stories|articles)/\d+/', page) for page in pages]

    looked_up = found()
    assert all(looked_up), [address for address, rows in zip(asked, looked_up, strict=True) if not rows]
    for module in ("dedup.rows.pairs", "dedup.review.queries.stories", "dedup.review.queries.articles"):
        monkeypatch.setattr(f"{module}.ids_of", lambda *_args, **_options: None)
    assert found() == looked_up

"""All lists alike: a list of ten costs as many queries as a list of one, and an empty one says what comes next."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import RepeatedSentence
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from dedup.review.answers import decisions
from tests.articles.boilerplate.test_rules import STORIES
from tests.conftest import StoreArticle
from tests.dense import write_group
from tests.factories import make_cluster, make_pair, make_run, make_series
from tests.pages import listed, opened

pytestmark = pytest.mark.django_db


class List(NamedTuple):
    """A list: its queries, what adds a row to it, what marks one on the page, and what it says without any."""

    queries: int
    add: Callable[[StoreArticle, User], Any]
    empty: str
    row: str = 'class="row-item'
    query: str = ""
    filtered: str = ""


def _series(store: StoreArticle, _editor: User) -> None:
    article = store()
    make_series(article.newspaper, f"form {article.pk}", article)


def _decision(store: StoreArticle, editor: User) -> None:
    decisions.decide_pair(make_pair(store(), store(), trigram=0.9).pk, "confirm", user=editor)


def _sentence(store: StoreArticle, _editor: User) -> None:
    last = RepeatedSentence.objects.count()
    for story in STORIES:
        store(f"{story}\n\nRead more of number {last}.")
    list(mark_weeks(outdated_weeks()))


LISTS = {
    # session, user with permissions and keys, newspapers and collections of the form, page, count, saved views
    "series_list": List(7, _series, "There is no series", filtered="headline=no such word"),
    # also confirmations
    "groups": List(8, lambda store, _: write_group(store(), store()), "A run makes one", filtered="size_from=99"),
    # also whether they are whitelisted
    "boilerplate_list": List(8, _sentence, "Nothing has been searched", filtered="sentence=x"),
    # also kept articles, run
    "clusters": List(9, lambda store, _: make_cluster(store(), store()), "A run builds them", filtered="size_from=99"),
    # deciders of the form instead of newspapers, and permissions twice
    "history": List(7, _decision, "Nobody has decided", row='class="decision', filtered="kind=confirm"),
    # session, user with permissions and keys, newspapers of the form, page, count, rows,
    # evidence, pairs without a verdict; counts of the tabs: stored less those put off, put off,
    # disagreements, second readings, sample, changes; progress: answers with second readings and answers to learn
    # from; saved views
    "queue": List(
        18,
        lambda store, _: make_pair(store(), store(), exact=0.9, trigram=0.8),
        "No pairs are waiting",
        query="tab=pairs",
        filtered="headline=no such word",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_costs_the_same_queries_for_one_and_for_ten(
    name: str, editor_client: Client, editor: User, store: StoreArticle, django_assert_num_queries: Any
) -> None:
    listed, address = LISTS[name], f"{reverse(name)}?{LISTS[name].query}"
    for expected in (1, 10):
        while editor_client.get(address).content.decode().count(listed.row) < expected:
            listed.add(store, editor)
        with django_assert_num_queries(listed.queries):
            editor_client.get(address)


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_list_says_what_comes_next_and_offers_to_clear_the_filter(
    name: str, editor_client: Client, store: StoreArticle
) -> None:
    store()
    make_run()
    address = f"{reverse(name)}?{LISTS[name].query}"
    assert LISTS[name].empty in editor_client.get(address).content.decode()
    assert "Clear " in editor_client.get(f"{address}&{LISTS[name].filtered}").content.decode().split("results")[-1]


def test_neighbours_with_the_same_headlines_are_one_row_that_opens(editor_client: Client, store: StoreArticle) -> None:
    headlines = ("Influenza: report", "influenza report", "Influenza report", "Pier closes")
    articles = [store(f"Week {week}.", headline=headlines[week], date=f"2026-03-0{week + 1}") for week in range(4)]
    pairs = [make_pair(articles[left], articles[right], trigram=0.9) for left, right in ((0, 1), (0, 2), (1, 2))]
    for page in ("articles", "stories"):
        shown = opened(editor_client, page)
        assert shown.count("<summary>2 more with the same headline<") == 1
        assert [shown.count(f">{headline}<") for headline in headlines] == [1, 1, 1, 1]
    shown = opened(editor_client, "queue", tab="pairs", verdict="any")
    assert shown.count("<summary>2 more with the same headlines<") == 1
    assert set(listed(editor_client, "queue", tab="pairs", verdict="any")) == {pair.pk for pair in pairs}

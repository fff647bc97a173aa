"""The series, the page of one, and the rule that one click makes of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import Article
from dedup.detection.runs.judging import terms_in_force
from dedup.detection.runs.outdated_verdicts import note_input_digests, outdated_verdicts
from dedup.detection.verdicts.reasons import RULE_REASON
from dedup.models import Pair, Series
from dedup.review.answers import decisions
from dedup.review.rules.rules import ENDED, MADE, make_rule
from tests.conftest import StoreArticle
from tests.factories import clusters, make_pair, make_run, make_series
from tests.pages import notices, opened

pytestmark = pytest.mark.django_db

FORM = "rates of the #"


@pytest.fixture
def articles(store: StoreArticle) -> list[Article]:
    """Return a daily column of four days, and what another newspaper copied of it."""
    days = [store(headline=f"Rates of the {day}th", date=f"2026-03-{day:02}") for day in (4, 5, 6, 7)]
    return [*days, store(newspaper="Coast Telegraph", headline="Rates of the 4th", date="2026-03-04")]


@pytest.fixture
def series(articles: list[Article]) -> Series:
    return make_series(articles[0].newspaper, FORM, *articles[:4])


def shown(client: Client, series: Series, **query: Any) -> str:
    return opened(client, "series", series.pk, **query)


def listed(client: Client, **query: Any) -> list[int]:
    page = opened(client, "series_list", **query)
    return [int(number) for number in re.findall(r'row-link" href="/series/(\d+)/', page)]


def test_lists_the_largest_first_and_filters(
    editor_client: Client, editor: User, store: StoreArticle, articles: list[Article], series: Series
) -> None:
    small = make_series(articles[4].newspaper, "tides", articles[4])
    assert listed(editor_client) == [series.pk, small.pk]
    assert listed(editor_client, newspaper=articles[4].newspaper_id) == [small.pk]
    assert listed(editor_client, headline="7TH") == [series.pk]
    assert listed(editor_client, ruled="yes") == []
    make_rule(small.pk, user=editor)
    assert listed(editor_client, ruled="yes") == [small.pk]
    assert listed(editor_client, ruled="no") == [series.pk]
    assert listed(editor_client, ruled="x", newspaper="x", page="zzz") == [series.pk, small.pk]
    rows = opened(editor_client, "series_list").split('class="row-item')
    assert ["never duplicates of each other" in row for row in rows[1:]] == [False, True]
    assert "on 4 days, 4 Mar 2026 to 7 Mar 2026" in rows[1]


def test_shows_the_articles_and_the_pairs_among_them(
    editor_client: Client, visitor: Client, articles: list[Article], series: Series
) -> None:
    templates = [
        make_pair(articles[0], articles[1], verdict="template", trigram=0.9),
        make_pair(articles[1], articles[2], verdict="template", trigram=0.8),
    ]
    mistaken = make_pair(articles[2], articles[3], trigram=0.7)
    copy = make_pair(articles[0], articles[4], trigram=0.99)
    page = shown(editor_client, series)

    assert "4 articles on 4 days, 4 Mar 2026 to 7 Mar 2026, daily." in page
    headlines = re.findall(r'headline-cell"><a href="/articles/(\d+)/', page)
    assert headlines == [str(article.pk) for article in reversed(articles[:4])]
    counts = re.findall(rf'href="/queue/\?series={series.pk}&amp;verdict=(\w+)&amp;state=any"><strong>(\d+)<', page)
    assert counts == [("duplicate", "1"), ("template", "2")]
    pairs = re.findall(r'<td><a href="/pairs/(\d+)/"', page)
    assert pairs == [str(pair.pk) for pair in (mistaken, *templates)]
    assert f"/pairs/{copy.pk}/" not in page
    seen = shown(visitor, series)
    assert "cannot make a rule" in seen
    assert "<form" not in seen.split("<main", 1)[1]


def test_an_empty_list_says_when_series_were_looked_for(editor_client: Client, store: StoreArticle) -> None:
    store()
    run = make_run()
    assert f"on 5 days or more. The run of {run.started_at:%-d %b %Y}" in opened(editor_client, "series_list")


def test_the_articles_come_in_pages(editor_client: Client, store: StoreArticle) -> None:
    many = [store() for _ in range(32)]
    series = make_series(many[0].newspaper, "headline number #", *many)

    assert shown(editor_client, series).count('class="headline-cell"') == 30
    assert shown(editor_client, series, page="2").count('class="headline-cell"') == 2


def test_the_page_costs_a_fixed_number_of_queries(
    editor_client: Client, articles: list[Article], series: Series, django_assert_num_queries: Any
) -> None:
    # session, user with permissions, keys, series, page, count, days, verdicts, pairs, evidence, history
    shown(editor_client, series)  # the process then knows the content types
    for first, second in ((0, 1), (1, 2)):
        make_pair(articles[first], articles[second], trigram=0.9)
        with django_assert_num_queries(12):
            shown(editor_client, series)


def test_one_click_makes_a_rule_and_parts_the_articles(
    editor_client: Client, editor: User, articles: list[Article], series: Series
) -> None:
    inside = make_pair(articles[0], articles[1], trigram=0.9)
    Pair.objects.filter(pk=inside.pk).update(reasons=["The headlines are the same."])
    copy = make_pair(articles[0], articles[4], trigram=0.99)
    rest = make_pair(articles[1], articles[2], verdict="version", trigram=0.6)
    decisions.rebuild_clusters()
    assert clusters() == [sorted(articles[place].pk for place in (0, 1, 4))]
    assert "Make it a rule: never duplicates" in shown(editor_client, series)

    answer = editor_client.post(reverse("series_rule", args=[series.pk]))
    assert answer["Location"] == f"/series/{series.pk}/"
    page = shown(editor_client, series)
    assert notices(page) == [("success", ["1"])]
    assert f"<strong>mara</strong> {MADE}" in page
    assert clusters() == [[articles[0].pk, articles[4].pk]]
    inside.refresh_from_db()
    assert (inside.verdict, inside.probability, inside.duplicate_probability, inside.joins, inside.reasons) == (
        "template",
        1.0,
        0.0,
        False,
        [RULE_REASON, "The headlines are the same."],
    )
    rest.refresh_from_db()
    copy.refresh_from_db()
    assert (rest.verdict, copy.verdict) == ("template", "duplicate")
    series.refresh_from_db()
    assert series.ruled_by == editor


def test_the_rule_is_ended_and_the_next_run_judges_anew(
    editor_client: Client, articles: list[Article], series: Series
) -> None:
    make_pair(articles[0], articles[1], trigram=0.9)
    editor_client.post(reverse("series_rule", args=[series.pk]))
    terms = terms_in_force(versions_join=False)
    assert outdated_verdicts(terms).pairs == 1
    note_input_digests(Pair.objects.values_list("pk", flat=True), terms)
    assert outdated_verdicts(terms).pairs == 0
    answer = editor_client.post(reverse("series_end_rule", args=[series.pk]))

    assert answer["Location"] == f"/series/{series.pk}/"
    page = shown(editor_client, series)
    assert notices(page)[-1] == ("success", [])
    assert f'action="{reverse("series_rule", args=[series.pk])}"' in page
    acts = re.findall(r"<strong>mara</strong> ([a-z ]+) <span", page)
    assert acts == [ENDED, MADE]
    assert outdated_verdicts(terms).pairs == 1
    editor_client.post(reverse("series_rule", args=[series.pk]))
    assert Pair.objects.get().reasons == [RULE_REASON]


@pytest.mark.parametrize("action", ["series_rule", "series_end_rule"])
def test_a_series_that_is_gone(editor_client: Client, action: str) -> None:
    answer = editor_client.post(reverse(action, args=[4711]))

    assert answer["Location"] == "/series/"
    assert notices(editor_client.get("/series/").content.decode()) == [("error", ["4711"])]
    assert editor_client.get("/series/4711/").status_code == 404


def test_a_rule_is_offered_when_editors_call_its_pairs_templates(
    editor_client: Client, articles: list[Article], series: Series
) -> None:
    pairs = [make_pair(articles[0], other, trigram=0.9) for other in articles[1:4]]
    said = []
    for pair in pairs:
        decided = editor_client.post(
            reverse("pair_decide", args=[pair.pk]), {"seen": 0, "kind": "template"}, follow=True
        )
        said.append("You can make it a rule." in decided.content.decode())
    assert said == [False, False, True]
    assert "editors called 3 pairs of this series templates" in shown(editor_client, series)
    confirmed = make_pair(articles[1], articles[2], trigram=0.9)
    editor_client.post(reverse("pair_decide", args=[confirmed.pk]), {"seen": 0, "kind": "version"})
    assert "A rule would fit" not in shown(editor_client, series)

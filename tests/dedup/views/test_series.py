"""The series, the page of one, and the rule that one click makes of it."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import Article
from dedup.answers import Answer
from dedup.detection.runs.judging import terms_in_force
from dedup.detection.runs.outdated_verdicts import note_input_digests, outdated_verdicts
from dedup.detection.verdicts.reasons import RULE_REASON
from dedup.models import DenseGroup, Pair, Series
from dedup.review.answers import decisions
from dedup.review.answers.decisions import decide_pair
from dedup.review.rules.rules import ENDED, MADE, make_rule
from tests.conftest import StoreArticle
from tests.dense import write_group
from tests.factories import clusters, make_pair, make_run, make_series, make_user
from tests.pages import listed, notices, opened

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


def test_lists_the_largest_first_and_filters(
    editor_client: Client, editor: User, store: StoreArticle, articles: list[Article], series: Series
) -> None:
    small = make_series(articles[4].newspaper, "tides", articles[4])
    assert listed(editor_client, "series_list") == [series.pk, small.pk]
    assert listed(editor_client, "series_list", newspaper=articles[4].newspaper_id) == [small.pk]
    assert listed(editor_client, "series_list", headline="7TH") == [series.pk]
    assert listed(editor_client, "series_list", ruled="yes") == []
    make_rule(small.pk, user=editor)
    assert listed(editor_client, "series_list", ruled="yes") == [small.pk]
    assert listed(editor_client, "series_list", ruled="no") == [series.pk]
    assert listed(editor_client, "series_list", ruled="x", newspaper="x", page="zzz") == [series.pk, small.pk]
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


def test_the_articles_of_a_series_and_of_a_group_come_in_pages(editor_client: Client, store: StoreArticle) -> None:
    many = [store() for _ in range(32)]
    series = make_series(many[0].newspaper, "headline number #", *many)
    write_group(*many)
    for name, number in (("series", series.pk), ("group", DenseGroup.objects.get().pk)):
        pages = [opened(editor_client, name, number, page=page) for page in "12"]
        assert [page.count('class="headline-cell"') for page in pages] == [30, 2]


def test_the_page_costs_a_fixed_number_of_queries(
    editor_client: Client, articles: list[Article], series: Series, django_assert_num_queries: Any
) -> None:
    # session, user with permissions and keys, series, page, count, days, verdicts, pairs, evidence, history
    shown(editor_client, series)  # the process then knows the content types
    for first, second in ((0, 1), (1, 2)):
        make_pair(articles[first], articles[second], trigram=0.9)
        with django_assert_num_queries(11):
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
    terms = terms_in_force()
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


def test_a_rule_parts_the_undecided_pairs_within_its_series_and_no_other(store: StoreArticle) -> None:
    post = [store(newspaper="Post") for _ in range(6)]
    gazette = [store(newspaper="Gazette") for _ in range(2)]
    ruled = make_series(post[0].newspaper, "exchange rates of #", *post[:3])
    make_series(post[0].newspaper, "weather for #", *post[3:5])
    make_series(gazette[0].newspaper, "exchange rates of #", *gazette)
    reached = make_pair(post[0], post[1], title=0.9)
    similar = make_pair(post[1], post[2], verdict="similar", title=0.9)
    decided = make_pair(post[0], post[2], title=0.9)
    editor = make_user("mara", "editor")
    decide_pair(decided.pk, Answer.CONFIRM, user=editor)
    others = [
        make_pair(post[3], post[4], title=0.9),  # another series
        make_pair(post[0], post[5], title=0.9),  # one end in no series
        make_pair(*gazette, title=0.9),  # the same form in another newspaper
        decided,
    ]
    assert make_rule(ruled.pk, user=editor) == 1
    verdicts = dict(Pair.objects.values_list("pk", "verdict"))
    assert (verdicts[reached.pk], verdicts[similar.pk]) == ("template", "template")
    assert {verdicts[other.pk] for other in others} == {"duplicate"}

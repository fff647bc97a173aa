"""The dense groups, the page of one, its rule, and its confirmation."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import Article
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.detection.runs.dense_groups import update_groups
from dedup.detection.runs.headlines import update_series
from dedup.detection.runs.judging import terms_in_force
from dedup.detection.runs.outdated_verdicts import note_input_digests, note_judged, outdated_verdicts
from dedup.detection.verdicts.reasons import GROUP_RULE_REASON
from dedup.models import Cluster, Decision, DenseGroup, Pair
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.dense import finish, write_group, write_hubs
from tests.factories import clusters, make_pair, make_run
from tests.pages import listed, notices, opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def articles(store: StoreArticle) -> list[Article]:
    """Return five articles of three days; the last is from another newspaper."""
    days = [store(date=f"2026-03-{day:02}", headline=f"Tender of the {day}th") for day in (2, 3, 3, 4)]
    return [*days, store(newspaper="Coast Telegraph", date="2026-03-03")]


@pytest.fixture
def group(articles: list[Article]) -> DenseGroup:
    """Return the dense group of all five, whose first and second article were judged duplicates, and no others."""
    write_group(*articles)
    judge("template", 0.99)
    judge("duplicate", 0.95, left=articles[0].pk, right=articles[1].pk)
    rebuild_clusters()
    return DenseGroup.objects.get()


def judge(verdict: str, probability: float, **ends: int) -> None:
    joins = verdict == "duplicate"
    duplicate = probability if joins else 0.01
    Pair.objects.filter(**ends).update(
        verdict=verdict, probability=probability, duplicate_probability=duplicate, joins=joins, reasons=["Because."]
    )


def shown(client: Client, group: DenseGroup, **query: Any) -> str:
    return opened(client, "group", group.pk, **query)


def confirm(client: Client, group: DenseGroup, **values: Any) -> str:
    client.post(reverse("group_confirm", args=[group.pk]), {"seen": group.fingerprint, **values})
    return shown(client, group)


def test_lists_the_largest_first_and_filters(
    editor_client: Client, store: StoreArticle, articles: list[Article], group: DenseGroup
) -> None:
    write_group(store(newspaper="Inland Courier"), store(newspaper="Inland Courier"))
    small = DenseGroup.objects.exclude(pk=group.pk).get()
    assert listed(editor_client, "groups") == [group.pk, small.pk]
    assert listed(editor_client, "groups", newspaper=articles[4].newspaper_id) == [group.pk]
    assert listed(editor_client, "groups", size_from=3) == [group.pk]
    assert listed(editor_client, "groups", ruled="yes") == []
    editor_client.post(reverse("group_rule", args=[small.pk]))
    assert listed(editor_client, "groups", ruled="yes") == [small.pk]
    assert listed(editor_client, "groups", ruled="no") == [group.pk]
    confirm(editor_client, group)
    rows = opened(editor_client, "groups").split('class="row-item')[1:]
    assert ["never duplicates of each other" in row for row in rows] == [False, True]
    assert ["confirmed: all the same" in row for row in rows] == [True, False]
    assert "2 Mar 2026 to 4 Mar 2026" in rows[0]
    assert "7 of 10 possible pairs kept" in rows[0]
    assert "and 1 more newspaper" in rows[0]


def test_shows_the_articles_the_pairs_and_where_some_were_left_out(
    editor_client: Client, visitor: Client, articles: list[Article], group: DenseGroup
) -> None:
    page = shown(editor_client, group)

    assert "5 articles, 2 Mar 2026 to 4 Mar 2026" in page
    assert "<bdi>Harbour Post</bdi> (4), <bdi>Coast Telegraph</bdi> (1)." in page
    assert "7 of 10 possible pairs" in page
    assert re.findall(r'<th scope="row">(.*?)</th>((?:<td class="number">\d+</td>)*)', page) == [
        ("Similar text", "".join(f'<td class="number">{number}</td>' for number in (5, 60, 7)))
    ]
    counts = re.findall(rf'href="/queue/\?group={group.pk}&amp;verdict=(\w+)&amp;state=any"><strong>(\d+)<', page)
    assert counts == [("duplicate", "1"), ("template", "6")]
    headlines = re.findall(r'headline-cell"><a href="/articles/(\d+)/', page)
    assert headlines == [str(articles[place].pk) for place in (0, 1, 2, 4, 3)]
    [cluster] = Cluster.objects.all()
    assert f'<a href="/clusters/{cluster.pk}/">Cluster {cluster.pk}</a>: 2 articles of this group' in page
    seen = shown(visitor, group)
    assert "cannot decide on it" in seen
    assert "<form" not in seen.split("<main", 1)[1]


def test_counts_the_pairs_of_other_passes_too(
    editor_client: Client, articles: list[Article], group: DenseGroup
) -> None:
    assert "With the pairs that other passes found" not in shown(editor_client, group)
    numbers = {article.pk: article for article in articles}
    proposed = set(Pair.objects.values_list("left", "right"))
    ends = next(
        (left, right) for left in numbers for right in numbers if left < right and (left, right) not in proposed
    )
    make_pair(*(numbers[end] for end in ends), url=1.0)
    page = shown(editor_client, group)
    assert "7 of 10 possible pairs" in page
    assert "the group has 8 pairs." in page


def test_the_pages_of_its_articles_and_pairs_name_it(
    editor_client: Client, store: StoreArticle, articles: list[Article], group: DenseGroup
) -> None:
    link = f'<a href="/groups/{group.pk}/">dense group of 5 articles</a>'
    outside = make_pair(articles[0], store(), trigram=0.9)
    inside = Pair.objects.exclude(pk=outside.pk).first()
    assert inside is not None
    queue = {"group": group.pk, "verdict": "any"}
    pages = {
        "article": editor_client.get(reverse("article", args=[articles[2].pk])),
        "pair": editor_client.get(reverse("pair", args=[inside.pk])),
        "queue": editor_client.get(reverse("queue"), queue),
        "other": editor_client.get(reverse("pair", args=[outside.pk])),
    }
    assert [name for name, answer in pages.items() if link in answer.content.decode()] == ["article", "pair", "queue"]
    assert pages["queue"].content.decode().count('class="row-item') == 7


def test_a_run_links_to_its_groups(editor_client: Client) -> None:
    counts = dict.fromkeys(("articles", "clusters", "clustered_articles", "duplicate_articles", "duplicate_share"), 0)
    counts |= {"pairs": 0, "passes": {}}
    run = make_run(counts={**counts, "dense_groups": 3, "dense_articles": 5412})
    page = opened(editor_client, "run", run.pk)
    assert "3 with 5,412 articles" in page
    assert 'href="/groups/">View' in page


# ---- the rule ----


def test_one_click_makes_a_rule_and_parts_the_articles(
    editor_client: Client, editor: User, articles: list[Article], group: DenseGroup
) -> None:
    assert clusters() == [[articles[0].pk, articles[1].pk]]
    answer = editor_client.post(reverse("group_rule", args=[group.pk]))

    assert answer["Location"] == f"/groups/{group.pk}/"
    page = shown(editor_client, group)
    assert notices(page) == [("success", ["1"])]
    decision = Decision.objects.get()
    assert (decision.kind, decision.group_number, len(decision.articles)) == ("rule_group", group.pk, 5)
    history = opened(editor_client, "history")
    for said in (page, history):
        assert "<strong>mara</strong> made it a rule: never duplicates" in said
        assert reverse("undo", args=[decision.pk]) not in said
    assert f'(<a href="/groups/{group.pk}/">group {group.pk}</a>, 5 articles)' in history
    with pytest.raises(decisions.ReviewError, match="page of its group"):
        decisions.undo(decision.pk, user=editor)
    assert clusters() == []
    found = set(Pair.objects.values_list("verdict", "probability", "duplicate_probability", "joins"))
    assert found == {("template", 1.0, 0.0, False)}
    assert {tuple(reasons) for reasons in Pair.objects.values_list("reasons", flat=True)} == {
        (GROUP_RULE_REASON, "Because.")
    }


def test_what_editors_decided_stays(
    editor_client: Client, editor: User, articles: list[Article], group: DenseGroup
) -> None:
    pair = Pair.objects.get(left=articles[0], right=articles[1])
    decisions.decide_pair(pair.pk, "confirm", user=editor)
    editor_client.post(reverse("group_rule", args=[group.pk]))

    assert clusters() == [[articles[0].pk, articles[1].pk]]
    assert notices(shown(editor_client, group)) == [("success", ["0"])]


def test_the_rule_is_ended_and_the_next_run_judges_again(editor_client: Client, group: DenseGroup) -> None:
    def judged() -> int:
        terms = terms_in_force()
        outdated = outdated_verdicts(terms)
        note_input_digests(Pair.objects.values_list("pk", flat=True), terms)
        note_judged(outdated)
        return outdated.pairs

    update_series()
    inside = Pair.objects.proposed().count()
    assert (judged(), judged()) == (inside, 0)
    editor_client.post(reverse("group_rule", args=[group.pk]))
    assert (judged(), judged()) == (inside, 0)
    editor_client.post(reverse("group_end_rule", args=[group.pk]))
    assert judged() == inside
    page = shown(editor_client, group)
    assert notices(page)[-1] == ("success", [])
    acts = re.findall(r"<strong>mara</strong> (made|ended) ", page)
    assert acts == ["ended", "made"]


def test_a_ruled_group_stays_when_it_is_no_longer_dense(editor_client: Client, group: DenseGroup) -> None:
    editor_client.post(reverse("group_rule", args=[group.pk]))
    finish(make_run())
    assert "still listed because of its rule" in shown(editor_client, group)
    editor_client.post(reverse("group_end_rule", args=[group.pk]))
    update_groups()
    assert listed(editor_client, "groups") == []


# ---- the confirmation ----


def test_one_decision_confirms_all_articles_and_no_other_and_is_undone_as_one(
    editor_client: Client, store: StoreArticle, articles: list[Article], group: DenseGroup
) -> None:
    everything = sorted(article.pk for article in articles)
    stranger = make_pair(articles[0], store(), verdict="similar", trigram=0.5)
    page = confirm(editor_client, group, note="one tender")
    decision = Decision.objects.get()

    assert (decision.kind, decision.group_number, decision.note) == ("confirm_group", group.pk, "one tender")
    assert decision.articles == everything
    links = [(everything[0], article, "must") for article in everything[1:]]
    assert sorted(decision.links.values_list("left", "right", "kind")) == links
    assert notices(page) == [("success", ["5"])]
    assert clusters() == [everything]
    confirmed = set(Pair.objects.exclude(pk=stranger.pk).values_list("state", flat=True))
    assert (confirmed, Pair.objects.get(pk=stranger.pk).state) == ({"confirmed"}, "undecided")
    assert "Confirm again: all 5 are the same" in page
    history = opened(editor_client, "history")
    assert f'(<a href="/groups/{group.pk}/">group {group.pk}</a>, 5 articles)' in history

    answer = editor_client.post(reverse("undo", args=[decision.pk]))
    assert answer["Location"] == f"/groups/{group.pk}/"
    assert clusters() == [[articles[0].pk, articles[1].pk]]
    assert set(Pair.objects.values_list("state", flat=True)) == {"undecided"}
    assert "Confirm: all 5 are the same" in shown(editor_client, group)


def test_a_group_that_changed_meanwhile_is_not_confirmed(
    editor_client: Client, store: StoreArticle, articles: list[Article], group: DenseGroup
) -> None:
    newer = store()
    write_hubs([(articles[0], newer)], [newer])
    update_groups()
    page = confirm(editor_client, group, note="my note")

    assert notices(page) == [("error", [str(group.pk)])]
    assert 'value="my note"' in page
    assert not Decision.objects.exists()

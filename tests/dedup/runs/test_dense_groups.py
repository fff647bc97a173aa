"""Which articles are hubs, and the dense groups that they form."""

import datetime
import random

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from articles.models import Article
from dedup.detection.runs.dense_groups import KeptPair, Part, connected, update_groups
from dedup.detection.runs.facts import run_facts
from dedup.models import CrowdedArticle, DenseGroup
from tests.conftest import StoreArticle
from tests.dense import finish, write_group, write_hubs
from tests.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def articles(store: StoreArticle) -> list[Article]:
    """Return eight articles of three days and two newspapers, the latest day first."""
    return [
        store(date=f"2026-03-0{4 - number // 3}", newspaper=("Harbour Post", "Inland Courier")[number % 2])
        for number in range(8)
    ]


def hubs() -> dict[tuple[str, int], int]:
    return {(hub.pass_name, hub.article_id): hub.near for hub in CrowdedArticle.objects.all()}


def groups() -> list[tuple[int, list[int]]]:
    return [
        (group.pk, sorted(group.members.values_list("article", flat=True)))
        for group in DenseGroup.objects.order_by("pk")
    ]


def numbers(*articles: Article) -> list[int]:
    return sorted(article.pk for article in articles)


# ---- which articles are connected ----


def test_parts_are_connected_articles_with_their_pairs_and_passes() -> None:
    kept = [
        KeptPair(5, 9, ("trigram",)),
        KeptPair(1, 2, ("minhash", "trigram")),
        KeptPair(2, 3, ("stopword",)),
        KeptPair(7, 9, ()),
    ]
    assert connected(kept) == [Part((1, 2, 3), 2, ("minhash", "stopword", "trigram")), Part((5, 7, 9), 1, ("trigram",))]
    assert connected([]) == []


def test_parts_are_those_of_a_search_from_every_article() -> None:
    for seed in range(50):
        dice = random.Random(seed)
        pairs = {tuple(sorted(dice.sample(range(30), 2))) for _ in range(dice.randrange(40))}
        near = {article: {other for pair in pairs if article in pair for other in pair} for article in range(30)}
        expected = set()
        for article in range(30):
            reached, frontier = {article}, {article}
            while frontier := {other for node in frontier for other in near[node]} - reached:
                reached |= frontier
            if len(reached) > 1:
                expected.add(tuple(sorted(reached)))
        found = connected(KeptPair(left, right, ("trigram",)) for left, right in dice.sample(sorted(pairs), len(pairs)))
        assert {part.articles for part in found} == expected, seed
        assert [part.articles for part in found] == sorted(expected), seed
        assert sum(part.pairs for part in found) == len(pairs), seed


# ---- what a run stores ----


def test_a_run_forgets_what_it_did_not_find_again(articles: list[Article]) -> None:
    write_group(*articles[:4])
    again = write_hubs([(articles[0], articles[1])], articles[:2])
    finish(again, newer_than=0)
    assert len(hubs()) == 4
    finish(again)
    assert hubs() == {("trigram", article.pk): 60 for article in articles[:2]}
    assert [members for _, members in groups()] == [numbers(*articles[:2])]
    finish(make_run())
    assert (hubs(), groups()) == ({}, [])


def test_a_run_of_some_days_leaves_the_hubs_of_the_others(articles: list[Article]) -> None:
    # The first three are from 4 March, the last two from 2 March.
    write_group(*articles[:3])
    write_hubs([(articles[6], articles[7])], articles[6:])
    finish(make_run(), since=datetime.date(2026, 3, 4))

    assert hubs() == {("trigram", article.pk): 60 for article in articles[6:]}


def test_a_group_has_the_hubs_that_one_pass_connects(articles: list[Article]) -> None:
    one, two, three, four, five, six, *_ = articles
    # 2-3 is kept by a pass that found only one of them to be a hub; 5 is none at all.
    run = write_hubs([(one, two), (two, three), (three, four), (four, five)], [one, two])
    write_hubs([(two, three), (three, four)], [three, four], run=run, by="minhash")
    write_hubs([(four, six)], [six, four], run=run, by="stopword")
    update_groups()

    assert [members for _, members in groups()] == [numbers(one, two), numbers(three, four, six)]
    group = DenseGroup.objects.get(members=three.pk)
    assert group.first == four
    assert (group.size, group.newspapers, group.pairs, group.possible_pairs) == (3, 2, 2, 3)
    assert group.passes == ["minhash", "stopword"]
    assert (str(group.first_day), str(group.last_day)) == ("2026-03-03", "2026-03-04")


def test_stale_evidence_connects_nothing(articles: list[Article]) -> None:
    run = write_group(*articles[:3])
    run.evidence.filter(pair__right=articles[2]).update(stale=True)
    update_groups()

    assert [members for _, members in groups()] == [numbers(*articles[:2])]


def test_a_group_keeps_its_number_while_it_grows_and_shrinks(articles: list[Article]) -> None:
    write_group(*articles[:3])
    [(number, _)] = groups()
    seen = DenseGroup.objects.get().fingerprint
    update_groups()
    assert DenseGroup.objects.get().fingerprint == seen
    # The last article is of an earlier day than all others.
    write_group(*articles)
    assert groups() == [(number, numbers(*articles))]
    group = DenseGroup.objects.get()
    assert group.first == articles[6]
    assert group.fingerprint != seen
    again = write_hubs([(articles[1], articles[2])], articles[1:3])
    finish(again)
    assert groups() == [(number, numbers(articles[1], articles[2]))]


def test_nothing_is_written_if_nothing_changed(articles: list[Article]) -> None:
    write_group(*articles)
    written = "SELECT ctid FROM dedup_densegroup UNION ALL (SELECT ctid FROM dedup_groupmember ORDER BY article_id)"
    with connection.cursor() as cursor:
        cursor.execute(written)
        before = cursor.fetchall()
        update_groups()
        cursor.execute(written)
        assert cursor.fetchall() == before


def rule(articles: list[Article], editor: User) -> int:
    group = DenseGroup.objects.get(members=articles[0].pk)
    DenseGroup.objects.filter(pk=group.pk).update(ruled_by=editor, ruled_at=timezone.now())
    return group.pk


def test_a_group_with_a_rule_keeps_its_articles_and_takes_in_others(articles: list[Article], editor: User) -> None:
    write_group(*articles[:3])
    number = rule(articles, editor)
    finish(make_run())
    assert groups() == [(number, numbers(*articles[:3]))]
    group = DenseGroup.objects.get()
    assert (group.pairs, group.passes, hubs()) == (0, [], {})
    # A larger group takes in one of its articles.
    write_group(*articles[2:])
    assert groups() == [(number, numbers(*articles))]
    DenseGroup.objects.update(ruled_by=None, ruled_at=None)
    update_groups()
    assert groups() == [(number, numbers(*articles[2:]))]


def test_the_counts_of_a_run_name_the_groups(articles: list[Article]) -> None:
    counts = dict.fromkeys(("articles", "clusters", "clustered_articles", "duplicate_articles", "duplicate_share"), 0)
    run = make_run(counts={**counts, "dense_groups": 3, "dense_articles": 5412})
    assert ("Dense groups", "3 with 5,412 articles") in run_facts(run)
    assert "Dense groups" not in dict(run_facts(make_run(counts={**counts, "dense_groups": 0})))

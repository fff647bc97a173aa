"""Splitting and merging clusters, previewing it, and taking it back."""

from itertools import combinations

import pytest
from django.contrib.auth.models import User

from articles.models import Article
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.models import Cluster, Decision, Link, Pair, Profile
from dedup.review.answers import decisions
from dedup.review.answers.cluster_decisions import merge_clusters, preview, split_cluster
from dedup.review.answers.decisions import seen_as
from tests.conftest import StoreArticle
from tests.factories import clusters, make_cluster, make_pair

pytestmark = pytest.mark.django_db


def ids(*articles: Article) -> list[int]:
    return [article.pk for article in articles]


def test_a_split_cluster_stays_split_until_it_is_undone(store: StoreArticle, editor: User) -> None:
    a, b, c, d = (store() for _ in range(4))
    cluster = make_cluster(a, b, c, d)  # each held to the first
    confirmed = decisions.decide_pair(Pair.objects.get(left=a, right=c).pk, "confirm", user=editor)
    seen = seen_as(ids(a, b, c, d))

    shown = preview(lambda: split_cluster(cluster.pk, ids(c, d), seen, user=editor), ids(a, b, c, d))
    assert [(group.number, [article.pk for article in group.articles]) for group in shown.clusters] == [
        (cluster.pk, ids(a, b)),
        (None, ids(c, d)),
    ]
    assert (shown.alone.size, shown.pairs_decided) == (0, 4)
    assert shown.overridden == [(confirmed, 1)]
    assert (clusters(), Decision.objects.count(), Link.objects.count()) == ([ids(a, b, c, d)], 1, 1)

    split = split_cluster(cluster.pk, ids(c, d), seen, user=editor)
    assert clusters() == [ids(a, b), ids(c, d)]
    assert {Pair.objects.get(left=a, right=article).state for article in (c, d)} == {"rejected"}
    rebuild_clusters()
    assert clusters() == [ids(a, b), ids(c, d)]
    decisions.undo(split.pk, user=editor)
    assert clusters() == [ids(a, b, c, d)]
    assert Pair.objects.get(left=a, right=c).state == "confirmed"


def test_a_confirmed_cluster_is_split_into_confirmed_ones(store: StoreArticle, editor: User) -> None:
    articles = [store() for _ in range(5)]
    cluster = make_cluster(*articles)
    decisions.confirm_cluster(cluster.pk, seen_as(ids(*articles)), user=editor)
    split_cluster(cluster.pk, ids(*articles[3:]), seen_as(ids(*articles)), user=editor)

    assert clusters() == [ids(*articles[:3]), ids(*articles[3:])]
    assert set(Cluster.objects.values_list("state", flat=True)) == {"confirmed"}


def test_merged_clusters_are_one_whatever_was_said_before(store: StoreArticle, editor: User) -> None:
    a, b, c, d = (store() for _ in range(4))
    first, second = make_cluster(a, b), make_cluster(c, d)
    between = make_pair(b, d, trigram=0.7)
    rejected = decisions.decide_pair(between.pk, "reject", user=editor)
    unsure = decisions.decide_pair(Pair.objects.get(left=a, right=b).pk, "unsure", user=editor)

    shown = preview(lambda: merge_clusters(first.pk, second.pk, seen_as(ids(a, b)), user=editor), ids(a, b, c, d))
    assert [(cluster.number, cluster.size) for cluster in shown.clusters] == [(first.pk, 4)]
    assert [decision for decision, _ in shown.overridden] == [rejected]
    assert clusters() == [ids(a, b), ids(c, d)]

    merged = merge_clusters(first.pk, second.pk, seen_as(ids(a, b)), user=editor)
    rebuild_clusters()
    assert clusters() == [ids(a, b, c, d)]
    between.refresh_from_db()
    assert between.state == "confirmed"
    assert unsure.links.get().kind == "unsure"
    decisions.undo(merged.pk, user=editor)
    assert clusters() == [ids(a, b), ids(c, d)]
    between.refresh_from_db()
    assert between.state == "rejected"


def test_the_rule_of_the_default_profile_chooses_the_kept_article(store: StoreArticle, editor: User) -> None:
    early, wire, long = (
        store("A short report of the pier."),
        store("A report of the pier by an agency.", agency="AFP", date="2026-03-03"),
        store("A long report of the pier, with all that was said about it on that day.", date="2026-03-04"),
    )
    cluster = make_cluster(early, wire, long)
    for rule, kept in (("agency", wire), ("longest", long), ("earliest", early)):
        Profile.objects.update(keep_rule=rule)
        rebuild_clusters()
        cluster.refresh_from_db()
        assert cluster.kept == kept
    decisions.keep_article(cluster.pk, wire.pk, user=editor)
    cluster.refresh_from_db()
    assert cluster.kept == wire


def test_a_preview_shows_the_largest_clusters_first_and_what_is_in_none(
    store: StoreArticle, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    articles = [store(date=f"2026-03-0{9 - number}") for number in range(6)]
    cluster = make_cluster(*articles)
    shown = preview(lambda: decisions.take_out(cluster.pk, articles[5].pk, user=editor), ids(*articles))
    [together] = shown.clusters
    assert (together.number, together.size, together.left_out) == (cluster.pk, 5, 0)
    assert (together.kept_id, together.confirmed) == (articles[4].pk, False)
    assert together.articles == articles[4::-1]  # the earliest first
    assert (shown.alone.articles, shown.alone.size, shown.alone.number) == ([articles[5]], 1, None)
    assert (shown.alone.kept_id, shown.alone.confirmed) == (None, False)
    assert (shown.pairs_decided, shown.overridden, shown.overridden_left_out) == (5, [], 0)

    split = lambda: split_cluster(cluster.pk, ids(*articles[:2]), seen_as(ids(*articles)), user=editor)  # noqa: E731
    monkeypatch.setattr("dedup.review.answers.cluster_decisions.ARTICLES_SHOWN", 3)
    shown = preview(split, ids(*articles))
    assert [(group.size, len(group.articles), group.left_out) for group in shown.clusters] == [(4, 3, 1), (2, 2, 0)]
    assert [group.number for group in shown.clusters] == [cluster.pk, None]
    confirm = lambda: decisions.confirm_cluster(cluster.pk, seen_as(ids(*articles)), user=editor)  # noqa: E731
    assert [group.confirmed for group in preview(confirm, ids(*articles)).clusters] == [True]
    assert not Decision.objects.exists()


def test_a_preview_names_the_decisions_that_say_the_contrary_and_no_others(
    store: StoreArticle, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, c, d = (store() for _ in range(4))
    make_cluster(a, b, c, d)
    for left, right in ((b, c), (b, d), (c, d)):
        make_pair(left, right, verdict="similar", trigram=0.5)

    def decide(left: Article, right: Article, kind: str) -> Decision:
        return decisions.decide_pair(Pair.objects.get(left=left, right=right).pk, kind, user=editor)

    decisions.undo(decide(c, d, "reject").pk, user=editor)
    for kind in ("unsure", "confirm"):  # what is unsure contradicts nothing, and neither does the same answer
        decide(b, c, kind)
    older = decide(a, b, "reject")
    newer = decide(a, c, "template")
    version = decide(a, d, "version")

    def say(kind: Link.Kind, *articles: Article) -> Decision:
        links = dict.fromkeys(combinations(ids(*articles), 2), kind)
        return decisions.append_batch(ids(*articles), links, user=editor, note="")

    def overridden() -> tuple[list[tuple[Decision, int]], int]:
        shown = preview(lambda: say(Link.Kind.MUST, a, b, c, d), ids(a, b, c, d))
        return shown.overridden, shown.overridden_left_out

    assert overridden() == ([(version, 1), (newer, 1), (older, 1)], 0)
    both = say(Link.Kind.CANNOT, a, b, c)
    assert overridden() == ([(both, 3), (version, 1)], 0)
    monkeypatch.setattr("dedup.review.answers.cluster_decisions.DECISIONS_SHOWN", 1)
    assert overridden() == ([(both, 3)], 1)

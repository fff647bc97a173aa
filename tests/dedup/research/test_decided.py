"""What one decision brings to learning: a pair one label, a cluster or a dense group at most twenty."""

import pytest
from django.contrib.auth.models import User

from articles.models import Article
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.models import Cluster, DenseGroup, Pair
from dedup.research.decided import DecidedPairs, decided_pairs, spread
from dedup.review.answers import decisions
from dedup.review.rules.rules import make_group_rule
from tests.conftest import StoreArticle
from tests.dense import copies_of, write_group
from tests.factories import make_cluster, make_pair

pytestmark = pytest.mark.django_db


@pytest.fixture
def articles(store: StoreArticle) -> list[Article]:
    return copies_of(store(), 41)


@pytest.fixture
def group(articles: list[Article]) -> DenseGroup:
    """Return the dense group of 41 articles, with 79 pairs: those with the first article, and those in a row."""
    write_group(*articles)
    return DenseGroup.objects.get()


def ends() -> list[tuple[int, int]]:
    return list(Pair.objects.order_by("left", "right").values_list("left", "right"))


def confirm_cluster(cluster: Cluster, user: User) -> None:
    members = list(cluster.memberships.values_list("article", flat=True))
    decisions.confirm_cluster(cluster.pk, decisions.seen_as(members), user=user)


def test_pairs_are_spread_evenly() -> None:
    pairs = [(1, other) for other in range(2, 52)]
    assert [right for _, right in spread(pairs, 5)] == [2, 12, 22, 32, 42]
    assert spread(pairs[:3], 5) == pairs[:3]
    assert spread([], 5) == []


def test_a_confirmed_group_brings_twenty_pairs(group: DenseGroup, editor: User) -> None:
    decisions.confirm_group(group.pk, seen=group.fingerprint, user=editor)
    found = decided_pairs()
    assert list(found.labels) == spread(ends(), 20)
    assert set(found.labels.values()) == {"D"}
    assert found.left_out == set(ends()) - found.labels.keys()
    assert len(found.left_out) == 59


def test_pairs_decided_one_by_one_count_too(group: DenseGroup, editor: User) -> None:
    singly = ends()[:30]
    for left, right in singly:
        decisions.decide_pair(Pair.objects.get(left=left, right=right).pk, "confirm", user=editor)
    decisions.confirm_group(group.pk, seen=group.fingerprint, user=editor)
    labels = decided_pairs().labels
    assert list(labels) == sorted(labels)
    others = [end for end in ends() if end not in singly]
    assert set(labels) == {*singly, *spread(others, 20)}


def test_a_pair_that_joins_two_clusters_brings_no_more_than_one(articles: list[Article], editor: User) -> None:
    for part in (articles[:20], articles[20:40]):
        confirm_cluster(make_cluster(*part), editor)
    bridge = make_pair(articles[0], articles[20], trigram=0.9)
    for article in articles[21:40]:
        make_pair(articles[0], article, trigram=0.9)
    assert len(decided_pairs().labels) == 19 + 19
    decisions.decide_pair(bridge.pk, "confirm", user=editor)
    assert Pair.objects.filter(state="confirmed").count() == 19 + 19 + 20
    labels = decided_pairs().labels
    assert len(labels) == 21
    assert (bridge.left_id, bridge.right_id) in labels


def test_a_dissolved_cluster_and_an_article_taken_out_bring_twenty_each(articles: list[Article], editor: User) -> None:
    cluster = make_cluster(*articles[:30])
    decisions.take_out(cluster.pk, articles[0].pk, user=editor)
    assert len(decided_pairs().labels) == 20
    for article in articles[2:30]:
        make_pair(articles[1], article, trigram=0.9)
    rebuild_clusters()
    cluster = Cluster.objects.get()
    decisions.reject_cluster(cluster.pk, decisions.seen_as([article.pk for article in articles[1:30]]), user=editor)
    found = decided_pairs()
    assert list(found.labels.values()) == ["N"] * 40
    assert len(found.left_out) == 9 + 8


def test_a_rule_on_a_group_brings_nothing(group: DenseGroup, editor: User) -> None:
    make_group_rule(group.pk, user=editor)
    assert decided_pairs() == DecidedPairs({}, set())


def test_small_clusters_bring_all_their_pairs(articles: list[Article], editor: User) -> None:
    for first in range(0, 24, 6):
        confirm_cluster(make_cluster(*articles[first : first + 6]), editor)
    found = decided_pairs()
    assert (list(found.labels), found.left_out) == (ends(), set())
    assert len(found.labels) == 4 * 5


def test_versions_and_templates_are_labels_and_make_later_rejects_clear(articles: list[Article], editor: User) -> None:
    pairs = [make_pair(articles[number], articles[number + 1], trigram=0.9) for number in range(0, 10, 2)]
    other = User.objects.create_user("nils")
    kinds = [("reject", editor), ("version", editor), ("template", editor), ("reject", editor), ("reject", other)]
    for pair, (kind, reader) in zip(pairs, kinds, strict=True):
        decisions.decide_pair(pair.pk, kind, user=reader)
    assert list(decided_pairs().labels.values()) == ["N", "V", "T", "E", "N"]
    # What was overruled is not known any more.
    decisions.decide_pair(pairs[0].pk, "unsure", user=other)
    assert list(decided_pairs().labels.values()) == ["V", "T", "E", "N"]


def test_what_decisions_on_other_pairs_imply_is_no_label(articles: list[Article], editor: User) -> None:
    first, second = (make_pair(*articles[place : place + 2], trigram=0.9) for place in (0, 1))
    make_pair(articles[0], articles[2], trigram=0.9)
    decisions.decide_pair(first.pk, "confirm", user=editor)
    decisions.decide_pair(second.pk, "reject", user=editor)
    assert Pair.objects.get(implied=True).state == "rejected"
    assert list(decided_pairs().labels.values()) == ["D", "N"]

"""Clusters as they are stored: a whole archive at once, or the part around some articles."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from articles.grouping import by_key
from articles.models import Article
from dedup.detection.clustering import rebuild
from dedup.detection.clustering.rebuild import differs, expected_clusters, loose_parts, rebuild_clusters
from dedup.models import Cluster, Decision, Lease, Membership, Pair, Postponement, Webhook
from dedup.models.decisions import KEEPS
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair

pytestmark = pytest.mark.django_db


def clusters() -> dict[int, set[int]]:
    """Return the articles of each cluster."""
    members = by_key(Membership.objects.values_list("cluster", "article"))
    return {cluster: set(articles) for cluster, articles in members.items()}


@pytest.mark.parametrize(
    ("dates", "kept"),
    [
        (("2026-03-02", "2026-03-02", "2026-03-02"), 0),
        (("2026-03-03", "2026-03-02", "2026-03-02"), 1),
        (("2026-03-02T18:30Z", "2026-03-02T07:10Z", "2026-03-02T07:05Z"), 2),
        # The same day everywhere, whatever the day is in UTC.
        (("2026-03-02T01:00+05:30", "2026-03-02T23:00-05:00", "2026-03-02T12:00Z"), 0),
        (("2026-03-03T00:10Z", "2026-03-02T23:50Z", "2026-03-02T23:55Z"), 1),
        # A time decides between articles that both have one.
        (("2026-03-02T18:30Z", "2026-03-02", "2026-03-02T07:05Z"), 2),
        (("2026-03-02", "2026-03-02T18:30Z", "2026-03-02T07:05Z"), 0),
    ],
)
def test_a_cluster_keeps_the_article_published_first(store: StoreArticle, dates: tuple[str, ...], kept: int) -> None:
    articles = [store(date=date[:10], time=date) for date in dates]
    assert make_cluster(*articles).kept == articles[kept]


@pytest.fixture
def parts(store: StoreArticle) -> list[Article]:
    """A text in full and its two parts, each printed twice; the first part and the full text are most alike."""
    first, first_again, full, second, second_again = (store() for _ in range(5))
    make_pair(first, first_again, trigram=0.99)
    make_pair(second, second_again, trigram=0.95)
    make_pair(first, full, trigram=0.98, matched=(1.0, 0.5))
    make_pair(first_again, full, trigram=0.9, matched=(1.0, 0.5))
    make_pair(full, second, trigram=0.97, matched=(0.4, 1.0))
    make_pair(full, second_again, trigram=0.97, matched=(0.4, 1.0))
    return [first, first_again, full, second, second_again]


def test_a_full_text_joins_one_of_its_parts_also_around_some_articles(parts: list[Article]) -> None:
    rebuild_clusters()
    expected = clusters()
    ids = [article.pk for article in parts]
    assert sorted(map(sorted, expected.values())) == [ids[:3], ids[3:]]
    for article in parts:
        rebuild_clusters([article.pk])
        assert clusters() == expected
    Membership.objects.all().delete()
    rebuild_clusters([parts[4].pk])
    assert sorted(map(sorted, clusters().values())) == [ids[:3], ids[3:]]


def test_a_cluster_keeps_its_number_when_the_full_text_leaves_it(parts: list[Article]) -> None:
    first, first_again, full, second, second_again = (article.pk for article in parts)
    rebuild_clusters()
    before = {number: min(articles) for number, articles in clusters().items()}
    Pair.objects.filter(left=full).update(probability=0.999)
    rebuild_clusters([full])
    assert sorted(map(sorted, clusters().values())) == [[first, first_again], [full, second, second_again]]
    assert {number: min(articles - {full}) for number, articles in clusters().items()} == before


def test_pairs_judged_before_the_shares_were_stored_join_as_before(parts: list[Article]) -> None:
    Pair.objects.update(left_matched=None, right_matched=None)
    rebuild_clusters()
    assert list(clusters().values()) == [{article.pk for article in parts}]


def test_what_a_full_text_holds_together_stays_when_it_is_taken_out(store: StoreArticle, editor: User) -> None:
    """Two crops that must overlap: each has three quarters of the full text."""
    crop, full, other = store(), store(), store()
    make_pair(crop, full, trigram=0.98, matched=(1.0, 0.75))
    make_pair(full, other, trigram=0.97, matched=(0.75, 1.0))
    rebuild_clusters()
    [number] = clusters()
    assert clusters() == {number: {crop.pk, full.pk, other.pk}}
    assert loose_parts([crop.pk, other.pk], confirmed=False) == [crop.pk, other.pk]

    decisions.take_out(number, full.pk, user=editor)
    assert clusters() == {number: {crop.pk, other.pk}}


def test_a_version_that_does_not_join_speaks_against_a_doubtful_duplicate(store: StoreArticle) -> None:
    first, second, third = store(), store(), store()
    make_pair(first, second, trigram=0.95)
    make_pair(second, third, trigram=0.6)
    version = make_pair(first, third, verdict="version", probability=0.9, duplicate_probability=0.05, trigram=0.6)
    rebuild_clusters()
    assert list(clusters().values()) == [{first.pk, second.pk}]

    version.joins = True  # by a profile whose versions join
    version.save()
    rebuild_clusters()
    assert list(clusters().values()) == [{first.pk, second.pk, third.pk}]


def test_what_stays_together_does_so_against_the_verdicts(store: StoreArticle, editor: User) -> None:
    first, middle, last = store(), store(), store()
    make_pair(first, middle, trigram=0.97)
    make_pair(middle, last, trigram=0.97)
    make_pair(first, last, verdict="similar", probability=0.9, duplicate_probability=0.05, trigram=0.6)
    rebuild_clusters()
    [number] = clusters()
    decisions.take_out(number, middle.pk, user=editor)
    assert clusters() == {number: {first.pk, last.pk}}


def test_a_cluster_is_stored_with_its_days_its_size_its_state_and_its_weakest_edge(
    store: StoreArticle, editor: User
) -> None:
    a, b, c, d = (store(date=f"2026-03-0{day}") for day in (4, 2, 6, 9))
    make_pair(a, b, trigram=0.8)
    make_pair(a, c, trigram=0.7)
    alone = make_pair(c, d, verdict="similar", trigram=0.9)
    rebuild_clusters()
    [cluster] = Cluster.objects.all()
    columns = ("kept_id", "state", "size", "lowest_score", "first_day", "last_day")
    row = lambda: [getattr(Cluster.objects.get(pk=cluster.pk), name) for name in columns]  # noqa: E731
    assert row() == [b.pk, "proposed", 3, 0.7, b.date, c.date]
    decisions.decide_pair(alone.pk, "confirm", user=editor)
    assert row() == [b.pk, "proposed", 4, 0.7, b.date, d.date]
    decisions.confirm_cluster(cluster.pk, decisions.seen_as([article.pk for article in (a, b, c, d)]), user=editor)
    assert row() == [b.pk, "confirmed", 4, 1.0, b.date, d.date]
    [(articles, expected)] = expected_clusters().items()
    assert (articles, differs(cluster, expected)) == ((a.pk, b.pk, c.pk, d.pk), True)
    assert not differs(Cluster.objects.get(), expected)
    for name, value in (("kept_id", a.pk), ("size", 3), ("state", "proposed"), ("lowest_score", 0.5)):
        changed = Cluster.objects.get()
        setattr(changed, name, value)
        assert differs(changed, expected)


@pytest.mark.parametrize("kind", KEEPS)
def test_the_article_or_text_that_an_editor_chose_last_is_kept_unless_it_is_withheld(
    store: StoreArticle, editor: User, kind: Decision.Kind
) -> None:
    articles = [store(date=f"2026-03-0{day}") for day in (2, 3, 4)]
    a, b, c = articles
    number = make_cluster(*articles).pk

    def kept() -> Article:
        rebuild_clusters()
        cluster = Cluster.objects.get(pk=number)
        return cluster.kept_text or cluster.kept

    decisions.keep_article(number, c.pk, user=editor, kind=kind)
    latest = decisions.keep_article(number, b.pk, user=editor, kind=kind)
    assert kept() == b
    Article.objects.filter(pk=b.pk).update(withheld=True)
    assert kept() == c
    Article.objects.filter(pk=b.pk).update(withheld=False)
    decisions.undo(latest.pk, user=editor)
    assert kept() == c
    Article.objects.filter(pk__in=[a.pk, c.pk]).update(withheld=True)
    assert kept() == b
    Article.objects.update(withheld=True)
    assert kept() == a


def test_the_number_stays_with_most_of_the_articles_and_the_lower_one_if_as_many_were_in_both(
    store: StoreArticle,
) -> None:
    a, b, c, d, e = (store() for _ in range(5))
    first, second = make_cluster(a, b), make_cluster(c, d, e)
    bridge = make_pair(b, c, trigram=0.9)
    rebuild_clusters()
    assert list(clusters()) == [second.pk]
    Pair.objects.filter(pk=bridge.pk).delete()
    rebuild_clusters()
    assert clusters()[second.pk] == {c.pk, d.pk, e.pk}
    assert set(clusters()) - {second.pk, first.pk} != set()  # a number is not used again
    Pair.objects.filter(right=e).delete()
    rebuild_clusters()
    low, _ = sorted(clusters())
    make_pair(b, d, trigram=0.9)
    rebuild_clusters([b.pk])
    assert clusters() == {low: {a.pk, b.pk, c.pk, d.pk}}


def test_what_hung_on_a_cluster_that_is_gone_goes_with_it(store: StoreArticle, editor: User) -> None:
    gone, stays = make_cluster(store(), store(), store()), make_cluster(store(), store(), store())
    for lasting in (gone, stays):
        Lease.objects.create(cluster=lasting, user=editor, until=timezone.now())
        Postponement.objects.create(cluster=lasting, user=editor)
    Pair.objects.filter(left__membership__cluster=gone).update(joins=False, verdict="similar")
    rebuild_clusters()
    assert list(Cluster.objects.all()) == [stays]
    assert list(Lease.objects.values_list("cluster", flat=True)) == [stays.pk]
    assert list(Postponement.objects.values_list("cluster", flat=True)) == [stays.pk]


def test_articles_fall_into_parts_by_evidence_or_by_decisions_alone(store: StoreArticle, editor: User) -> None:
    a, b, c, d = (store() for _ in range(4))
    make_cluster(a, b, c)
    ids = [article.pk for article in (a, b, c, d)]
    assert loose_parts(ids, confirmed=False) == [a.pk, d.pk]
    assert loose_parts(ids, confirmed=True) == ids
    assert loose_parts(ids[1:], confirmed=False) == ids[1:]  # without the first, nothing holds the others together
    decisions.decide_pair(Pair.objects.get(left=a, right=c).pk, "confirm", user=editor)
    assert loose_parts(ids, confirmed=True) == [a.pk, b.pk, d.pk]
    assert loose_parts([], confirmed=False) == []


def test_webhooks_are_told_what_happened_to_clusters(
    store: StoreArticle, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    Webhook.objects.create(owner=editor, url="https://hooks.example/", secret="s", events=[])
    told: list[dict[str, list[int]]] = []
    monkeypatch.setattr(
        rebuild,
        "announce",
        lambda news: told.append({event.value: [row.pk for row in rows] for event, rows in news.items() if rows}),
    )
    a, b, c, d = (store() for _ in range(4))
    make_pair(a, b, trigram=0.9)
    rebuild_clusters()
    [first] = clusters()
    make_pair(b, c, trigram=0.9)
    rebuild_clusters([b.pk])
    decisions.keep_article(first, c.pk, user=editor)
    decisions.confirm_cluster(first, decisions.seen_as([a.pk, b.pk, c.pk]), user=editor)
    rebuild_clusters()
    make_pair(c, d, verdict="similar", trigram=0.5)
    decisions.decide_pair(Pair.objects.get(right=d).pk, "confirm", user=editor)
    decisions.take_out(first, d.pk, user=editor)
    number = decisions.confirm_cluster(first, decisions.seen_as([a.pk, b.pk, c.pk]), user=editor).cluster_number
    assert told == [
        {"cluster.new": [first]},
        {"cluster.changed": [first]},
        {"cluster.changed": [first]},
        {"cluster.confirmed": [first]},
        {"cluster.changed": [first]},
        {"cluster.changed": [first]},
    ]
    assert number == first

"""Clusters as they are stored: a whole archive at once, or the part around some articles."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from articles.models import Article
from dedup.clustering.rebuild import loose_parts, rebuild_clusters
from dedup.models import Membership, Pair
from dedup.review import decisions
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair

pytestmark = pytest.mark.django_db


def clusters() -> dict[int, set[int]]:
    """Return the articles of each cluster."""
    found: dict[int, set[int]] = {}
    for cluster, article in Membership.objects.values_list("cluster", "article"):
        found.setdefault(cluster, set()).add(article)
    return found


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


def test_a_full_text_joins_one_of_its_parts(parts: list[Article]) -> None:
    first, first_again, full, second, second_again = (article.pk for article in parts)
    rebuild_clusters()
    assert sorted(map(sorted, clusters().values())) == [[first, first_again, full], [second, second_again]]


def test_clusters_around_some_articles_are_those_of_all(parts: list[Article]) -> None:
    rebuild_clusters()
    expected = clusters()
    for article in parts:
        rebuild_clusters([article.pk])
        assert clusters() == expected
    Membership.objects.all().delete()
    rebuild_clusters([parts[4].pk])
    assert sorted(map(sorted, clusters().values())) == sorted(map(sorted, expected.values()))


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

"""Clusters of thousands of articles: the work of a decision grows with the articles, not with their square."""

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from articles.models import Article
from dedup.models import Cluster, DenseGroup, GroupMember, Membership, Pair
from dedup.review.answers import decisions
from dedup.review.rules.rules import make_group_rule
from tests.conftest import StoreArticle
from tests.dense import copies_of, write_group

pytestmark = pytest.mark.django_db

SIZE = 4_000
# For a single statement. A join of all articles of a cluster with each other took ten times as long.
LONGEST = "8s"


@pytest.fixture
def group(store: StoreArticle) -> DenseGroup:
    write_group(*copies_of(store(), SIZE))
    Pair.objects.update(verdict="duplicate", probability=0.95, duplicate_probability=0.95, joins=True)
    # The statistics say that there are no members of clusters, as they do before the first large one.
    first, *others = Article.objects.all()
    passing = Cluster.objects.create(kept=first, size=SIZE, lowest_score=0, first_day=first.date, last_day=first.date)
    Membership.objects.bulk_create(Membership(cluster=passing, article=article) for article in (first, *others))
    passing.delete()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE dedup_pair, dedup_membership, dedup_groupmember, articles_article")
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [LONGEST])
    return DenseGroup.objects.get()


@pytest.mark.slow
def test_a_decision_on_thousands_of_articles_is_quick(group: DenseGroup, editor: User) -> None:
    assert (group.size, GroupMember.objects.count()) == (SIZE, SIZE)
    confirmed = decisions.confirm_group(group.pk, seen=group.fingerprint, user=editor)
    assert confirmed.links.count() == SIZE - 1
    cluster = Cluster.objects.get()
    assert (cluster.size, cluster.state) == (SIZE, "confirmed")
    decisions.undo(confirmed.pk, user=editor)
    cluster.refresh_from_db()
    assert cluster.state == "proposed"
    taken = max(Membership.objects.values_list("article", flat=True))
    with transaction.atomic():
        decisions.take_out(cluster.pk, taken, user=editor)
        assert Cluster.objects.get().size == SIZE - 1
        transaction.set_rollback(True)
    assert make_group_rule(group.pk, user=editor) == Pair.objects.count()
    assert not Cluster.objects.exists()

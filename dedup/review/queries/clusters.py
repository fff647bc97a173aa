"""A cluster by its number, and what remains of one that is gone."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Max, QuerySet

from articles.numbers import read_number
from dedup.models import Cluster, Decision
from dedup.review.queries.history import with_actors


@dataclass(frozen=True)
class GoneCluster:
    """The decisions on a cluster that no longer exists, and the clusters that have its articles now."""

    cluster_number: int
    decisions: list[Decision]
    heirs: QuerySet[Cluster]
    may_have_existed: bool


def gone_cluster(cluster_id: int) -> GoneCluster:
    """Return what the page of a missing cluster shows."""
    decisions = list(decisions_on_cluster(cluster_id))
    articles = {article for decision in decisions for article in decision.articles}
    highest = Cluster.objects.aggregate(highest=Max("pk"))["highest"] or 0
    return GoneCluster(
        cluster_number=cluster_id,
        decisions=decisions,
        heirs=Cluster.objects.with_kept().filter(memberships__article__in=articles).distinct(),
        may_have_existed=bool(decisions) or cluster_id <= highest,
    )


def cluster_number(written: str) -> int | None:
    """Return the number of a cluster that an address names, whether it exists or not; None if it names none."""
    return read_number(written)


def find_cluster(cluster_id: int) -> Cluster | None:
    """Return a cluster with its kept article, if it exists."""
    return Cluster.objects.with_kept().filter(pk=cluster_id).first()


def decisions_on_cluster(cluster_id: int) -> QuerySet[Decision]:
    """Return the decisions on a cluster, the latest first."""
    return with_actors(Decision.objects.filter(cluster_number=cluster_id))

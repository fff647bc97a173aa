"""Clusters: their columns, the filter of their list, and their export with a row for each of their articles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import django_filters as filters
from django.db.models import Exists, OuterRef, QuerySet

from articles.models import Article, Newspaper
from articles.querysets import LONG_TEXTS
from dedup.models import Cluster, Membership
from dedup.models.pairs import ClusterQuerySet
from dedup.rows.articles import ARTICLE
from dedup.rows.columns import Column, ColumnType, Filter, Rows
from dedup.rows.files import Export, in_batches
from dedup.rows.filtering import ListFilter, filters_of, newspaper_filter

_article = ARTICLE.api_values()
_SIZE = Filter("size_from", "gte", "Minimum articles", "With so many articles or more.", least=2, most=2**31 - 1)
# What an article in a cluster has of it, too.
_OWN = (
    Column("id", "number of the cluster", ColumnType.INTEGER, file="cluster"),
    Column(
        "state",
        help="“proposed”, or “confirmed”: held together by decisions alone.",
        choices=tuple(Cluster.State.choices),
        filters=(Filter(everything="any state"),),
    ),
    Column("size", type=ColumnType.COUNT, help="The number of its articles.", filters=(_SIZE,)),
    Column(
        "lowest_probability",
        type=ColumnType.PROBABILITY,
        help="The lowest probability of the pairs that hold it together, 0 to 1.",
        source="lowest_score",
    ),
)
CLUSTER = Rows(
    "Articles that a reader would call the same.",
    (
        *_OWN,
        Column("first_day", type=ColumnType.DAY),
        Column("last_day", type=ColumnType.DAY),
        Column(
            "kept",
            of=ARTICLE,
            help="The article that represents the cluster.",
            source=lambda cluster: _article(cluster.kept, cluster=cluster.pk),
        ),
    ),
)
_MEMBER = Rows(
    "An article in a cluster.",
    (
        Column("cluster", of=Rows(CLUSTER.help, _OWN), file=""),
        Column(
            "kept",
            type=ColumnType.BOOLEAN,
            help="Whether this article represents the cluster.",
            source=lambda member: member.cluster.kept_id == member.article_id,
        ),
        Column("article", of=ARTICLE, file=""),
    ),
)


def _members(clusters: QuerySet[Any]) -> Iterator[Membership]:
    members = Membership.objects.filter(cluster__in=clusters.order_by().values("pk"))
    full = members.select_related("cluster", "article__newspaper").defer(*(f"article__{name}" for name in LONG_TEXTS))
    return chain.from_iterable(in_batches(full.order_by("cluster_id", "article_id")))


CLUSTERS = Export("clusters", "clusters, a row for each of their articles", _MEMBER, _members)


@filters_of(CLUSTER)
class ClusterFilter(ListFilter):
    """Filters clusters by state, size, newspaper and weakest link."""

    newspaper = newspaper_filter(method="by_newspaper")
    held = filters.ChoiceFilter(
        method="by_tie", choices=[("weak", "with a weak link")], label="Links", empty_label="any"
    )

    def by_newspaper(self, queryset: ClusterQuerySet, _name: str, value: Newspaper) -> ClusterQuerySet:
        members = Article.objects.filter(membership__cluster=OuterRef("pk"), newspaper=value)
        return queryset.filter(Exists(members))

    def by_tie(self, queryset: ClusterQuerySet, _name: str, _value: str) -> ClusterQuerySet:
        return queryset.weakly_held()

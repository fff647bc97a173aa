"""The filter of the list of clusters."""

from __future__ import annotations

from typing import ClassVar

import django_filters as filters
from django.db.models import Exists, OuterRef

from articles.models import Article, Newspaper
from dedup.models import Cluster
from dedup.models.querysets import ClusterQuerySet
from dedup.rows.filters.base import ListFilter, newspapers


class ClusterFilter(ListFilter):
    """Filters clusters by state, size, newspaper and weakest link."""

    state = filters.ChoiceFilter(choices=Cluster.State.choices, label="State", empty_label="any state")
    size_from = filters.NumberFilter(
        field_name="size", lookup_expr="gte", label="Minimum articles", min_value=2, max_value=1_000_000
    )
    newspaper = filters.ModelChoiceFilter(
        queryset=newspapers, method="by_newspaper", label="Newspaper", empty_label="any newspaper"
    )
    held = filters.ChoiceFilter(
        method="by_tie", choices=[("weak", "with a weak link")], label="Links", empty_label="any"
    )

    class Meta:
        model = Cluster
        fields: ClassVar[list[str]] = []

    def by_newspaper(self, queryset: ClusterQuerySet, _name: str, value: Newspaper) -> ClusterQuerySet:
        members = Article.objects.filter(membership__cluster=OuterRef("pk"), newspaper=value)
        return queryset.filter(Exists(members))

    def by_tie(self, queryset: ClusterQuerySet, _name: str, _value: str) -> ClusterQuerySet:
        return queryset.weakly_held()

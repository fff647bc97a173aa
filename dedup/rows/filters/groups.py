"""The filter of the list of dense groups."""

from __future__ import annotations

from typing import ClassVar

import django_filters as filters
from django.db.models import Exists, OuterRef, QuerySet

from articles.models import Newspaper
from dedup.models import DenseGroup, GroupMember
from dedup.rows.filters.base import ListFilter, newspapers


class GroupFilter(ListFilter):
    """Filters dense groups by newspaper, size and rule."""

    newspaper = filters.ModelChoiceFilter(
        queryset=newspapers, method="by_newspaper", label="Newspaper", empty_label="any newspaper"
    )
    size_from = filters.NumberFilter(
        field_name="size", lookup_expr="gte", label="Minimum articles", min_value=2, max_value=1_000_000_000
    )
    ruled = filters.ChoiceFilter(
        method="by_rule", choices=[("yes", "never duplicates"), ("no", "no rule")], label="Rule", empty_label="any"
    )

    class Meta:
        model = DenseGroup
        fields: ClassVar[list[str]] = []

    def by_newspaper(self, queryset: QuerySet[DenseGroup], _name: str, value: Newspaper) -> QuerySet[DenseGroup]:
        return queryset.filter(Exists(GroupMember.objects.filter(group=OuterRef("pk"), article__newspaper=value)))

    def by_rule(self, queryset: QuerySet[DenseGroup], _name: str, value: str) -> QuerySet[DenseGroup]:
        return queryset.filter(ruled_at__isnull=value == "no")

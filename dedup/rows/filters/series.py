"""The filter of the list of series."""

from __future__ import annotations

from typing import ClassVar

import django_filters as filters
from django.db.models import QuerySet

from dedup.models import Series
from dedup.rows.filters.base import ListFilter, newspapers


class SeriesFilter(ListFilter):
    """Filters series by newspaper, rule and headline."""

    newspaper = filters.ModelChoiceFilter(queryset=newspapers, label="Newspaper", empty_label="any newspaper")
    ruled = filters.ChoiceFilter(
        method="by_rule",
        choices=[("yes", "never duplicates"), ("no", "no rule")],
        label="Rule",
        empty_label="any",
    )
    headline = filters.CharFilter(
        field_name="headline", lookup_expr="icontains", label="Words in the headline", max_length=200
    )

    class Meta:
        model = Series
        fields: ClassVar[list[str]] = []

    def by_rule(self, queryset: QuerySet[Series], _name: str, value: str) -> QuerySet[Series]:
        return queryset.filter(ruled_at__isnull=value == "no")

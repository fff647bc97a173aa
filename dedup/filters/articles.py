"""Which articles are listed."""

from __future__ import annotations

from typing import ClassVar

import django_filters as filters
from django.db.models import Q, QuerySet

from articles.models import Article
from dedup.filters.base import DayInput, ListFilter, newspapers

# What of the articles themselves an editor may want to look at.
LOOK_AT = {
    "day": ("days in doubt", ~Q(date_doubt="")),
    "paywall": ("paywalled articles", Q(paywalled=True)),
    "agency": ("credited to an agency", ~Q(agency="")),
}


class ArticleFilter(ListFilter):
    """Which articles."""

    newspaper = filters.ModelChoiceFilter(queryset=newspapers, label="Newspaper", empty_label="any newspaper")
    date_from = filters.DateFilter(field_name="date", lookup_expr="gte", label="Published from", widget=DayInput())
    date_to = filters.DateFilter(field_name="date", lookup_expr="lte", label="Published to", widget=DayInput())
    headline = filters.CharFilter(
        field_name="headline", lookup_expr="icontains", label="Words in the headline", max_length=200
    )

    look = filters.ChoiceFilter(
        choices=[(name, label) for name, (label, _) in LOOK_AT.items()],
        method="filter_look",
        label="Look at",
        empty_label="all",
    )

    class Meta:
        model = Article
        fields: ClassVar[list[str]] = []

    def filter_look(self, queryset: QuerySet[Article], _name: str, value: str) -> QuerySet[Article]:
        """Narrow to what an editor should look at."""
        return queryset.filter(LOOK_AT[value][1])

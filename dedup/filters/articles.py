"""The filter of the list of articles."""

from __future__ import annotations

from typing import ClassVar

import django_filters as filters
from django.db.models import Q, QuerySet

from articles.models import Article
from dedup.filters.base import DayInput, ListFilter, newspapers

# Groups of articles that an editor may want to check.
LOOK_AT = {
    "day": ("uncertain date", ~Q(date_doubt="")),
    "paywall": ("behind a paywall", Q(paywalled=True)),
    "agency": ("from a news agency", ~Q(agency="")),
}


class ArticleFilter(ListFilter):
    """Filters articles by newspaper, day, headline and group."""

    newspaper = filters.ModelChoiceFilter(queryset=newspapers, label="Newspaper", empty_label="any newspaper")
    date_from = filters.DateFilter(field_name="date", lookup_expr="gte", label="Published from", widget=DayInput())
    date_to = filters.DateFilter(field_name="date", lookup_expr="lte", label="Published to", widget=DayInput())
    headline = filters.CharFilter(
        field_name="headline", lookup_expr="icontains", label="Words in the headline", max_length=200
    )

    look = filters.ChoiceFilter(
        choices=[(name, label) for name, (label, _) in LOOK_AT.items()],
        method="filter_look",
        label="Show",
        empty_label="all articles",
    )

    class Meta:
        model = Article
        fields: ClassVar[list[str]] = []

    def filter_look(self, queryset: QuerySet[Article], _name: str, value: str) -> QuerySet[Article]:
        """Return the articles of the chosen group in LOOK_AT."""
        return queryset.filter(LOOK_AT[value][1])

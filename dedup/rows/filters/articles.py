"""The filter of the list of articles."""

from __future__ import annotations

from typing import ClassVar

import django_filters as filters
from django import forms
from django.db.models import F, Q, QuerySet

from articles.models import Article
from articles.querysets import ArticleQuerySet
from dedup.review.queries.articles import MAX_CHARACTERS, is_address, matching
from dedup.rows.filters.base import DayInput, ListFilter, newspapers

# Groups of articles that an editor may want to check.
LOOK_AT = {
    "day": ("uncertain date", ~Q(date_doubt="")),
    "text": ("uncertain text", ~Q(text_doubt="")),
    "paywall": ("behind a paywall", Q(paywalled=True)),
    "agency": ("from a news agency", ~Q(agency="")),
    "duplicate": (
        "duplicates: in a cluster that another article represents",
        Q(membership__isnull=False) & ~Q(membership__cluster__kept=F("pk")),
    ),
}


class ArticleFilter(ListFilter):
    """Filters articles by what was typed into the search box, newspaper, day and group."""

    # Typed into a box of its own, above the filter.
    q = filters.CharFilter(method="by_text", label="Search", max_length=MAX_CHARACTERS, widget=forms.HiddenInput())
    newspaper = filters.ModelChoiceFilter(queryset=newspapers, label="Newspaper", empty_label="any newspaper")
    date_from = filters.DateFilter(field_name="date", lookup_expr="gte", label="Published from", widget=DayInput())
    date_to = filters.DateFilter(field_name="date", lookup_expr="lte", label="Published to", widget=DayInput())
    look = filters.ChoiceFilter(
        choices=[(name, label) for name, (label, _) in LOOK_AT.items()],
        method="filter_look",
        label="Show",
        empty_label="all articles",
    )

    class Meta:
        model = Article
        fields: ClassVar[list[str]] = []

    @property
    def searched(self) -> str:
        """What was typed into the search box."""
        typed: str = self._values().get("q") or ""
        return typed

    @property
    def searched_url(self) -> str:
        """The same if it is a URL or a part of one, else empty."""
        return self.searched if is_address(self.searched) else ""

    def by_text(self, queryset: ArticleQuerySet, _name: str, value: str) -> QuerySet[Article]:
        """Return the articles with this number, URL or part of one, or with these words in the headline."""
        return matching(queryset, value)

    def filter_look(self, queryset: QuerySet[Article], _name: str, value: str) -> QuerySet[Article]:
        """Return the articles of the chosen group in LOOK_AT."""
        return queryset.filter(LOOK_AT[value][1])

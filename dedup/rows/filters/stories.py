"""The filter of the stories."""

from __future__ import annotations

from typing import ClassVar

import django_filters as filters
from django import forms
from django.db.models import QuerySet

from articles.models import Article, Newspaper
from articles.paging import COUNT_CEILING, DEAR_CEILING
from dedup.review.queries.articles import MAX_CHARACTERS, matching
from dedup.review.queries.stories import having, in_several_newspapers
from dedup.rows.filters.base import DayInput, ListFilter, newspapers


class StoryFilter(ListFilter):
    """Filters stories by words of a headline, newspaper, day and number of newspapers; any of their articles counts."""

    q = filters.CharFilter(method="by_words", label="Search", max_length=MAX_CHARACTERS, widget=forms.HiddenInput())
    newspaper = filters.ModelChoiceFilter(
        queryset=newspapers, method="by_newspaper", label="Newspaper", empty_label="any newspaper"
    )
    date_from = filters.DateFilter(field_name="date", lookup_expr="gte", label="Published from", widget=DayInput())
    date_to = filters.DateFilter(field_name="date", lookup_expr="lte", label="Published to", widget=DayInput())
    papers = filters.ChoiceFilter(
        choices=[("2", "two or more"), ("3", "three or more"), ("5", "five or more")],
        method="by_papers",
        label="Newspapers that have it",
        empty_label="any number",
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
    def ceiling(self) -> int:
        """Up to how many stories are counted: fewer if their articles or newspapers have to be looked up."""
        values = self._values()
        return DEAR_CEILING if any(values.get(name) for name in ("q", "newspaper", "papers")) else COUNT_CEILING

    def by_words(self, queryset: QuerySet[Article], _name: str, value: str) -> QuerySet[Article]:
        """Return the stories with an article that has these words in its headline, or this number or URL."""
        return having(queryset, matching(Article.objects.all(), value))

    def by_newspaper(self, queryset: QuerySet[Article], _name: str, value: Newspaper) -> QuerySet[Article]:
        """Return the stories that this newspaper has."""
        return having(queryset, Article.objects.filter(newspaper=value))

    def by_papers(self, queryset: QuerySet[Article], _name: str, value: str) -> QuerySet[Article]:
        """Return the stories that so many newspapers have."""
        return in_several_newspapers(queryset, int(value))

"""The filter of the list of repeated sentences."""

from __future__ import annotations

import datetime
from typing import ClassVar

import django_filters as filters
from django.db.models import QuerySet

from articles.boilerplate.rules import monday_of
from articles.models import RepeatedSentence
from dedup.rows.filters.base import DayInput, ListFilter, newspapers, read_together


class BoilerplateFilter(ListFilter):
    """Filters repeated sentences by newspaper, week, words and kind."""

    newspaper = filters.ModelChoiceFilter(queryset=newspapers, label="Newspaper", empty_label="any newspaper")
    week = filters.DateFilter(method="by_week", label="In the week of", widget=DayInput())
    sentence = filters.CharFilter(
        field_name="sentence", lookup_expr="icontains", label="Words in the sentence", max_length=200
    )
    kind = filters.ChoiceFilter(
        method=read_together,
        choices=[(kind.value, f"kept: {kind.label}") for kind in list(RepeatedSentence.Kind)[1:]],
        label="Kind",
        empty_label="boilerplate",
    )

    class Meta:
        model = RepeatedSentence
        fields: ClassVar[list[str]] = []

    def filter_queryset(self, queryset: QuerySet[RepeatedSentence]) -> QuerySet[RepeatedSentence]:
        """Return the sentences that match: boilerplate, unless another kind is chosen."""
        kind = self.form.cleaned_data.get("kind") or RepeatedSentence.Kind.BOILERPLATE
        return super().filter_queryset(queryset).filter(kind=kind)

    def by_week(
        self, queryset: QuerySet[RepeatedSentence], _name: str, value: datetime.date
    ) -> QuerySet[RepeatedSentence]:
        return queryset.filter(week=monday_of(value))

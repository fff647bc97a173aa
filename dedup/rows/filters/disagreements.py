"""The filter of disagreements."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters as filters
from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, Q, QuerySet

from dedup.models import SecondReading
from dedup.review.readings.second_readings import in_dispute
from dedup.rows.filters.base import ListFilter


def _readers(*_args: Any) -> QuerySet[Any]:
    first = Exists(SecondReading.objects.filter(decision__decided_by=OuterRef("pk")))
    second = Exists(SecondReading.objects.filter(user=OuterRef("pk")))
    return get_user_model().objects.filter(first | second).order_by("username")


class DisagreementFilter(ListFilter):
    """Filters disagreements by editor, whoever of the two it was, and by whether they are settled."""

    editor = filters.ModelChoiceFilter(queryset=_readers, method="by_editor", label="Editor", empty_label="any editor")
    state = filters.ChoiceFilter(
        choices=[("open", "open"), ("settled", "settled")],
        method="by_state",
        label="State",
        empty_label="open or settled",
    )

    class Meta:
        model = SecondReading
        fields: ClassVar[list[str]] = []

    def by_editor(self, queryset: QuerySet[SecondReading], _name: str, value: Any) -> QuerySet[SecondReading]:
        return queryset.filter(Q(user=value) | Q(decision__decided_by=value))

    def by_state(self, queryset: QuerySet[SecondReading], _name: str, value: str) -> QuerySet[SecondReading]:
        return queryset.filter(pk__in=in_dispute(is_open=value == "open").values("pk"))

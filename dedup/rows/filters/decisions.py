"""The filter of the history of decisions."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters as filters
from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, QuerySet

from dedup.models import Decision
from dedup.rows.filters.base import ListFilter


def _deciders(*_args: Any) -> QuerySet[Any]:
    return (
        get_user_model().objects.filter(Exists(Decision.objects.filter(decided_by=OuterRef("pk")))).order_by("username")
    )


class DecisionFilter(ListFilter):
    """Filters decisions by editor and kind."""

    decided_by = filters.ModelChoiceFilter(queryset=_deciders, label="Editor", empty_label="any editor")
    kind = filters.ChoiceFilter(choices=Decision.KINDS, label="Decision", empty_label="any decision")

    class Meta:
        model = Decision
        fields: ClassVar[list[str]] = []

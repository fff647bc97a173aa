"""The filters of lists that only pages have: series, dense groups, repeated sentences and disagreements."""

from __future__ import annotations

from typing import Any

import django_filters as filters
from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, Q, QuerySet

from articles.boilerplate.rules import monday_of
from articles.models import Newspaper, RepeatedSentence
from dedup.models import DenseGroup, GroupMember, SecondReading
from dedup.review.readings.second_readings import in_dispute
from dedup.rows.filtering import MOST_CHARACTERS, DayInput, ListFilter, newspaper_filter, read_together


def _ruled() -> filters.ChoiceFilter:
    """Return the filter by whether an editor ruled that the articles are never duplicates."""
    return filters.ChoiceFilter(
        method=lambda rows, _name, ruled: rows.filter(ruled_at__isnull=ruled == "no"),
        choices=(("yes", "never duplicates"), ("no", "no rule")),
        label="Rule",
        empty_label="any",
    )


class SeriesFilter(ListFilter):
    """Filters series by newspaper, rule and headline."""

    newspaper = newspaper_filter()
    ruled = _ruled()
    headline = filters.CharFilter(lookup_expr="icontains", label="Words in the headline", max_length=MOST_CHARACTERS)


class GroupFilter(ListFilter):
    """Filters dense groups by newspaper, size and rule."""

    newspaper = newspaper_filter(method="by_newspaper")
    size_from = filters.NumberFilter("size", "gte", label="Minimum articles", min_value=2, max_value=10**9)
    ruled = _ruled()

    def by_newspaper(self, queryset: QuerySet[DenseGroup], _name: str, value: Newspaper) -> QuerySet[DenseGroup]:
        return queryset.filter(Exists(GroupMember.objects.filter(group=OuterRef("pk"), article__newspaper=value)))


class BoilerplateFilter(ListFilter):
    """Filters repeated sentences by newspaper, week, words and kind."""

    newspaper = newspaper_filter()
    week = filters.DateFilter(
        method=lambda sentences, _name, day: sentences.filter(week=monday_of(day)),
        label="In the week of",
        widget=DayInput(),
    )
    sentence = filters.CharFilter(lookup_expr="icontains", label="Words in the sentence", max_length=MOST_CHARACTERS)
    kind = filters.ChoiceFilter(
        method=read_together,
        choices=[(kind.value, f"kept: {kind.label}") for kind in list(RepeatedSentence.Kind)[1:]],
        label="Kind",
        empty_label="boilerplate",
    )

    def filter_queryset(self, queryset: QuerySet[RepeatedSentence]) -> QuerySet[RepeatedSentence]:
        """Return the sentences that match: boilerplate, unless another kind is chosen."""
        kind = self.form.cleaned_data.get("kind") or RepeatedSentence.Kind.BOILERPLATE
        return super().filter_queryset(queryset).filter(kind=kind)


def _readers(*_args: Any) -> QuerySet[Any]:
    first = Exists(SecondReading.objects.filter(decision__decided_by=OuterRef("pk")))
    second = Exists(SecondReading.objects.filter(user=OuterRef("pk")))
    return get_user_model().objects.filter(first | second).order_by("username")


class DisagreementFilter(ListFilter):
    """Filters disagreements by editor, whoever of the two it was, and by whether they are settled."""

    editor = filters.ModelChoiceFilter(
        method=lambda read, _name, editor: read.filter(Q(user=editor) | Q(decision__decided_by=editor)),
        queryset=_readers,
        label="Editor",
        empty_label="any editor",
    )
    state = filters.ChoiceFilter(
        choices=[("open", "open"), ("settled", "settled")],
        method=lambda read, _name, state: read.filter(pk__in=in_dispute(is_open=state == "open").values("pk")),
        label="State",
        empty_label="open or settled",
    )

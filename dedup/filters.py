"""What the lists of the desk can be narrowed to. A value that makes no sense is reported and passed over."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters as filters
from django import forms
from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, Q, QuerySet

from articles.models import Article, Newspaper
from dedup.models import Cluster, Decision, Evidence, Pair
from dedup.passes import PASSES

ORDERINGS = {
    "": ("highest score first", ("-best_score", "id")),
    "score": ("lowest score first", ("best_score", "id")),
    "-date": ("newest first", ("-left__date", "-id")),
    "date": ("oldest first", ("left__date", "id")),
}
ANY_STATE = "any"


class DayInput(forms.DateInput):
    """A day, picked from the browser's calendar."""

    input_type = "date"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs, format="%Y-%m-%d")


class _Set(filters.FilterSet):
    """A form with GET; the widgets look like the rest of the desk."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.form.fields.values():
            select = isinstance(field.widget, forms.Select)
            field.widget.attrs["class"] = "form-select form-select-sm" if select else "form-control form-control-sm"

    @property
    def chosen(self) -> int:
        """The number of fields that narrow the list."""
        return sum(1 for name, value in self._values().items() if value not in (None, "") and name != "sort")

    def _values(self) -> dict[str, Any]:
        self.form.is_valid()  # fills cleaned_data with the fields that make sense
        return self.form.cleaned_data


def _kept_by_whole(queryset: QuerySet[Any], _name: str, _value: Any) -> QuerySet[Any]:
    """Leave the rows to `filter_queryset`, where this field is read together with others."""
    return queryset


def _newspapers(*_args: Any) -> QuerySet[Newspaper]:
    return Newspaper.objects.all()


def _score(label: str) -> filters.NumberFilter:
    widget = forms.NumberInput(attrs={"min": 0, "max": 1, "step": "any", "placeholder": "0 … 1"})
    return filters.NumberFilter(method=_kept_by_whole, label=label, min_value=0, max_value=1, widget=widget)


class PairFilter(_Set):
    """The queue's filter: which pairs, and in which order."""

    pass_name = filters.ChoiceFilter(method=_kept_by_whole, label="Pass", empty_label="any pass")
    score_from = _score("Score from")
    score_to = _score("Score to")
    newspaper = filters.ModelChoiceFilter(
        queryset=_newspapers, method="by_newspaper", label="Newspaper", empty_label="any newspaper"
    )
    same = filters.ChoiceFilter(
        field_name="same_newspaper",
        choices=[("True", "yes, the same"), ("False", "no, different ones")],
        label="Same newspaper",
        empty_label="same or different",
    )
    date_from = filters.DateFilter(method=_kept_by_whole, label="Published from", widget=DayInput())
    date_to = filters.DateFilter(method=_kept_by_whole, label="Published to", widget=DayInput())
    headline = filters.CharFilter(method="by_headline", label="Words in a headline", max_length=200)
    state = filters.ChoiceFilter(
        method=_kept_by_whole,
        choices=[*((value, label) for value, label in Pair.State.choices if value != "undecided"), (ANY_STATE, "any")],
        label="State",
        empty_label="waiting for a decision",
    )
    sort = filters.ChoiceFilter(
        method=_kept_by_whole,
        choices=[(value, label) for value, (label, _) in ORDERINGS.items() if value],
        label="Order",
        empty_label=ORDERINGS[""][0],
    )

    class Meta:
        model = Pair
        fields: ClassVar[list[str]] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.form.fields["pass_name"].choices = [
            ("", "any pass"),
            *((each.name, each.label) for each in PASSES.values()),
        ]

    @property
    def ordering(self) -> tuple[str, ...]:
        """The fields that the chosen order sorts by."""
        return ORDERINGS[self._values().get("sort") or ""][1]

    def filter_queryset(self, queryset: QuerySet[Pair]) -> QuerySet[Pair]:
        """Return the pairs that pass the filter, in no order."""
        values = self.form.cleaned_data
        queryset = super().filter_queryset(queryset)
        queryset = _in_state(queryset, values.get("state"))
        queryset = _scored(queryset, values.get("pass_name"), values.get("score_from"), values.get("score_to"))
        return _published(queryset, values.get("date_from"), values.get("date_to"))

    def by_newspaper(self, queryset: QuerySet[Pair], _name: str, value: Newspaper) -> QuerySet[Pair]:
        return queryset.filter(Q(left__newspaper=value) | Q(right__newspaper=value))

    def by_headline(self, queryset: QuerySet[Pair], _name: str, value: str) -> QuerySet[Pair]:
        return queryset.filter(Q(left__headline__icontains=value) | Q(right__headline__icontains=value))


def _in_state(pairs: QuerySet[Pair], state: str | None) -> QuerySet[Pair]:
    if not state:
        return pairs.filter(state=Pair.State.UNDECIDED, best_score__gt=0)
    return pairs if state == ANY_STATE else pairs.filter(state=state)


def _scored(pairs: QuerySet[Pair], pass_name: str | None, low: Any, high: Any) -> QuerySet[Pair]:
    """Bound the best score or, where a pass is chosen, the score of that pass."""
    field = "score" if pass_name else "best_score"
    bounds = {f"{field}__gte": low, f"{field}__lte": high}
    bounds = {name: float(value) for name, value in bounds.items() if value is not None}
    if not pass_name:
        return pairs.filter(**bounds)
    found = Evidence.objects.filter(pair=OuterRef("pk"), pass_name=pass_name, stale=False, **bounds)
    return pairs.filter(Exists(found))


def _published(pairs: QuerySet[Pair], first: Any, last: Any) -> QuerySet[Pair]:
    """Return the pairs of which at least one article was published from `first` to `last`."""
    sides = Q()
    for side in ("left", "right"):
        bounds = {f"{side}__date__gte": first, f"{side}__date__lte": last}
        sides |= Q(**{name: value for name, value in bounds.items() if value is not None})
    return pairs.filter(sides)


class ClusterFilter(_Set):
    """Which clusters."""

    state = filters.ChoiceFilter(choices=Cluster.State.choices, label="State", empty_label="any state")
    size_from = filters.NumberFilter(
        field_name="size", lookup_expr="gte", label="Articles, at least", min_value=2, max_value=1_000_000
    )
    newspaper = filters.ModelChoiceFilter(
        queryset=_newspapers, method="by_newspaper", label="Newspaper", empty_label="any newspaper"
    )

    class Meta:
        model = Cluster
        fields: ClassVar[list[str]] = []

    def by_newspaper(self, queryset: QuerySet[Cluster], _name: str, value: Newspaper) -> QuerySet[Cluster]:
        members = Article.objects.filter(membership__cluster=OuterRef("pk"), newspaper=value)
        return queryset.filter(Exists(members))


class ArticleFilter(_Set):
    """Which articles."""

    newspaper = filters.ModelChoiceFilter(queryset=_newspapers, label="Newspaper", empty_label="any newspaper")
    date_from = filters.DateFilter(field_name="date", lookup_expr="gte", label="Published from", widget=DayInput())
    date_to = filters.DateFilter(field_name="date", lookup_expr="lte", label="Published to", widget=DayInput())
    headline = filters.CharFilter(
        field_name="headline", lookup_expr="icontains", label="Words in the headline", max_length=200
    )

    class Meta:
        model = Article
        fields: ClassVar[list[str]] = []


def _deciders(*_args: Any) -> QuerySet[Any]:
    return (
        get_user_model().objects.filter(Exists(Decision.objects.filter(decided_by=OuterRef("pk")))).order_by("username")
    )


class DecisionFilter(_Set):
    """Which decisions."""

    decided_by = filters.ModelChoiceFilter(queryset=_deciders, label="By", empty_label="anybody")
    kind = filters.ChoiceFilter(choices=Decision.Kind.choices, label="What", empty_label="anything")

    class Meta:
        model = Decision
        fields: ClassVar[list[str]] = []

"""What the lists of the desk can be narrowed to. A value that makes no sense is reported and passed over."""

from __future__ import annotations

import datetime
from typing import Any, ClassVar

import django_filters as filters
from django import forms
from django.contrib.auth import get_user_model
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Abs

from articles.boilerplate.rules import monday_of
from articles.models import Article, Newspaper, RepeatedSentence
from dedup.models import Cluster, Decision, Evidence, Pair, Series, Verdict
from dedup.passes import PASSES
from dedup.querysets import PairQuerySet
from dedup.review.series_rules import members_of

# From this probability of being duplicates on, an editor is asked about a pair whatever its verdict is.
LEAST_PROBABILITY = 0.1
MAY_BE_DUPLICATES = Q(verdict__in=[Verdict.DUPLICATE, Verdict.VERSION]) | Q(
    duplicate_probability__gte=LEAST_PROBABILITY
)
# A cluster of which one tie is less probable than this is shown as held by a weak pair.
WEAK_TIE = 0.75
WEAKLY_HELD = Q(state=Cluster.State.PROPOSED, lowest_score__lt=WEAK_TIE)

# By probability, only the pairs that have one are listed.
BY_PROBABILITY = ("", "doubt")
ORDERINGS = {
    "": ("most probable first", ("-duplicate_probability", "id")),
    "doubt": ("most doubtful first", ("doubt", "id")),
    "-score": ("highest score first", ("-best_score", "id")),
    "score": ("lowest score first", ("best_score", "id")),
    "-date": ("newest first", ("-left__date", "-id")),
    "date": ("oldest first", ("left__date", "id")),
}
# How far a pair is from being a clear case, 0..0.5.
DOUBT = Abs(F("duplicate_probability") - 0.5)
ANY = "any"
UNJUDGED = "unjudged"
# In the order of the form; the first, which needs no name in the address, is what an editor is asked first.
VERDICTS = {
    "": ("may be duplicates", MAY_BE_DUPLICATES),
    **{kind.value: (kind.label, Q(verdict=kind)) for kind in Verdict},
    UNJUDGED: ("not yet judged", Q(verdict="")),
    ANY: ("any", Q()),
}


# What of the articles themselves an editor may want to look at.
LOOK_AT = {
    "day": ("days in doubt", ~Q(date_doubt="")),
    "paywall": ("paywalled articles", Q(paywalled=True)),
    "agency": ("credited to an agency", ~Q(agency="")),
}


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


def _series(*_args: Any) -> QuerySet[Series]:
    return Series.objects.all()


def _score(label: str) -> filters.NumberFilter:
    widget = forms.NumberInput(attrs={"min": 0, "max": 1, "step": "any", "placeholder": "0 … 1"})
    return filters.NumberFilter(method=_kept_by_whole, label=label, min_value=0, max_value=1, widget=widget)


class PairFilter(_Set):
    """The queue's filter: which pairs, and in which order."""

    verdict = filters.ChoiceFilter(
        method=_kept_by_whole,
        choices=[(value, label) for value, (label, _) in VERDICTS.items() if value],
        label="Verdict",
        empty_label=VERDICTS[""][0],
    )
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
        choices=[*((value, label) for value, label in Pair.State.choices if value != "undecided"), (ANY, "any")],
        label="State",
        empty_label="waiting for a decision",
    )
    sort = filters.ChoiceFilter(
        method=_kept_by_whole,
        choices=[(value, label) for value, (label, _) in ORDERINGS.items() if value],
        label="Order",
        empty_label=ORDERINGS[""][0],
    )

    # Set by the links of a series' page; the list then names the series.
    series = filters.ModelChoiceFilter(queryset=_series, method="by_series", label="Series", widget=forms.HiddenInput())

    class Meta:
        model = Pair
        fields: ClassVar[list[str]] = []

    def __init__(self, data: Any) -> None:
        super().__init__(data, Pair.objects.annotate(doubt=DOUBT))
        self.form.fields["pass_name"].choices = [
            ("", "any pass"),
            *((each.name, each.label) for each in PASSES.values()),
        ]

    @property
    def ordering(self) -> tuple[str, ...]:
        """The fields that the chosen order sorts by."""
        return ORDERINGS[self._sort][1]

    @property
    def hidden_unjudged(self) -> PairQuerySet:
        """Return the pairs that would be listed if they had a verdict."""
        if (self._values().get("verdict") or "") not in ("", ANY) or self._sort not in BY_PROBABILITY:
            return Pair.objects.none()
        return self._bounded(self.queryset.filter(duplicate_probability=None))

    @property
    def chosen_series(self) -> Series | None:
        """The series whose pairs alone are listed."""
        return self._values().get("series")

    @property
    def _sort(self) -> str:
        values = self._values()
        sort: str = values.get("sort") or ""
        return "-score" if values.get("verdict") == UNJUDGED and sort in BY_PROBABILITY else sort

    def filter_queryset(self, queryset: PairQuerySet) -> PairQuerySet:
        """Return the pairs that pass the filter, in no order."""
        queryset = queryset.filter(VERDICTS[self.form.cleaned_data.get("verdict") or ""][1])
        if self._sort in BY_PROBABILITY:
            queryset = queryset.filter(duplicate_probability__isnull=False)
        return self._bounded(queryset)

    def _bounded(self, queryset: PairQuerySet) -> PairQuerySet:
        """Apply every field but the verdict."""
        values = self._values()
        queryset = super().filter_queryset(queryset)
        queryset = _in_state(queryset, values.get("state"))
        queryset = _scored(queryset, values.get("pass_name"), values.get("score_from"), values.get("score_to"))
        return _published(queryset, values.get("date_from"), values.get("date_to"))

    def by_newspaper(self, queryset: PairQuerySet, _name: str, value: Newspaper) -> PairQuerySet:
        return queryset.filter(Q(left__newspaper=value) | Q(right__newspaper=value))

    def by_headline(self, queryset: PairQuerySet, _name: str, value: str) -> PairQuerySet:
        return queryset.filter(Q(left__headline__icontains=value) | Q(right__headline__icontains=value))

    def by_series(self, queryset: PairQuerySet, _name: str, value: Series) -> PairQuerySet:
        return queryset.among(members_of(value))


def _in_state(pairs: PairQuerySet, state: str | None) -> PairQuerySet:
    if not state:
        return pairs.in_queue()
    return pairs if state == ANY else pairs.filter(state=state)


def _scored(pairs: PairQuerySet, pass_name: str | None, low: Any, high: Any) -> PairQuerySet:
    """Bound the best score or, where a pass is chosen, the score of that pass."""
    field = "score" if pass_name else "best_score"
    bounds = {f"{field}__gte": low, f"{field}__lte": high}
    bounds = {name: float(value) for name, value in bounds.items() if value is not None}
    if not pass_name:
        return pairs.filter(**bounds)
    found = Evidence.objects.filter(pair=OuterRef("pk"), pass_name=pass_name, stale=False, **bounds)
    return pairs.filter(Exists(found))


def _published(pairs: PairQuerySet, first: Any, last: Any) -> PairQuerySet:
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
    held = filters.ChoiceFilter(
        method="by_tie", choices=[("weak", "by a weak pair")], label="Held together", empty_label="by any pairs"
    )

    class Meta:
        model = Cluster
        fields: ClassVar[list[str]] = []

    def by_newspaper(self, queryset: QuerySet[Cluster], _name: str, value: Newspaper) -> QuerySet[Cluster]:
        members = Article.objects.filter(membership__cluster=OuterRef("pk"), newspaper=value)
        return queryset.filter(Exists(members))

    def by_tie(self, queryset: QuerySet[Cluster], _name: str, _value: str) -> QuerySet[Cluster]:
        return queryset.filter(WEAKLY_HELD)


class SeriesFilter(_Set):
    """Which series."""

    newspaper = filters.ModelChoiceFilter(queryset=_newspapers, label="Newspaper", empty_label="any newspaper")
    ruled = filters.ChoiceFilter(
        method="by_rule",
        choices=[("yes", "a rule: never duplicates"), ("no", "no rule")],
        label="Rule",
        empty_label="with and without a rule",
    )
    headline = filters.CharFilter(
        field_name="headline", lookup_expr="icontains", label="Words in the headline", max_length=200
    )

    class Meta:
        model = Series
        fields: ClassVar[list[str]] = []

    def by_rule(self, queryset: QuerySet[Series], _name: str, value: str) -> QuerySet[Series]:
        return queryset.filter(ruled_at__isnull=value == "no")


class BoilerplateFilter(_Set):
    """Which repeated sentences."""

    newspaper = filters.ModelChoiceFilter(queryset=_newspapers, label="Newspaper", empty_label="any newspaper")
    week = filters.DateFilter(method="by_week", label="Week of this day", widget=DayInput())
    sentence = filters.CharFilter(
        field_name="sentence", lookup_expr="icontains", label="Words in the sentence", max_length=200
    )
    kind = filters.ChoiceFilter(
        method=_kept_by_whole,
        choices=[(kind.value, f"kept: {kind.label}") for kind in list(RepeatedSentence.Kind)[1:]],
        label="What it is",
        empty_label="boilerplate",
    )

    class Meta:
        model = RepeatedSentence
        fields: ClassVar[list[str]] = []

    def filter_queryset(self, queryset: QuerySet[RepeatedSentence]) -> QuerySet[RepeatedSentence]:
        """Return the sentences that pass the filter: boilerplate, unless another kind is chosen."""
        kind = self.form.cleaned_data.get("kind") or RepeatedSentence.Kind.BOILERPLATE
        return super().filter_queryset(queryset).filter(kind=kind)

    def by_week(
        self, queryset: QuerySet[RepeatedSentence], _name: str, value: datetime.date
    ) -> QuerySet[RepeatedSentence]:
        return queryset.filter(week=monday_of(value))


class ArticleFilter(_Set):
    """Which articles."""

    newspaper = filters.ModelChoiceFilter(queryset=_newspapers, label="Newspaper", empty_label="any newspaper")
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

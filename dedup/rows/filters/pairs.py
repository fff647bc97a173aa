"""The filter and the order of the queue of pairs."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters as filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.functional import cached_property

from articles.models import Article, Newspaper
from articles.paging import COUNT_CEILING, DEAR_CEILING
from articles.querysets import given
from dedup.detection.passes import PASSES
from dedup.models import DenseGroup, Evidence, Pair, Series
from dedup.models.querysets import PairQuerySet
from dedup.review.queries.lists import ANY, FEW, UNJUDGED, VERDICTS, IsAnyOf, Narrowing, Numbers, few_of
from dedup.review.queries.series_and_groups import members_of
from dedup.rows.filters.base import DayInput, ListFilter, Once, newspapers, read_together

FEW_OF_TWO = 4 * FEW
# Orderings by probability, which list only pairs that have one.
BY_PROBABILITY = ("", "doubt")
ORDERINGS = {
    "": ("most probable first", ("-duplicate_probability", "id")),
    "doubt": ("most doubtful first", ("doubt", "id")),
    "-score": ("highest score first", ("-best_score", "id")),
    "score": ("lowest score first", ("best_score", "id")),
    "-date": ("newest first", ("-left__date", "-id")),
    "date": ("oldest first", ("left__date", "id")),
}


def _series(*_args: Any) -> QuerySet[Series]:
    return Series.objects.all()


def _groups(*_args: Any) -> QuerySet[DenseGroup]:
    return DenseGroup.objects.all()


def _score(label: str) -> filters.NumberFilter:
    widget = forms.NumberInput(attrs={"min": 0, "max": 1, "step": "any", "placeholder": "0 … 1"})
    return filters.NumberFilter(method=read_together, label=label, min_value=0, max_value=1, widget=widget)


class PairFilter(ListFilter):
    """Filters and orders the pairs of the queue."""

    verdict = filters.ChoiceFilter(
        method=read_together,
        choices=[(value, label) for value, (label, _) in VERDICTS.items() if value],
        label="Verdict",
        empty_label=VERDICTS[""][0],
    )
    pass_name = filters.ChoiceFilter(method=read_together, label="Pass", empty_label="any pass")
    score_from = _score("Score from")
    score_to = _score("Score to")
    newspaper = filters.ModelChoiceFilter(
        queryset=newspapers, method=read_together, label="Newspaper", empty_label="any newspaper"
    )
    other = filters.ModelChoiceFilter(
        queryset=newspapers, method=read_together, label="Other newspaper", empty_label="any newspaper"
    )
    same = filters.ChoiceFilter(
        field_name="same_newspaper",
        choices=[("True", "yes"), ("False", "no")],
        label="Same newspaper",
        empty_label="yes or no",
    )
    date_from = filters.DateFilter(method=read_together, label="Published from", widget=DayInput())
    date_to = filters.DateFilter(method=read_together, label="Published to", widget=DayInput())
    headline = filters.CharFilter(method=read_together, label="Words in a headline", max_length=200)
    state = filters.ChoiceFilter(
        method=read_together,
        choices=[*Pair.DECIDED, (ANY, "any")],
        label="State",
        empty_label="waiting for a decision",
    )
    sort = filters.ChoiceFilter(
        method=read_together,
        choices=[(value, label) for value, (label, _) in ORDERINGS.items() if value],
        label="Order",
        empty_label=ORDERINGS[""][0],
    )

    # Set by links on the page of a series or of a dense group; the queue then names it.
    series = filters.ModelChoiceFilter(queryset=_series, method="by_series", label="Series", widget=forms.HiddenInput())
    group = filters.ModelChoiceFilter(queryset=_groups, method="by_group", label="Group", widget=forms.HiddenInput())

    class Meta:
        model = Pair
        fields: ClassVar[list[str]] = []

    def __init__(self, data: Any) -> None:
        super().__init__(data, Pair.objects.with_doubt())
        fields = self.form.fields
        fields["other"].widget.choices = fields["newspaper"].widget.choices = Once(fields["newspaper"].choices)
        fields["pass_name"].choices = [
            ("", "any pass"),
            *((detection_pass.name, detection_pass.label) for detection_pass in PASSES.values()),
        ]

    @property
    def ordering(self) -> tuple[str, ...]:
        """The fields that the chosen order sorts by."""
        return ORDERINGS[self._sort][1]

    @property
    def hidden_unjudged(self) -> PairQuerySet:
        """The pairs that would be listed if they had a verdict."""
        if (self._values().get("verdict") or "") not in ("", ANY) or self._sort not in BY_PROBABILITY:
            return Pair.objects.none()
        return self._bounded(self.queryset.filter(duplicate_probability=None))

    @property
    def narrowing(self) -> Narrowing | None:
        """The pairs to which the filter limits questions; None if it does not."""
        values = self._values()
        if not any(value not in (None, "") for name, value in values.items() if name != "sort"):
            return None
        pairs = Pair.objects.filter(VERDICTS[values["verdict"]][1]) if values.get("verdict") else Pair.objects.all()
        if values.get("state"):
            pairs = _in_state(pairs, values["state"])
        pairs, few = self._published_and_scored(pairs), self._few
        if few is not None and (values.get("verdict") or values.get("state")):
            few = Numbers(pairs.order_by().values_list("pk", flat=True))
        return Narrowing(pairs, few)

    @property
    def ceiling(self) -> int:
        """Up to how many pairs are counted: fewer if their articles or evidence have to be looked up."""
        values = self._values()
        looked_up = any(values.get(name) for name in ("newspaper", "other", "date_from", "date_to", "headline"))
        dear = self._few is None and (looked_up or values.get("pass_name"))
        return DEAR_CEILING if dear else COUNT_CEILING

    @property
    def chosen_series(self) -> Series | None:
        """The series to which the list is limited."""
        return self._values().get("series")

    @property
    def chosen_group(self) -> DenseGroup | None:
        """The dense group to which the list is limited."""
        return self._values().get("group")

    @property
    def _sort(self) -> str:
        values = self._values()
        sort: str = values.get("sort") or ""
        return "-score" if values.get("verdict") == UNJUDGED and sort in BY_PROBABILITY else sort

    def filter_queryset(self, queryset: PairQuerySet) -> PairQuerySet:
        """Return the pairs that match, unordered."""
        queryset = queryset.filter(VERDICTS[self.form.cleaned_data.get("verdict") or ""][1])
        if self._sort in BY_PROBABILITY:
            queryset = queryset.filter(duplicate_probability__isnull=False)
        return self._bounded(queryset)

    def _bounded(self, queryset: PairQuerySet) -> PairQuerySet:
        """Apply every field except the verdict."""
        return self._published_and_scored(_in_state(queryset, self._values().get("state")))

    def _published_and_scored(self, queryset: PairQuerySet) -> PairQuerySet:
        """Apply every field except the verdict and the state."""
        if self._few is not None:
            return queryset.filter(IsAnyOf("pk", self._few))
        return self._scored(self._of_articles(queryset))

    def _scored(self, pairs: PairQuerySet) -> PairQuerySet:
        """Apply every field except the verdict, the state and those about the articles."""
        values = self._values()
        pairs = super().filter_queryset(pairs)
        return _scored(pairs, values.get("pass_name"), values.get("score_from"), values.get("score_to"))

    def _of_articles(self, pairs: PairQuerySet, but: str = "") -> PairQuerySet:
        """Apply the fields that are about the articles; those of `but` are applied already."""
        values = self._values()
        if but != "newspapers":
            pairs = _between(pairs, values.get("newspaper"), values.get("other"))
        if but != "days":
            pairs = _published(pairs, values.get("date_from"), values.get("date_to"))
        if but != "words" and (word := values.get("headline")):
            pairs = pairs.filter(Q(left__headline__icontains=word) | Q(right__headline__icontains=word))
        return pairs

    @cached_property
    def _few(self) -> Numbers | None:
        """The pairs that match every field except the verdict and the state; None if each field may leave many."""
        values = self._values()
        words = given(headline__icontains=values.get("headline") or None)
        days = given(date__gte=values.get("date_from"), date__lte=values.get("date_to"))
        for name, condition in (("words", words), ("days", days)):
            ends = few_of(Article.objects.filter(condition)) if condition else None
            if ends is not None:
                return self._numbers_of(Pair.objects.filter(_has_one_of(ends)), but=name)
        between = _few_between(values.get("newspaper"), values.get("other"))
        if between is not None:
            return self._numbers_of(between, but="newspapers")
        found = given(pass_name=values.get("pass_name") or None)
        found_by = few_of(Evidence.objects.filter(found, stale=False), "pair") if found else None
        return None if found_by is None else self._numbers_of(Pair.objects.filter(IsAnyOf("pk", found_by)))

    def _numbers_of(self, pairs: PairQuerySet, but: str = "") -> Numbers:
        return Numbers(self._scored(self._of_articles(pairs, but)).order_by().values_list("pk", flat=True))

    def by_series(self, queryset: PairQuerySet, _name: str, value: Series) -> PairQuerySet:
        return queryset.among(members_of(value))

    def by_group(self, queryset: PairQuerySet, _name: str, value: DenseGroup) -> PairQuerySet:
        return queryset.in_group(value.pk)


def _in_state(pairs: PairQuerySet, state: str | None) -> PairQuerySet:
    if not state:
        return pairs.in_queue()
    return pairs if state == ANY else pairs.filter(state=state)


def _between(pairs: PairQuerySet, one: Newspaper | None, other: Newspaper | None) -> PairQuerySet:
    """Return the pairs with an article of each newspaper that is given; with both of one, if they are the same."""
    either_way = given(left__newspaper=one, right__newspaper=other) | given(left__newspaper=other, right__newspaper=one)
    return pairs.filter(either_way)


def _few_between(one: Newspaper | None, other: Newspaper | None) -> PairQuerySet | None:
    """Return what _between returns if one of the newspapers has few articles, else None."""
    chosen = {each for each in (one, other) if each}
    # Two newspapers have few pairs, even if each has many articles.
    most = FEW_OF_TWO if one and other else FEW
    known = [few_of(Article.objects.filter(newspaper=each), most=most) for each in chosen]
    few = [ends for ends in known if ends is not None]
    if not few:
        return None
    if one == other:
        return Pair.objects.filter(IsAnyOf("left", few[0]), IsAnyOf("right", few[0]))
    # No article is of two newspapers, so a pair with one of each has no other.
    pairs = Pair.objects.filter(*map(_has_one_of, few))
    return pairs if len(few) == len(chosen) else _between(pairs, one, other)


def _has_one_of(articles: Numbers) -> Q:
    return Q(IsAnyOf("left", articles) | IsAnyOf("right", articles))


def _scored(pairs: PairQuerySet, pass_name: str | None, low: Any, high: Any) -> PairQuerySet:
    """Bound the best score or, if a pass is chosen, the score of that pass."""
    field = "score" if pass_name else "best_score"
    bounds = given(**{f"{field}__gte": low, f"{field}__lte": high})
    if not pass_name:
        return pairs.filter(bounds)
    return pairs.filter(Exists(Evidence.objects.filter(bounds, pair=OuterRef("pk"), pass_name=pass_name, stale=False)))


def _published(pairs: PairQuerySet, first: Any, last: Any) -> PairQuerySet:
    """Return the pairs with at least one article published from `first` to `last`."""
    return pairs.filter(
        given(left__date__gte=first, left__date__lte=last) | given(right__date__gte=first, right__date__lte=last)
    )

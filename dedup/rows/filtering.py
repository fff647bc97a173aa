"""What the filters of all lists share: fields from the declared columns, the style of their widgets, common fields.

And the filters of lists that only pages have: series, dense groups, repeated sentences and disagreements.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import django_filters as filters
from django import forms
from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from articles.boilerplate.rules import monday_of
from articles.grouping import by_key
from articles.models import Collection, Newspaper, RepeatedSentence
from articles.normalization.searches import SearchError, read_search
from articles.numbers import read_number
from articles.storage.collections import newspapers_of
from dedup.models import DenseGroup, GroupMember, SecondReading
from dedup.review.readings.second_readings import in_dispute
from dedup.rows.columns import Column, ColumnType, Filter, Place, Rows

MOST_CHARACTERS = 200


class DayInput(forms.DateInput):
    """A day, chosen in the browser's calendar."""

    input_type = "date"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs, format="%Y-%m-%d")


class Choice(forms.Select):
    """A choice of one, written without a template for each option: there may be hundreds of newspapers."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:  # noqa: ARG002
        """Return the element as HTML."""
        chosen = self.format_value(value)
        options = ((key, SafeString(" selected") if str(key) in chosen else "", label) for key, label in self.choices)
        return format_html(
            '<select name="{}"{}>{}</select>',
            name,
            flatatt(self.build_attrs(self.attrs, attrs)),
            format_html_join("", '<option value="{}"{}>{}</option>', options),
        )

    def use_required_attribute(self, initial: Any) -> bool:  # noqa: ARG002
        """Return False; Django would look at the first option, for which all are read."""
        return False


class ListFilter(filters.FilterSet):
    """A filter with a GET form; its widgets have the style of the pages."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.form.fields.values():
            select = isinstance(field.widget, forms.Select)
            if select:
                field.widget = Choice(field.widget.attrs, field.widget.choices)
            field.widget.attrs["class"] = "form-select form-select-sm" if select else "form-control form-control-sm"

    @property
    def chosen(self) -> int:
        """The number of fields that narrow the list."""
        return len(self._narrowing)

    @property
    def is_open(self) -> bool:
        """Whether the panel of the filter is unfolded, as something in it is chosen or wrong."""
        shown = {field.name for field in self.form.visible_fields()}
        return bool(self.sorted_by or shown.intersection([*self._narrowing, *self.form.errors]))

    @property
    def _narrowing(self) -> list[str]:
        return [name for name, value in self.values().items() if value not in (None, "") and name != "sort"]

    @property
    def sorted_by(self) -> str:
        """The order that was chosen, in words; empty if it is the usual one."""
        chosen = self.values().get("sort")
        return str(dict(self.form.fields["sort"].choices).get(chosen, "")) if chosen else ""

    def values(self) -> dict[str, Any]:
        """Return what was asked for, by field, as far as it is valid."""
        self.form.is_valid()  # fills cleaned_data
        return self.form.cleaned_data


class SearchField(forms.CharField):
    """A search by words; `read` reads it, or raises SearchError."""

    def __init__(self, *, read: Callable[[str], object] = read_search, **given: Any) -> None:
        self.read = read
        super().__init__(**given)

    def validate(self, value: str) -> None:
        """Refuse what cannot be read."""
        super().validate(value)
        try:
            self.read(value or "")
        except SearchError as error:
            raise forms.ValidationError(str(error)) from None


class SearchFilter(filters.CharFilter):
    """The filter by a search."""

    field_class = SearchField


class SearchedFilter(ListFilter):
    """A filter with a search box of its own above it; a subclass says what `by_words` finds."""

    q = SearchFilter(method="by_words", label="Search", widget=forms.HiddenInput())

    @property
    def searched(self) -> str:
        """What was typed into the search box."""
        typed: str = self.values().get("q") or ""
        return typed


SomeFilter = TypeVar("SomeFilter", bound=type[ListFilter])


def filters_of(rows: Rows, *, after: str = "") -> Callable[[SomeFilter], SomeFilter]:
    """Return a decorator that gives a filter the fields of the columns: first, or after that field of its own."""

    def with_fields(filter_class: SomeFilter) -> SomeFilter:
        own = list(filter_class.base_filters.items())
        place = 1 + [name for name, _ in own].index(after) if after else 0
        found = [(chosen.name or column.name, _field(column, chosen)) for column, chosen in rows.filters(Place.PAGE)]
        filter_class.base_filters = OrderedDict([*own[:place], *found, *own[place:]])
        filter_class._meta.model = rows.model  # noqa: SLF001 - as its class Meta would: all rows, if none are given
        return filter_class

    return with_fields


def _field(column: Column, found: Filter) -> filters.Filter:
    def narrowed(queryset: QuerySet[Any], _name: str, value: Any) -> QuerySet[Any]:
        read = value == "True" if column.type is ColumnType.BOOLEAN else value
        return queryset.filter(found.condition(column, read))

    common: dict[str, Any] = {"method": narrowed, "label": found.label or column.heading}
    choices = (("True", "yes"), ("False", "no")) if column.type is ColumnType.BOOLEAN else column.choices
    if choices:
        return filters.ChoiceFilter(choices=choices, empty_label=found.everything, **common)
    if column.type is ColumnType.DAY:
        return filters.DateFilter(widget=DayInput(), **common)
    if column.type is ColumnType.TEXT:
        return filters.CharFilter(max_length=int(found.most or MOST_CHARACTERS), **common)
    return filters.NumberFilter(min_value=found.least, max_value=found.most, **common)


def read_together(queryset: QuerySet[Any], _name: str, _value: Any) -> QuerySet[Any]:
    """Leave the rows unchanged: `filter_queryset` reads this field together with others."""
    return queryset


# ---- newspapers, and collections of them -------------------------------------------------------------


# A newspaper or a collection, as the ids of its newspapers.
Unit: TypeAlias = frozenset[int]


def units() -> list[tuple[Any, str]]:
    """Return the numbers of all newspapers, and of collections below zero, and their names, to choose one of them."""
    collections = [(-collection.pk, str(collection)) for collection in Collection.objects.all()]
    return collections + list(Newspaper.objects.in_use().values_list("pk", "name"))


def units_of(values: Sequence[Any]) -> list[Unit]:
    """Return the units of these numbers; that of a collection is below zero. Raises ValidationError."""
    numbers = by_key((text.startswith("-"), read_number(text.removeprefix("-")) or 0) for text in map(str, values))
    newspapers = Newspaper.objects.in_use().filter(pk__in=numbers[False]).values_list("pk", flat=True)
    collections = Collection.objects.filter(pk__in=numbers[True])
    found = [Unit([pk]) for pk in newspapers]
    found += [Unit(newspapers_of([row]).values_list("pk", flat=True)) for row in collections]
    if len(found) < len(set(values)):
        raise forms.ValidationError("Choose newspapers or collections of the list; one that you chose is gone.")
    return found


class UnitField(forms.ChoiceField):
    """A choice of a newspaper or a collection; its value is a Unit, or None."""

    def __init__(self, *, empty_label: str, **given: Any) -> None:
        super().__init__(choices=lambda: [("", empty_label), *units()], **given)

    def clean(self, value: Any) -> Unit | None:
        """Return what was chosen."""
        return units_of([value])[0] if value else None


class UnitsField(forms.MultipleChoiceField):
    """A choice of newspapers and collections; its value are their newspapers, each once, by name."""

    def __init__(self, **given: Any) -> None:
        super().__init__(choices=units, **given)

    def clean(self, value: Any) -> list[Newspaper]:
        """Return the newspapers that were chosen; none if nothing was."""
        chosen = units_of(value or ())
        if not all(chosen):  # none at all would mean all newspapers
            raise forms.ValidationError("A collection that you chose is empty. Put newspapers in on its page.")
        return list(Newspaper.objects.filter(pk__in=Unit().union(*chosen)))


class UnitFilter(filters.Filter):
    """The filter by a newspaper, or by a collection of them."""

    field_class = UnitField

    def filter(self, qs: QuerySet[Any], value: Unit | None) -> QuerySet[Any]:
        """Return the rows of the newspapers."""
        return qs if value is None else qs.filter(**{f"{self.field_name}__in": value})


def newspaper_filter(label: str = "Newspaper", **given: Any) -> UnitFilter:
    """Return the filter by newspaper."""
    return UnitFilter(label=label, empty_label="any newspaper", **given)


# ---- lists that only pages have ----------------------------------------------------------------------


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

    def by_newspaper(self, queryset: QuerySet[DenseGroup], _name: str, value: Unit) -> QuerySet[DenseGroup]:
        members = GroupMember.objects.filter(group=OuterRef("pk"), article__newspaper__in=value)
        return queryset.filter(Exists(members))


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

"""What the filters of all lists share: fields from the declared columns, the style of their widgets, common fields."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import django_filters as filters
from django import forms
from django.db.models import QuerySet
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from articles.models import Newspaper
from dedup.review.queries.articles import MAX_CHARACTERS
from dedup.rows.columns import Column, ColumnType, Filter, Place, Rows

MOST_CHARACTERS = 200


class DayInput(forms.DateInput):
    """A day, chosen in the browser's calendar."""

    input_type = "date"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs, format="%Y-%m-%d")


class Choice(forms.Select):
    """A choice of one, written without a template for each option: there may be hundreds of newspapers."""

    def render(
        self,
        name: str,
        value: Any,
        attrs: dict[str, Any] | None = None,
        renderer: Any = None,  # noqa: ARG002 - Django hands it in
    ) -> SafeString:
        """Return the element as HTML."""
        chosen = self.format_value(value)
        options = ((key, SafeString(" selected") if str(key) in chosen else "", label) for key, label in self.choices)
        return format_html(
            '<select name="{}"{}>{}</select>',
            name,
            flatatt(self.build_attrs(self.attrs, attrs)),
            format_html_join("", '<option value="{}"{}>{}</option>', options),
        )


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
        return sum(1 for name, value in self.values().items() if value not in (None, "") and name != "sort")

    @property
    def sorted_by(self) -> str:
        """The order that was chosen, in words; empty if it is the usual one."""
        chosen = self.values().get("sort")
        return str(dict(self.form.fields["sort"].choices).get(chosen, "")) if chosen else ""

    def values(self) -> dict[str, Any]:
        """Return what was asked for, by field, as far as it is valid."""
        self.form.is_valid()  # fills cleaned_data
        return self.form.cleaned_data


class SearchedFilter(ListFilter):
    """A filter with a search box of its own above it; a subclass says what `by_words` finds."""

    q = filters.CharFilter(method="by_words", label="Search", max_length=MAX_CHARACTERS, widget=forms.HiddenInput())

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


def newspaper_filter(**given: Any) -> filters.ModelChoiceFilter:
    """Return the filter by newspaper."""
    return filters.ModelChoiceFilter(queryset=newspapers, label="Newspaper", empty_label="any newspaper", **given)


def read_together(queryset: QuerySet[Any], _name: str, _value: Any) -> QuerySet[Any]:
    """Leave the rows unchanged: `filter_queryset` reads this field together with others."""
    return queryset


def newspapers(*_args: Any) -> QuerySet[Newspaper]:
    return Newspaper.objects.in_use().only("name")

"""A column, declared once: lists, filters, the API, files, the client, reports and the docs read it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Flag, StrEnum, auto
from operator import attrgetter
from typing import Any, Self

from django.db.models import Field, Model, Q


class ColumnType(StrEnum):
    """The type of a column's cells: its type in Python, how people see it, and what the data dictionary calls it.

    None is an empty cell. Types that are written in a format of their own are right-aligned.
    """

    of_python: Any
    form: str
    words: str

    def __new__(cls, value: str, of_python: Any = str, form: str = "", words: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.of_python, member.form, member.words = of_python, form, words or value
        return member

    TEXT = "text", str
    COUNT = "count", int, "{:,}", "integer"
    SHARE = "share", float, "{:.2%}", "number, 0 to 1"
    NUMBER = "number", float, "{:,.2f}"
    DAY = "day", datetime.date, "", "day, YYYY-MM-DD"
    INTEGER = "integer", int  # the number of a row
    PROBABILITY = "probability", float, "{:.2f}", "number, 0 to 1"
    MOMENT = "moment", datetime.datetime, "", "moment, ISO 8601"
    BOOLEAN = "boolean", bool
    TEXTS = "texts", list[str], "", "list of texts"
    INTEGERS = "integers", list[int], "", "list of integers"
    OBJECT = "object", dict[str, Any]
    URLS = "urls", list[dict[str, str]], "", "list of objects with url and kind"
    HEADLINES = "headlines", list[dict[str, str]], "", "list of objects with headline, date and url"


_OF_FIELDS = {
    "BigAutoField": ColumnType.INTEGER, "BooleanField": ColumnType.BOOLEAN, "DateField": ColumnType.DAY,
    "DateTimeField": ColumnType.MOMENT, "FloatField": ColumnType.PROBABILITY, "JSONField": ColumnType.OBJECT,
    "PositiveIntegerField": ColumnType.COUNT, "PositiveSmallIntegerField": ColumnType.COUNT,
}  # fmt: skip


class Place(Flag):
    """Where a column shows."""

    ROW = auto()  # in the API
    FULL = auto()  # in the API, where one row is read by its number
    FILE = auto()
    PAGE = auto()  # in the lists of the pages, after what their templates show


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter by a column: for a value that the ORM finds with `lookup`, or by the condition that `where` makes of it.

    `name` is that of the parameter, without one the column's. What is asked for is bounded by `least` and `most`, which
    count the characters of a text. `everything` names the choice that does not filter. Of `places`, ROW is the list of
    the API, and PAGE that of the pages.
    """

    name: str = ""
    lookup: str = "exact"
    label: str = ""
    help: str = ""
    where: Callable[[Any], Q] | None = None
    least: float | None = None
    most: float | None = None
    everything: str = "any"
    places: Place = Place.ROW | Place.PAGE

    def condition(self, column: Column, value: Any) -> Q:
        """Return the condition of the rows of a column that a value asks for."""
        return self.where(value) if self.where else Q(**{f"{column.path}__{self.lookup}": value})


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Programs use its name; people see its label and, in the docs and the API's description, its help.

    `source`: where the value is read of a row: a path of attributes, such as "newspaper.name", or a function of the
    row; without one, the attribute of the same name. A column `of` other rows has one of them: the API nests it, a file
    has a column for each of its columns. `file` is the name in files if it is another one or, of such a column, what
    comes before the names.
    """

    name: str
    label: str = ""
    type: ColumnType = ColumnType.TEXT
    help: str = ""
    source: str | Callable[[Any], Any] = ""
    optional: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    of: Rows | None = None
    many: bool = False  # a list of such rows
    file: str | None = None
    places: Place = Place.ROW | Place.FILE
    filters: tuple[Filter, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether the column is right-aligned."""
        return bool(self.type.form)

    @property
    def title(self) -> str:
        """The label, or else the name in words."""
        return self.label or self.name.replace("_", " ")

    @property
    def heading(self) -> str:
        """The title as it begins a line."""
        return self.title[:1].upper() + self.title[1:]

    @property
    def path(self) -> str:
        """The name of the column for the ORM."""
        return self.name if callable(self.source) else (self.source or self.name).replace(".", "__")

    @property
    def read(self) -> Callable[[Any], Any]:
        """What returns the cell of a row."""
        return self.source if callable(self.source) else attrgetter(self.source or self.name)

    def declared_by(self, field: Field[Any, Any] | None) -> Column:
        """Return the column with what this field declares of it, unless its cells are made otherwise."""
        if field is None or self.of is not None or callable(self.source):
            return self
        return replace(
            self,
            type=_OF_FIELDS.get(field.get_internal_type(), self.type) if self.type is ColumnType.TEXT else self.type,
            help=self.help or ("" if self.label else str(field.help_text)),
            choices=self.choices or tuple(field.flatchoices),
            optional=self.optional or field.null,
        )

    def write(self, cell: Any) -> str:
        """Format a cell for people: 1,234 or 8.63% or 2026-03-02; none is empty."""
        if cell is None:
            return ""
        if self.type is ColumnType.BOOLEAN:
            return "yes" if cell else "no"
        return (self.type.form or "{}").format(cell)


@dataclass(frozen=True, eq=False)
class Rows:
    """A kind of row: what it is, and its columns. Files have those of `file_first` first, and then the others.

    The fields of a `model` declare types, choices, whether there may be none, and help, where a column says nothing.
    """

    help: str
    columns: tuple[Column, ...]
    file_first: tuple[str, ...] = ()
    model: type[Model] | None = None

    def __post_init__(self) -> None:
        fields = {field.name: field for field in self.model._meta.concrete_fields} if self.model else {}  # noqa: SLF001 - public
        known = tuple(column.declared_by(fields.get(column.path)) for column in self.columns)
        object.__setattr__(self, "columns", known)

    def at(self, places: Place) -> list[Column]:
        """Return the columns that show at any of these places, in their order there."""
        shown = [column for column in self.columns if column.places & places]
        if places is Place.FILE:
            first = {name: place for place, name in enumerate(self.file_first)}
            shown.sort(key=lambda column: first.get(column.name, len(first)))
        return shown

    def filters(self, place: Place) -> Iterator[tuple[Column, Filter]]:
        """Yield the filters at a place, each with its column."""
        for column in self.columns:
            for found in column.filters:
                if found.places & place:
                    yield column, found

    def file_columns(self) -> dict[str, str]:
        """Return the names of the columns of a file with what they mean; what the API calls null is empty there."""
        found = {}
        for column in self.at(Place.FILE):
            if column.of is None:
                found[_name_in_file(column)] = column.help.replace("null:", "empty:") or f"{column.heading}."
            else:
                of = f"{column.heading}: " if _prefix(column) else ""
                found |= {f"{_prefix(column)}{name}": f"{of}{text}" for name, text in column.of.file_columns().items()}
        return found

    def file_values(self) -> Callable[[Any], dict[str, Any]]:
        """Return a function that returns the cells of a row by the names of the columns of a file."""
        own = [
            (column.read, _name_in_file(column), _prefix(column), column.of.file_values() if column.of else None)
            for column in self.at(Place.FILE)
        ]

        def values(row: Any) -> dict[str, Any]:
            cells: dict[str, Any] = {}
            for read, name, prefix, nested in own:
                if nested is None:
                    cells[name] = read(row)
                else:
                    cells |= {f"{prefix}{inner}": cell for inner, cell in nested(read(row)).items()}
            return cells

        return values

    def api_values(self, *, full: bool = False) -> Callable[..., dict[str, Any]]:
        """Return a function that returns the cells of a row as the API has them; those given by name are not read."""
        shown = self.at(Place.ROW | Place.FULL if full else Place.ROW)
        own = [(column.name, column.read, _in_api(column)) for column in shown]

        def values(row: Any, **known: Any) -> dict[str, Any]:
            return {
                name: known[name] if name in known else changed(read(row)) if changed else read(row)
                for name, read, changed in own
            }

        return values


def _name_in_file(column: Column) -> str:
    return column.name if column.file is None else column.file


def _prefix(column: Column) -> str:
    return f"{column.name}_" if column.file is None else column.file


def _in_api(column: Column) -> Callable[[Any], Any] | None:
    """Return what changes a cell for the API: it nests rows, and an optional text is none instead of empty."""
    if column.of is None:
        return (lambda text: text or None) if column.optional and column.type is ColumnType.TEXT else None
    values = column.of.api_values()
    if column.many:
        return lambda rows: [values(row) for row in rows]
    return lambda row: values(row) if row is not None and not isinstance(row, dict) else row

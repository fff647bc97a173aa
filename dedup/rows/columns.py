"""A column, declared once: lists, filters, the API, files, the client, reports and the docs read it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ColumnType(StrEnum):
    """The type of a column's cells; None is an empty cell."""

    TEXT = "text"
    COUNT = "count"  # an integer, which people read with thousands separators
    SHARE = "share"  # a number in 0..1, which people read as a percentage
    NUMBER = "number"
    DAY = "day"
    INTEGER = "integer"  # the number of a row
    PROBABILITY = "probability"  # a number in 0..1, which people read as it is
    MOMENT = "moment"
    BOOLEAN = "boolean"
    TEXTS = "texts"
    INTEGERS = "integers"
    OBJECT = "object"
    URLS = "urls"
    HEADLINES = "headlines"

    @property
    def words(self) -> str:
        """The type as the data dictionary names it."""
        return _WORDS.get(self, self.value)

    @property
    def of_python(self) -> Any:
        """The type of a cell in Python."""
        return _OF_PYTHON[self]

    @property
    def is_number(self) -> bool:
        """Whether the column is right-aligned."""
        return self in (ColumnType.COUNT, ColumnType.SHARE, ColumnType.NUMBER, ColumnType.PROBABILITY)


_WORDS = {
    ColumnType.COUNT: "integer",
    ColumnType.SHARE: "number, 0 to 1",
    ColumnType.PROBABILITY: "number, 0 to 1",
    ColumnType.DAY: "day, YYYY-MM-DD",
    ColumnType.MOMENT: "moment, ISO 8601",
    ColumnType.TEXTS: "list of texts",
    ColumnType.INTEGERS: "list of integers",
    ColumnType.URLS: "list of objects with url and kind",
    ColumnType.HEADLINES: "list of objects with headline, date and url",
}
_OF_PYTHON: dict[ColumnType, Any] = {
    ColumnType.TEXT: str,
    ColumnType.COUNT: int,
    ColumnType.SHARE: float,
    ColumnType.NUMBER: float,
    ColumnType.DAY: datetime.date,
    ColumnType.INTEGER: int,
    ColumnType.PROBABILITY: float,
    ColumnType.MOMENT: datetime.datetime,
    ColumnType.BOOLEAN: bool,
    ColumnType.TEXTS: list[str],
    ColumnType.INTEGERS: list[int],
    ColumnType.OBJECT: dict[str, Any],
    ColumnType.URLS: list[dict[str, str]],
    ColumnType.HEADLINES: list[dict[str, str]],
}
_FORMATS = {
    ColumnType.COUNT: "{:,}",
    ColumnType.SHARE: "{:.2%}",
    ColumnType.NUMBER: "{:,.2f}",
    ColumnType.PROBABILITY: "{:.2f}",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Programs use its name; people see its label and, in the docs and the API's description, its help.

    `source`: where the value is read of a row: a path of attributes, such as "newspaper.name", or a function of the
    row; without one, the attribute of the same name.
    """

    name: str
    label: str = ""
    type: ColumnType = ColumnType.TEXT
    unit: str = ""
    help: str = ""
    source: str | Callable[[Any], Any] = ""

    @property
    def is_number(self) -> bool:
        """Whether the column is right-aligned."""
        return self.type.is_number

    def value(self, row: Any) -> Any:
        """Return the cell of a row; None if a step of the path is None."""
        if callable(self.source):
            return self.source(row)
        for name in (self.source or self.name).split("."):
            if row is None:
                break
            row = getattr(row, name)
        return row

    def write(self, cell: Any) -> str:
        """Format a cell for people: 1,234 or 8.63% or 2026-03-02; none is empty."""
        if cell is None:
            return ""
        if self.type is ColumnType.BOOLEAN:
            return "yes" if cell else "no"
        return _FORMATS.get(self.type, "{}").format(cell)

"""The contract of a report: what it counts, its options, and the sentence and the tables that show the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, ClassVar, Protocol, runtime_checkable

from articles.storage.incoming import IncomingArticle
from dedup.declarations import Settings
from dedup.runs.scope import Scope

Cell = str | int | float | date | None


class ColumnType(StrEnum):
    """The type of a column's cells: a string, an integer, a number in 0..1, or a date. None is an empty cell."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Programs use its name; people see its label."""

    name: str
    label: str
    type: ColumnType = ColumnType.TEXT

    @property
    def is_number(self) -> bool:
        """Whether the column is right-aligned."""
        return self.type in (ColumnType.COUNT, ColumnType.SHARE)

    def write(self, cell: Cell) -> str:
        """Format a cell for people: 1,234 or 8.63% or 2026-03-02."""
        if cell is None:
            return ""
        formats = {ColumnType.COUNT: "{:,}", ColumnType.SHARE: "{:.2%}"}
        return formats.get(self.type, "{}").format(cell)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a cell for each column."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def written(self) -> Iterator[list[tuple[Column, str]]]:
        """Yield each row as cells formatted for people, each with its column."""
        for row in self.rows:
            yield [(column, column.write(cell)) for column, cell in zip(self.columns, row, strict=True)]


class Report(Protocol):
    """A count over the archive.

    `result` counts and changes nothing. It returns dataclasses, lists and dictionaries of texts, numbers and days,
    which are the report's JSON. `tables` and `says` present that result to people and spreadsheets, and nothing else.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    # One sentence: what the report counts.
    help: ClassVar[str]
    # Booleans default to false: a URL has only the options that were chosen.
    options_class: ClassVar[type[Settings]]

    def result(self, scope: Scope, options: Any) -> Any: ...

    def says(self, result: Any) -> str: ...

    def tables(self, result: Any) -> list[Table]: ...


@runtime_checkable
class FileReport(Report, Protocol):
    """A report that can also count articles that are not stored."""

    def result_of(self, articles: Iterable[IncomingArticle], options: Any) -> Any: ...

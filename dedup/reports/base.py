"""The contract of a report: what is counted, with which options, and the tables and the sentence that show it."""

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
    """What the cells of a column are: a string, an integer, a number in 0..1, or a date. None is an empty cell."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Column:
    """A column; programs read its name, people its label."""

    name: str
    label: str
    type: ColumnType = ColumnType.TEXT

    @property
    def is_number(self) -> bool:
        """Whether the column is aligned to the right."""
        return self.type in (ColumnType.COUNT, ColumnType.SHARE)

    def write(self, cell: Cell) -> str:
        """Write a cell for people: 1,234 and 8.63% and 2026-03-02."""
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
        """Yield the cells of each row as people read them, each with its column."""
        for row in self.rows:
            yield [(column, column.write(cell)) for column, cell in zip(self.columns, row, strict=True)]


class Report(Protocol):
    """One thing to count in the store.

    `result` counts and changes nothing. It returns dataclasses, lists and dictionaries of texts, numbers and days:
    they are the report's JSON. `tables` and `says` show that result to people and spreadsheets and read nothing else.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    # One sentence: what the report counts.
    help: ClassVar[str]
    # A field that is yes or no is no by default: an address names only what is chosen.
    options_class: ClassVar[type[Settings]]

    def result(self, scope: Scope, options: Any) -> Any: ...

    def says(self, result: Any) -> str: ...

    def tables(self, result: Any) -> list[Table]: ...


@runtime_checkable
class FileReport(Report, Protocol):
    """A report that can also count articles that are not stored."""

    def result_of(self, articles: Iterable[IncomingArticle], options: Any) -> Any: ...

"""The contract of a report: what it counts, its options, and the sentence, tables and charts that show the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, ClassVar, Protocol, runtime_checkable

from articles.storage.incoming import IncomingArticle
from dedup.declarations import Settings
from dedup.detection.runs.scope import Scope

# A page with more rows of a table takes long to load, and nobody reads to their end.
MOST_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Linked:
    """A text that is a link on the page, and nothing but the text in files. The address is one of this site."""

    text: str
    address: str

    def __str__(self) -> str:
        return self.text


Cell = str | int | float | date | Linked | None


class ReportError(ValueError):
    """The report cannot be counted this way; the message says why, and what can be done."""


class ColumnType(StrEnum):
    """The type of a column's cells; None is an empty cell.

    A string or a link, an integer, a number in 0..1, any other number, or a date.
    """

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    NUMBER = "number"
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
        return self.type in (ColumnType.COUNT, ColumnType.SHARE, ColumnType.NUMBER)

    def write(self, cell: Cell) -> str:
        """Format a cell for people: 1,234 or 8.63% or 2026-03-02."""
        if cell is None:
            return ""
        formats = {ColumnType.COUNT: "{:,}", ColumnType.SHARE: "{:.2%}", ColumnType.NUMBER: "{:,.2f}"}
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

    @property
    def hidden(self) -> int:
        """The rows that a page leaves out; files have all."""
        return max(len(self.rows) - MOST_SHOWN, 0)

    def shown(self) -> Iterator[list[tuple[Column, str, str]]]:
        """Yield the first rows with the address of each cell that is a link; empty for the others."""
        for row, cells in zip(self.rows[:MOST_SHOWN], self.written(), strict=False):
            yield [
                (column, text, cell.address if isinstance(cell, Linked) else "")
                for (column, text), cell in zip(cells, row, strict=True)
            ]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: its title, what it shows in a sentence or two for those who do not see it, and how to draw it.

    `spec` is an Altair chart without a title and without colours of text and background, which drawing.py adds. A field
    that is encoded as `href` makes its marks links.
    """

    name: str
    title: str
    description: str
    spec: Any


@dataclass(frozen=True, slots=True)
class File:
    """One more file that a report gives, such as network.graphml. Its name is unique in the report.

    The page of the report shows the text too, to be copied, if it is to be `shown`.
    """

    name: str
    content_type: str
    label: str
    text: str
    shown: bool = False


class Report(ABC):
    """A count over the archive.

    `result` counts and changes nothing. It returns dataclasses, lists and dictionaries of texts, numbers and days,
    which are the report's JSON; it may raise ReportError. The other methods present that result to people and programs,
    and count nothing.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    # One sentence: what the report counts.
    help: ClassVar[str]
    # Booleans default to false: a URL has only the options that were chosen.
    options_class: ClassVar[type[Settings]] = Settings
    # Takes longer than a reader waits for a page: the command or a worker counts it, and the page shows the result.
    heavy: ClassVar[bool] = False
    # Counted with its default options at the end of each run of a large archive, so that its page is there at once.
    after_run: ClassVar[bool] = False
    # Its result names the last run, so that it changes with every run.
    names_run: ClassVar[bool] = False

    def check(self, options: Any) -> None:  # noqa: B027 - most reports can be counted with any options
        """Raise ReportError if the report can never be counted with these options; `result` raises it too."""

    @abstractmethod
    def result(self, scope: Scope, options: Any) -> Any: ...

    @abstractmethod
    def says(self, result: Any) -> str: ...

    @abstractmethod
    def tables(self, result: Any) -> list[Table]: ...

    def charts(self, result: Any) -> Sequence[Chart]:  # noqa: ARG002 - most reports have some
        """Return the charts of the result."""
        return ()

    def files(self, result: Any) -> Sequence[File]:  # noqa: ARG002 - few reports have any
        """Return what the report gives besides its tables."""
        return ()


@runtime_checkable
class FileReport(Protocol):
    """What a report has too if it can also count articles that are not stored."""

    def result_of(self, articles: Iterable[IncomingArticle], options: Any) -> Any: ...

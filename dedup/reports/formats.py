"""What people and programs get of a result: drawn, as JSON, CSV and text, and as it is kept in the database.

All hold the same numbers.
"""

import csv
import dataclasses
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TextIO, get_type_hints

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as TextTable

from articles.files.cells import FORMULA_BEGINNINGS, csv_text
from articles.loading import when_used
from dedup.reports.base import File, Report, ReportError
from dedup.reports.columns import Cell, Linked, Table
from dedup.reports.drawing import svg
from dedup.rows.columns import Column, ColumnType

pydantic = when_used("pydantic")

# The width of tables for files and other programs; a terminal has its own width.
_WIDTH = 120


def as_json(result: Any) -> str:
    """Return a result as JSON; days are YYYY-MM-DD."""
    return json.dumps(result, indent=2, default=_plain)


def of_json(report: Report, text: str) -> Any:
    """Return the result of which as_json wrote this text. Raises ReportError if it is of another version."""
    kind = get_type_hints(type(report).result, include_extras=True)["return"]
    try:
        return pydantic.TypeAdapter(kind).validate_json(text)
    except pydantic.ValidationError as error:
        raise ReportError("this version computes another result; compute it again") from error


def as_csv(tables: Iterable[Table]) -> str:
    """Return tables as one CSV file; numbers are not rounded.

    If there are several tables, the first column has the table's name, and cells are empty in columns that a table does
    not have. A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    tables = list(tables)
    names = list(dict.fromkeys(column.name for table in tables for column in table.columns))
    several = ["table"] if len(tables) > 1 else []
    lines: list[list[Cell]] = [[*several, *names]]
    for table in tables:
        for row in table.rows:
            cells = {column.name: _csv_cell(column, cell) for column, cell in zip(table.columns, row, strict=True)}
            lines.append([*(table.name for _ in several), *(cells.get(name, "") for name in names)])
    return csv_text(lines, quoting=csv.QUOTE_NONNUMERIC)


def print_text(summary: str, tables: Iterable[Table], stream: TextIO) -> None:
    """Print the sentence and the tables for people."""
    console = Console(file=stream, width=None if stream.isatty() else _WIDTH, highlight=False, markup=False)
    console.print(summary)
    for table in tables:
        text = TextTable(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
        for column in table.columns:
            text.add_column(column.label, justify="right" if column.is_number else "left")
        for row in table.written():
            text.add_row(*(cell for _, cell in row))
        console.print(text)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a result holds {value!r}, which JSON cannot represent")


def _csv_cell(column: Column, cell: Cell) -> Cell:
    if column.type is ColumnType.TEXT and str(cell or "").startswith(FORMULA_BEGINNINGS):
        return f"'{cell}"
    return cell


# ---- as it is kept -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart that was drawn."""

    name: str
    title: str
    description: str
    svg: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What people see of a result."""

    summary: str
    tables: Sequence[Table]
    pictures: Sequence[Picture]
    files: Sequence[File]


def presented(report: Report, result: Any) -> Shown:
    """Return what shows a result, with its charts drawn."""
    pictures = [Picture(chart.name, chart.title, chart.description, svg(chart)) for chart in report.charts(result)]
    return Shown(report.summary(result), report.tables(result), pictures, list(report.files(result)))


def to_json(shown: Shown) -> dict[str, Any]:
    """Return it as JSON has it."""
    tables = [
        {
            "name": table.name,
            "title": table.title,
            "columns": [[column.name, column.label, column.type.value] for column in table.columns],
            "rows": table.rows,
        }
        for table in shown.tables
    ]
    parts = {"summary": shown.summary, "tables": tables, "pictures": shown.pictures, "files": shown.files}
    found: dict[str, Any] = json.loads(as_json({**parts, "drawn_by": shown_by()}))
    return found


def is_current(stored: dict[str, Any]) -> bool:
    """Return whether this version of the reports would show the same result in the same way."""
    return bool(stored.get("drawn_by") == shown_by())


@cache
def shown_by() -> str:
    """Return a digest of the code of all reports, which changes with an upgrade that words or draws one otherwise."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def from_json(stored: Any) -> Shown:
    """Return what `to_json` wrote."""
    tables = []
    for table in stored["tables"]:
        columns = tuple(Column(name, label, ColumnType(kind)) for name, label, kind in table["columns"])
        rows = (
            tuple(_cell_from_json(column.type, cell) for column, cell in zip(columns, row, strict=True))
            for row in table["rows"]
        )
        tables.append(Table(table["name"], table["title"], columns, tuple(rows)))
    pictures = [Picture(**picture) for picture in stored["pictures"]]
    return Shown(stored["summary"], tables, pictures, [File(**file) for file in stored["files"]])


def _cell_from_json(kind: ColumnType, cell: Any) -> Cell:
    if isinstance(cell, dict):
        return Linked(**cell)
    if kind is ColumnType.DAY and cell is not None:
        return date.fromisoformat(cell)
    return cell

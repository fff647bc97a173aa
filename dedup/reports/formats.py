"""A report's result as JSON, CSV and text. All three hold the same numbers."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Iterable
from datetime import date
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as TextTable

from articles.files.cells import FORMULA_BEGINNINGS, csv_text
from dedup.reports.columns import Cell, Table
from dedup.rows.columns import Column, ColumnType

# The width of tables for files and other programs; a terminal has its own width.
_WIDTH = 120


def as_json(result: Any) -> str:
    """Return a result as JSON; days are YYYY-MM-DD."""
    return json.dumps(result, indent=2, default=_plain)


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
        console.print(_text_table(table))


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


def _text_table(table: Table) -> TextTable:
    text = TextTable(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        text.add_column(column.label, justify="right" if column.is_number else "left")
    for row in table.written():
        text.add_row(*(cell for _, cell in row))
    return text

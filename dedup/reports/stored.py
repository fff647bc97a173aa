"""A result as it is kept: the sentence, tables, charts and files, to and from JSON."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from dedup.reports.base import File, Report
from dedup.reports.columns import Cell, Linked, Table
from dedup.reports.drawing import svg
from dedup.rows.columns import Column, ColumnType


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
    return {
        "summary": shown.summary,
        "tables": [_table_to_json(table) for table in shown.tables],
        "pictures": [dataclasses.asdict(picture) for picture in shown.pictures],
        "files": [dataclasses.asdict(file) for file in shown.files],
        "drawn_by": shown_by(),
    }


def is_current(stored: dict[str, Any]) -> bool:
    """Return whether this version of the reports would show the same result in the same way."""
    return bool(stored.get("drawn_by") == shown_by())


@cache
def shown_by() -> str:
    """Return a digest of the code of all reports, which changes with an upgrade that words or draws one otherwise."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def from_json(stored: dict[str, Any]) -> Shown:
    """Return what `to_json` wrote."""
    return Shown(
        stored.get("summary", stored.get("says", "")),
        [_table_from_json(each) for each in stored["tables"]],
        [Picture(**each) for each in stored["pictures"]],
        [File(**each) for each in stored["files"]],
    )


def _table_to_json(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "columns": [[column.name, column.label, column.type.value] for column in table.columns],
        "rows": [[_cell_to_json(cell) for cell in row] for row in table.rows],
    }


def _table_from_json(stored: dict[str, Any]) -> Table:
    columns = tuple(Column(name, label, ColumnType(kind)) for name, label, kind in stored["columns"])
    rows = (
        tuple(_cell_from_json(column.type, cell) for column, cell in zip(columns, row, strict=True))
        for row in stored["rows"]
    )
    return Table(stored["name"], stored["title"], columns, tuple(rows))


def _cell_to_json(cell: Cell) -> Any:
    if isinstance(cell, Linked):
        return dataclasses.asdict(cell)
    return cell.isoformat() if isinstance(cell, date) else cell


def _cell_from_json(kind: ColumnType, cell: Any) -> Cell:
    if isinstance(cell, dict):
        return Linked(**cell)
    if kind is ColumnType.DAY and cell is not None:
        return date.fromisoformat(cell)
    return cell

"""Files of rows for other programs: what an export is, and its rows as CSV or JSON lines, piece by piece."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from articles.files.cells import csv_text, guarded

# Rows fetched from the database at a time; memory holds no more.
ROWS_AT_ONCE = 2_000
# A piece of so many lines is handed on at once.
_LINES_AT_ONCE = 200

Cells = Iterable[dict[str, Any]]


@dataclass(frozen=True)
class Export:
    """A table for other programs. `columns` explains each column; `rows` yields the rows of a list, ordered by ids."""

    name: str
    help: str
    columns: Mapping[str, str]
    rows: Callable[[QuerySet[Any]], Iterator[dict[str, Any]]]


def in_batches(rows: QuerySet[Any]) -> Iterator[list[Any]]:
    """Yield rows of a query ROWS_AT_ONCE at a time, all as of one moment: a cursor of the server keeps the others."""
    with transaction.atomic():
        streamed = rows.iterator(ROWS_AT_ONCE)
        while batch := list(islice(streamed, ROWS_AT_ONCE)):
            yield batch


def json_lines(_columns: Iterable[str], rows: Cells) -> Iterator[str]:
    """Yield a JSON object for each row; days are YYYY-MM-DD, and moments are ISO 8601 in UTC."""
    lines = (json.dumps(row, ensure_ascii=False, default=_plain) + "\n" for row in rows)
    while piece := list(islice(lines, _LINES_AT_ONCE)):
        yield "".join(piece)


def csv_lines(columns: Iterable[str], rows: Cells) -> Iterator[str]:
    """Yield a header and a line for each row.

    What is none is an empty cell; lists and mappings are JSON. A text that a spreadsheet would run as a formula gets an
    apostrophe in front.
    """
    yield csv_text([columns])
    lines = ([_cell(value) for value in row.values()] for row in rows)
    while piece := list(islice(lines, _LINES_AT_ONCE)):
        yield csv_text(piece)


FORMATS: dict[str, Callable[[Iterable[str], Cells], Iterator[str]]] = {"csv": csv_lines, "jsonl": json_lines}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, datetime.date):
        return _plain(value)
    return json.dumps(value, ensure_ascii=False) if value or value in (0, False) else ""


def _plain(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat(timespec="seconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"a row holds {value!r}, which JSON cannot represent")

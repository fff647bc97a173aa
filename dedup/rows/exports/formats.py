"""The rows of an export as CSV or JSON lines, piece by piece."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from articles.files.cells import guarded

# A piece of so many lines is handed on at once.
_LINES_AT_ONCE = 200

Rows = Iterable[dict[str, Any]]


def json_lines(_columns: Iterable[str], rows: Rows) -> Iterator[str]:
    """Yield a JSON object for each row; days are YYYY-MM-DD, and moments are ISO 8601 in UTC."""
    lines = (json.dumps(row, ensure_ascii=False, default=_plain) + "\n" for row in rows)
    while piece := list(islice(lines, _LINES_AT_ONCE)):
        yield "".join(piece)


def csv_lines(columns: Iterable[str], rows: Rows) -> Iterator[str]:
    """Yield a header and a line for each row.

    What is none is an empty cell; lists and mappings are JSON. A text that a spreadsheet would run as a formula gets an
    apostrophe in front.
    """
    yield _csv([columns])
    lines = ([_cell(value) for value in row.values()] for row in rows)
    while piece := list(islice(lines, _LINES_AT_ONCE)):
        yield _csv(piece)


FORMATS: dict[str, Callable[[Iterable[str], Rows], Iterator[str]]] = {"csv": csv_lines, "jsonl": json_lines}


def _csv(lines: Iterable[Iterable[str]]) -> str:
    written = io.StringIO()
    # All in quotes: a carriage return in a cell would otherwise end the row in some programs.
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(lines)
    return written.getvalue()


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

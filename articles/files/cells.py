"""The cells of CSV files that export_articles writes, and how such a file is recognised. Pure."""

import csv
import io
import re
from collections.abc import Collection, Iterable
from typing import Any

# Every export has these columns. A file that has all of them is read as an export.
SIGNATURE = frozenset(
    (
        *("id", "external_id", "date", "headline", "url", "content"),
        *("language", "byline", "agency", "dateline", "newspaper"),
    )
)
# Spreadsheets run a cell that begins with one of these as a formula. Source: OWASP, "CSV Injection".
FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n")

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


def is_export(names: Collection[str]) -> bool:
    """Return whether a row or a header with these columns was written by export_articles."""
    return SIGNATURE.issubset(names)


def csv_text(lines: Iterable[Iterable[Any]], *, quoting: Any = csv.QUOTE_ALL, line_end: str = "\n") -> str:
    """Return these lines as CSV.

    All cells are in quotes, unless told otherwise: a carriage return would else end the row in some programs.
    """
    written = io.StringIO()
    csv.writer(written, quoting=quoting, lineterminator=line_end).writerows(lines)
    return written.getvalue()


def guarded(cell: str) -> str:
    """Return the cell with an apostrophe in front if a spreadsheet would run it as a formula, and else unchanged."""
    return f"'{cell}" if _is_formula(cell) else cell


def unguarded(cell: str) -> str:
    """Return the cell that `guarded` made this one of."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    """Return whether it would be one without the apostrophes it begins with: they may be the text's own."""
    bare = cell.lstrip("'")
    return bare.startswith(FORMULA_BEGINNINGS) and not _NUMBER.fullmatch(bare)

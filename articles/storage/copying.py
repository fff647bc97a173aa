"""Rows for PostgreSQL's COPY in text format.

Source: PostgreSQL manual, "COPY", File Formats. Written here and not by psycopg, because other processes make the rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from psycopg import sql

# The backslash first, because the others become one.
_ESCAPES = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))
_TRUTHS = {True: "t", False: "f"}


def copy_row(values: Iterable[object]) -> bytes:
    """Return a row of texts, numbers, truth values, days, times in UTC and UUIDs, with its line break; None: NULL."""
    return ("\t".join(map(_cell, values)) + "\n").encode()


def copy_cells(values: Iterable[object]) -> bytes:
    """Return the beginning of a row: the same values, and the tab before the next."""
    return ("\t".join(map(_cell, values)) + "\t").encode()


def copy_into(table: str, columns: Iterable[str], rows: Iterable[bytes]) -> None:
    """Add rows to a table, in their order. Raises DatabaseError."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        copy.write(b"".join(rows))


def _cell(value: object) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return _TRUTHS[value]
    text = str(value)
    for character, escaped in _ESCAPES:
        if character in text:
            text = text.replace(character, escaped)
    return text

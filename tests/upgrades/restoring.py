"""Restoring the dump of a state, and reading all rows of a database."""

from __future__ import annotations

import gzip
import re
from typing import Any

import psycopg
from psycopg import sql

from tests.upgrades.states import State

# One row as it is stored: column -> value; rows are named by table and primary key.
Row = dict[str, Any]
Rows = dict[str, dict[str, Row]]

_COPY = re.compile(r"^(COPY [^\n]* FROM stdin;)\n(.*?)^\\\.\n", re.MULTILINE | re.DOTALL)
_KEYS = """
SELECT class.relname, array_agg(attribute.attname::text ORDER BY attribute.attnum)
FROM pg_index AS index
JOIN pg_class AS class ON class.oid = index.indrelid
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum = ANY (index.indkey)
WHERE index.indisprimary AND class.relnamespace = 'public'::regnamespace
GROUP BY class.relname ORDER BY class.relname
"""


def restore(state: State, url: str) -> None:
    """Restore the dump of a state into an empty database."""
    dump = gzip.decompress(state.path.read_bytes()).decode()
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        before = 0
        for table in _COPY.finditer(dump):
            cursor.execute(dump[before : table.start()])  # type: ignore[arg-type]
            with cursor.copy(table[1]) as copy:  # type: ignore[arg-type]
                copy.write(table[2])
            before = table.end()
        cursor.execute(dump[before:])  # type: ignore[arg-type]


def all_rows(url: str) -> Rows:
    """Return all rows of all tables that have a primary key."""
    found: Rows = {}
    with psycopg.connect(url) as connection:
        for table, keys in connection.execute(_KEYS).fetchall():
            select = sql.SQL("SELECT to_jsonb({table}) FROM {table}").format(table=sql.Identifier(table))
            rows = [row for (row,) in connection.execute(select)]
            found[table] = {"/".join(str(row[key]) for key in keys): row for row in rows}
    return found

"""Looks for a text in every text, JSON and bytea column of every table of the database."""

from __future__ import annotations

import base64
import gzip
import zlib
from typing import Any

from django.db import connection
from psycopg import sql

_COLUMNS_SQL = """
SELECT table_name, column_name, data_type, udt_name FROM information_schema.columns
WHERE table_schema = 'public' AND is_generated = 'NEVER'
    AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public')
    AND (data_type IN ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY', 'uuid', 'character'))
ORDER BY table_name, ordinal_position
"""


def columns_with(*markers: str) -> set[str]:
    """Return the columns, as table.column, with a value that has one of these texts, whatever its case or packing."""
    wanted = [marker.casefold() for marker in markers]
    found = set()
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS_SQL)
        for table, column, kind, _ in cursor.fetchall():
            name = sql.Identifier(column)
            value = name if kind == "bytea" else sql.SQL("{}::text").format(name)
            cursor.execute(sql.SQL("SELECT {} FROM {} WHERE {} IS NOT NULL").format(value, sql.Identifier(table), name))
            if any(
                text_wanted in text
                for (stored,) in cursor.fetchall()
                for text in _texts(stored)
                for text_wanted in wanted
            ):
                found.add(f"{table}.{column}")
    return found


def _texts(stored: Any) -> list[str]:
    """Return a value as text, in all ways in which this program packs texts."""
    if isinstance(stored, str):
        return [stored.casefold(), *_session(stored)]
    raw = bytes(stored)
    packed = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else b""
    return [form.decode("utf-8", "replace").casefold() for form in (raw, packed)]


def _session(stored: str) -> list[str]:
    """Return what a session holds: JSON, compressed, in base 64, before its signature."""
    if not stored.startswith("."):
        return []
    data = stored[1:].partition(":")[0]
    return [zlib.decompress(base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))).decode().casefold()]

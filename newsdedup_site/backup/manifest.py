"""What a backup says of itself: who wrote it, the state of the tables, and how many rows each has.

And what a database says of the same: its tables, their rows and sequences, and digests by which rows are compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import Any, LiteralString, cast

from django.db import connection
from psycopg.sql import SQL, Identifier

from articles.loading import when_used

pydantic = when_used("pydantic")


class BackupError(RuntimeError):
    """A backup cannot be made; nothing was written, and an older file of that name stays."""


class DamagedBackupError(RuntimeError):
    """A file is no backup, or not as it was written. Nothing was restored."""


class RestoreError(RuntimeError):
    """A backup cannot be restored here, and the message says what to do. Nothing was restored."""


# Called with a step and the number of bytes done in it.
Progress = Callable[[str, int], None]
# Increase this when a reader of before could not read a backup any more. Layout 1 had two formats, and said which.
LAYOUT = 2


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns in order, its rows, and their digest (digest_of), which does not depend on their order.

    `sha256` is that of its data as COPY wrote it.
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    digest: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A sequence and where it was."""

    name: str
    last_value: int
    is_called: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup has. `postgresql` is the server's version as a number, such as 180006."""

    newsdedup: str
    postgresql: int
    made_at: str
    migrations: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    sequences: tuple[Sequence, ...]

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    @property
    def server(self) -> int:
        """The major version of the server."""
        return self.postgresql // 10_000

    def packed(self) -> bytes:
        return json.dumps({"layout": LAYOUT, **asdict(self)}, indent=1).encode()

    @classmethod
    def unpacked(cls, packed: bytes) -> Manifest:
        """Return what packed() made. Raises DamagedBackupError."""
        try:
            values: dict[str, Any] = json.loads(packed)
            if values.pop("layout") > LAYOUT:
                raise DamagedBackupError("The backup has a newer layout. Upgrade newsdedup, then restore it.")
            return cast("Manifest", pydantic.TypeAdapter(cls).validate_python(values))
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedBackupError("The list of what the backup has is damaged. Use another backup.") from error


# Whatever the program made in its schema; what an extension made belongs to the extension.
_TABLES_SQL: LiteralString = """
SELECT class.relname, array_agg(attribute.attname ORDER BY attribute.attnum)
FROM pg_class AS class
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid
WHERE class.relnamespace = current_schema()::regnamespace AND class.relkind = 'r'
    AND attribute.attnum > 0 AND NOT attribute.attisdropped AND attribute.attgenerated = ''
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = class.oid AND deptype = 'e')
GROUP BY class.relname
ORDER BY class.relname
"""
_SEQUENCES_SQL: LiteralString = """
SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema() ORDER BY sequencename
"""
_SEQUENCE_SQL = SQL("SELECT last_value, is_called FROM {}")
_MIGRATIONS_SQL: LiteralString = "SELECT app, name FROM django_migrations ORDER BY app, name"
# Rows as text are the same on every server with these, and COPY writes the same.
_SETTINGS_SQL: LiteralString = """
SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL TimeZone = 'UTC';
SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SET LOCAL xmlbinary = 'base64';
SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0
"""
# The sum does not depend on the order of the rows, in which a restored table differs.
_DIGEST_SQL = SQL("""
SELECT count(*), coalesce(sum(hashtextextended(ROW({columns})::text, 0)::numeric), 0)::text FROM {table}
""")
# What migrations, or a worker that waits, write into a new database.
_FIRST_ROWS = {
    *("auth_group", "auth_group_permissions", "auth_permission", "dedup_profile", "dedup_questioncount"),
    *("dedup_worker", "django_content_type", "django_migrations"),
}
_DROP_SQL: LiteralString = """
DO $$
DECLARE
    each record;
BEGIN
    FOR each IN
        SELECT class.oid, CASE class.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
        FROM pg_class AS class
        WHERE class.relnamespace = current_schema()::regnamespace AND class.relkind IN ('v', 'r', 'S')
            AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = class.oid AND deptype = 'e')
        ORDER BY array_position(ARRAY['v', 'r', 'S']::"char"[], class.relkind)
    LOOP
        IF EXISTS (SELECT FROM pg_class WHERE oid = each.oid) THEN
            EXECUTE format('DROP %s %s CASCADE', each.kind, each.oid::regclass);
        END IF;
    END LOOP;
    FOR each IN
        SELECT routine.oid FROM pg_proc AS routine
        WHERE routine.pronamespace = current_schema()::regnamespace AND routine.proname ~ '^_?pgtrigger_'
            AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = routine.oid AND deptype = 'e')
    LOOP
        EXECUTE format('DROP FUNCTION %s CASCADE', each.oid::regprocedure);
    END LOOP;
END
$$
"""


def set_up(cursor: Any) -> None:
    """Have the rest of the transaction write values as text in the same way on every server."""
    cursor.execute(_SETTINGS_SQL)


def server_version() -> int:
    """Return the version of the server as a number, such as 180006."""
    connection.ensure_connection()
    return connection.connection.info.server_version


def tables_of(cursor: Any) -> dict[str, tuple[str, ...]]:
    """Return the tables, each with its columns in order."""
    cursor.execute(_TABLES_SQL)
    return {name: tuple(columns) for name, columns in cursor}


def sequences_of(cursor: Any) -> tuple[Sequence, ...]:
    cursor.execute(_SEQUENCES_SQL)
    found = []
    for (name,) in cursor.fetchall():
        cursor.execute(_SEQUENCE_SQL.format(Identifier(name)))
        found.append(Sequence(name, *cursor.fetchone()))
    return tuple(found)


def migrations_of(cursor: Any) -> tuple[tuple[str, str], ...]:
    cursor.execute(_MIGRATIONS_SQL)
    return tuple(cursor.fetchall())


def digest_of(cursor: Any, table: str, columns: Collection[str]) -> tuple[int, str]:
    """Return how many rows a table has, and a digest of them in any order, after `set_up`."""
    cursor.execute(_DIGEST_SQL.format(columns=SQL(", ").join(map(Identifier, columns)), table=Identifier(table)))
    found: tuple[int, str] = cursor.fetchone()
    return found


def first_filled(cursor: Any) -> str:
    """Return a table with rows that are not of a new database; empty if there is none."""
    for table in tables_of(cursor):
        if table not in _FIRST_ROWS:
            cursor.execute(SQL("SELECT EXISTS (SELECT FROM {})").format(Identifier(table)))
            if cursor.fetchone() == (True,):
                return table
    return ""


def drop_all(cursor: Any) -> None:
    """Drop all tables, views and sequences of the program. Its extension stays."""
    cursor.execute(_DROP_SQL)

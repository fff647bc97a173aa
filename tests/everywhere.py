"""Where a text is stored: in any column of any table."""

from __future__ import annotations

from django.db import connection
from psycopg import sql


def stored_in(text: str) -> list[str]:
    """Return the names of the tables with a row that has this text in some column, in order."""
    found = []
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            statement = sql.SQL("SELECT EXISTS (SELECT FROM {} AS stored WHERE stored::text LIKE %s)")
            cursor.execute(statement.format(sql.Identifier(table)), [f"%{text}%"])
            if cursor.fetchone()[0]:
                found.append(table)
    return found

"""The rows that the migrations wrote: kept, and put back after every test whose transactions end.

Django would truncate every table and store these rows one by one, which takes a second. Deleting what a test stored
and copying them back are milliseconds.
"""

from functools import cache

from django.db import connection, transaction
from psycopg.sql import SQL, Composed, Identifier

KEPT = "initial_rows"


def keep() -> None:
    """Copy the rows of this moment into a schema of their own; from now on, no commit waits for the disk."""
    with connection.cursor() as cursor:
        database = Identifier(connection.settings_dict["NAME"])
        cursor.execute(SQL("ALTER DATABASE {} SET synchronous_commit = off").format(database))
        cursor.execute(SQL("DROP SCHEMA IF EXISTS {0} CASCADE; CREATE SCHEMA {0}").format(Identifier(KEPT)))
        for table in _tables():
            cursor.execute(SQL("SELECT EXISTS (SELECT FROM {})").format(Identifier(table)))
            if cursor.fetchone() == (True,):
                copy = SQL("CREATE TABLE {} AS TABLE {}").format(Identifier(KEPT, table), Identifier(table))
                cursor.execute(copy)


def put_back() -> None:
    """Delete all rows, and copy those of the migrations back."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_put_back_sql())


@cache
def _put_back_sql() -> Composed:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [KEPT])
        kept = [table for (table,) in cursor]
    tables = _tables()
    # The lock waits for what a killed process is still storing. In the role of a replica no trigger fires: rows that
    # the program never deletes can be deleted, and rows that refer to each other in any order.
    locked = SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(SQL(", ").join(map(Identifier, tables)))
    deleted = [SQL("DELETE FROM {}").format(Identifier(table)) for table in tables]
    copied = [SQL("INSERT INTO {} TABLE {}").format(Identifier(table), Identifier(KEPT, table)) for table in kept]
    replica = SQL("SET LOCAL session_replication_role = replica")
    return SQL("; ").join([locked, replica, *deleted, *copied])


def _tables() -> list[str]:
    return sorted(connection.introspection.django_table_names(only_existing=True, include_views=False))

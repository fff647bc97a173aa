"""A temporary schema in the same database, with the project's tables and nothing in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import ProgrammingError, connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from articles.storage.locks import Lock, try_lock, unlock, wait_for_lock
from dedup.detection.runs.article_cache import ARTICLES

_PREFIX = "newsdedup_evaluate_"
# Appendix A of the PostgreSQL manual.
_INSUFFICIENT_PRIVILEGE = "42501"

_FOUND_SQL = "SELECT nspname FROM pg_namespace WHERE nspname ~ %s ORDER BY nspname"
_TRIGRAMS_SQL = """
SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm'
"""


class ScratchError(RuntimeError):
    """The scratch schema cannot be created; the message says what to do."""


@contextmanager
def scratch_schema() -> Iterator[str]:
    """Direct all queries of this process, and of the worker processes that it starts, to a schema of its own.

    The schema is dropped at the end, even after an error. Schemas that killed processes left behind are dropped first:
    a schema in use is locked on a separate connection. Do not call it in a transaction. Raises ScratchError.
    """
    holder = connection.copy()
    try:
        with holder.cursor() as cursor:
            _drop_abandoned(cursor)
            trigrams = _schema_of_trigrams(cursor)
            schema = _create(cursor)
            try:
                with _search_path(schema, trigrams):
                    # One process at a time, because the triggers of all schemas share a function in public.
                    wait_for_lock(cursor, Lock.SCRATCH, 0)
                    try:
                        _migrate()
                    finally:
                        unlock(cursor, Lock.SCRATCH, 0)
                    yield schema
            finally:
                _drop(cursor, schema)
    finally:
        holder.close()


def _drop_abandoned(cursor: Any) -> None:
    cursor.execute(_FOUND_SQL, [f"^{_PREFIX}[0-9]+$"])
    for (schema,) in cursor.fetchall():
        number = int(schema.removeprefix(_PREFIX))
        if try_lock(cursor, Lock.SCRATCH, number):
            _drop(cursor, schema)
            unlock(cursor, Lock.SCRATCH, number)


def _schema_of_trigrams(cursor: Any) -> str:
    cursor.execute(_TRIGRAMS_SQL)
    row = cursor.fetchone()
    if row is None:
        raise ScratchError("the database has no extension pg_trgm; run manage.py migrate first")
    return str(row[0])


def _create(cursor: Any) -> str:
    cursor.execute("SELECT pg_backend_pid(), current_user, current_database()")
    number, role, database = cursor.fetchone()
    wait_for_lock(cursor, Lock.SCRATCH, number)
    schema = f"{_PREFIX}{number}"
    try:
        cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", None) != _INSUFFICIENT_PRIVILEGE:
            raise
        grant = f'GRANT CREATE ON DATABASE "{database}" TO "{role}"'
        raise ScratchError(
            f"the role {role} may not create schemas in the database {database}; ask its owner to run {grant}, "
            "or import the articles and evaluate without --articles"
        ) from error
    return schema


def _drop(cursor: Any, schema: str) -> None:
    cursor.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))


def _migrate() -> None:
    """Create the tables of the detection."""
    # Without its own table of migrations, migrate would read the one of the next schema on the path and do nothing.
    with connection.schema_editor() as editor:
        editor.create_model(MigrationRecorder.Migration)
    for label in ("articles", "dedup"):
        call_command("migrate", label, interactive=False, verbosity=0)


@contextmanager
def _search_path(*schemas: str) -> Iterator[None]:
    """Make this process, and those that it starts, look for tables in these schemas only."""
    values = connection.settings_dict
    before = values["OPTIONS"]
    options = f"{before.get('options', '')} -c search_path={','.join(schemas)}".strip()
    environment = {name: os.environ.get(name) for name in ("DATABASE_URL", "SECRET_KEY")}
    try:
        # Worker processes read their settings from the environment. The embedded server does not accept PGOPTIONS.
        os.environ["DATABASE_URL"] = _with_options(os.environ.get("DATABASE_URL", "").strip() or _url(values), options)
        os.environ["SECRET_KEY"] = settings.SECRET_KEY
        _reconnect({**before, "options": options})
        yield
    finally:
        for name, value in environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _reconnect(before)


def _reconnect(options: dict[str, Any]) -> None:
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    connection.settings_dict["OPTIONS"] = options
    # Both are cached by id, and another schema uses the same ids for other rows.
    ContentType.objects.clear_cache()
    ARTICLES.clear()


def _url(values: dict[str, Any]) -> str:
    """Return the URL of a database with host and port as parameters: a socket's folder fits nowhere else."""
    login = ":".join(quote(values[name], safe="") for name in ("USER", "PASSWORD") if values[name])
    return f"postgres://{login}@/{values['NAME']}?" + urlencode({"host": values["HOST"], "port": values["PORT"]})


def _with_options(url: str, options: str) -> str:
    parts = urlsplit(url)
    query = {**dict(parse_qsl(parts.query)), "options": options}
    return urlunsplit(parts._replace(query=urlencode(query, quote_via=quote)))

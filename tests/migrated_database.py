"""A database on which the migrations have run, for test databases to be copies of.

The migrations take a worker longer than any test. Both workers use one such database, and so do later runs, until a
migration changes, or the version of a package that brings some. Django runs `migrate` on each copy all the same.
"""

import hashlib
import importlib.metadata
from pathlib import Path

from django.apps import apps
from django.db import connection
from django.db.backends.base.creation import BaseDatabaseCreation
from psycopg.sql import SQL, Identifier

PREFIX = "newsdedup_migrated_"
_LOCK = 7_303_014

_create = BaseDatabaseCreation.create_test_db  # before tests.mutations puts its own in place


def use() -> str:
    """Have the test database made as a copy; make the original if there is none, and return its name."""
    settings, test = connection.settings_dict, connection.settings_dict["TEST"]
    name = PREFIX + _digest()
    with connection.creation._nodb_cursor() as cursor:
        # The other worker waits; the lock goes with the connection.
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{PREFIX}%"])
        known = [label for (label,) in cursor]
        if name not in known:
            before = settings["NAME"], test.get("NAME")
            test["NAME"] = f"{PREFIX}unfinished"
            _create(connection.creation, verbosity=0, autoclobber=True, serialize=False)
            connection.close()
            settings["NAME"], test["NAME"] = before
            for label in {*known} - {f"{PREFIX}unfinished"}:
                cursor.execute(SQL("DROP DATABASE {}").format(Identifier(label)))
            rename = SQL("ALTER DATABASE {} RENAME TO {}")
            cursor.execute(rename.format(Identifier(f"{PREFIX}unfinished"), Identifier(name)))
    test["TEMPLATE"] = name
    return name


def _digest() -> str:
    """Return what changes with the migrations: their files, and the versions of the packages that bring some."""
    digest = hashlib.sha256()
    checkout = Path(__file__).parents[1]
    for app in apps.get_app_configs():
        if Path(app.path).is_relative_to(checkout) and ".venv" not in Path(app.path).parts:
            for path in sorted(Path(app.path, "migrations").glob("*.py")):
                digest.update(f"{app.label} {path.name}\n".encode() + path.read_bytes())
    for package in ("django", "django-axes", "django-pgtrigger", "django-tasks-db", "psycopg"):
        digest.update(f"{package} {importlib.metadata.version(package)}\n".encode())
    return digest.hexdigest()[:16]

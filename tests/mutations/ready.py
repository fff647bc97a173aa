"""A pytest plugin: a database from a template instead of migrations, and only the tests that are asked for, in order.

It is told what to do by environment variables: SELECTED names a file with the ids of the tests, and RESULT the file
that gets the id of the first test that failed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.db.backends.base.creation import BaseDatabaseCreation

from tests import migrated_database

SELECTED = "MUTATIONS_SELECTED"
RESULT = "MUTATIONS_RESULT"
DATABASE = "mutations"


def _from_template(creation: BaseDatabaseCreation, **_options: Any) -> str:
    """Create the test database as a copy, which is not migrated again: a mutant may leave anything in its own."""
    template = migrated_database.use()
    _admin(creation, f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    _admin(creation, f"CREATE DATABASE {DATABASE} TEMPLATE {template}")
    creation.connection.close()
    creation.connection.settings_dict["NAME"] = DATABASE
    return DATABASE


def _admin(creation: BaseDatabaseCreation, statement: str) -> None:
    with creation._nodb_cursor() as cursor:
        cursor.execute(statement)


def pytest_configure() -> None:
    BaseDatabaseCreation.create_test_db = _from_template
    BaseDatabaseCreation.destroy_test_db = lambda *_args, **_options: None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SELECTED in os.environ:
        order = {key: place for place, key in enumerate(json.loads(Path(os.environ[SELECTED]).read_text()))}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda each: order[each.nodeid])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed and RESULT in os.environ:
        result = Path(os.environ[RESULT])
        if not result.exists():
            result.write_text(report.nodeid)

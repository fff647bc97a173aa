"""A pytest plugin: a database from a template instead of migrations, and only the tests that are asked for, in order.

It is told what to do by environment variables: SELECTED names a file with the ids of the tests, RESULT the file that
gets the id of the first test that failed, and RECORD one that gets which tests run which lines of the mutated modules,
and how long each test takes.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest
from django.db.backends.base.creation import BaseDatabaseCreation

from tests import migrated_database
from tests.mutations.areas import CHECKOUT, all_modules

SELECTED = "MUTATIONS_SELECTED"
RESULT = "MUTATIONS_RESULT"
RECORD = "MUTATIONS_RECORD"
DATABASE = "mutations"


class Recorder:
    """Traces from the start of the process; each test is a context of its own, with its fixtures."""

    def __init__(self, result: Path) -> None:
        self._result = result
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._failed: set[str] = set()
        code = [str(CHECKOUT / path) for path in all_modules()]
        self._coverage = coverage.Coverage(data_file=None, include=code, config_file=False, messages=False)
        self._coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        yield
        self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data = self._coverage.get_data()
        lines = {
            str(Path(file).relative_to(CHECKOUT)): {
                str(line): [test for test in tests if test and test not in self._failed]
                for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        passed = {test: seconds for test, seconds in self._seconds.items() if test not in self._failed}
        self._result.write_text(json.dumps({"seconds": passed, "failed": sorted(self._failed), "lines": lines}))


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


def pytest_configure(config: pytest.Config) -> None:
    if RECORD in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ[RECORD])))
    BaseDatabaseCreation.create_test_db = _from_template
    BaseDatabaseCreation.destroy_test_db = lambda *_args, **_options: None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SELECTED in os.environ:
        order = {key: place for place, key in enumerate(json.loads(Path(os.environ[SELECTED]).read_text()))}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed and RESULT in os.environ:
        result = Path(os.environ[RESULT])
        if not result.exists():
            result.write_text(report.nodeid)

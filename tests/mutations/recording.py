"""A pytest plugin: records which tests run which lines of the mutated modules, and how long each test takes."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

from tests.mutations.areas import CHECKOUT, all_modules

RECORD = "MUTATIONS_RECORD"


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


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(Path(os.environ[RECORD])))

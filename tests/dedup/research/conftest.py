"""Scratch schemas that do not take five seconds each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from dedup.research import apart

PASSING = ("SELECT ", "SAVEPOINT ", "RELEASE SAVEPOINT ")
_migrate = apart._migrate


class RecordedMigration:
    """The first scratch schema is migrated; every later one is made by the statements that this took."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, Any]] = []

    def __call__(self) -> None:
        if self.statements:
            with connection.cursor() as cursor:
                for sql, parameters in self.statements:
                    cursor.execute(sql, parameters)
            return
        recorded: list[tuple[str, Any]] = []

        def record(execute: Any, sql: Any, parameters: Any, many: bool, context: Any) -> Any:
            assert not many
            result = execute(sql, parameters, many, context)
            # Not what only asks, and not the composed statements, which take and release a lock.
            if isinstance(sql, str) and not sql.startswith(PASSING):
                recorded.append((sql, parameters))
            return result

        with connection.execute_wrapper(record):
            _migrate()
        self.statements = recorded


@pytest.fixture(scope="session", autouse=True)
def _migrate_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "_migrate", RecordedMigration())
        yield

"""Files of a few articles and labels, and scratch schemas that do not take five seconds each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from dedup.research import apart
from tests.articles.rows import json_lines
from tests.dedup.research.small_corpus import ARTICLES, LABELS, RAIN, row


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return the options that name a file of articles and one of labels."""
    articles, labels = tmp_path / "articles.jsonl", tmp_path / "labels.jsonl"
    articles.write_bytes(json_lines(*ARTICLES, row(20, "2026-03-11", "Coast Echo", "Rain at noon", RAIN)))
    labels.write_bytes(json_lines(*LABELS))
    return [f"--articles={articles}", f"--labels={labels}"]


# ---- scratch schemas that do not take five seconds each ----------------------------------------------

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

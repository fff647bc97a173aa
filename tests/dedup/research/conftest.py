"""Files of a few articles and labels, and scratch schemas that are migrated once."""

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


PASSING = ("SELECT ", "SAVEPOINT ", "RELEASE SAVEPOINT ")


@pytest.fixture(scope="session", autouse=True)
def _migrate_once() -> Iterator[None]:
    """Migrate the first scratch schema, and make every later one by the statements that it took: five seconds less."""
    statements: list[tuple[str, Any]] = []
    migrate = apart._migrate

    def record(execute: Any, sql: Any, parameters: Any, many: bool, context: Any) -> Any:
        assert not many
        result = execute(sql, parameters, many, context)
        # Not what only asks, and not the composed statements, which take and release a lock.
        if isinstance(sql, str) and not sql.startswith(PASSING):
            statements.append((sql, parameters))
        return result

    def migrated() -> None:
        if not statements:
            with connection.execute_wrapper(record):
                migrate()
            return
        with connection.cursor() as cursor:
            for sql, parameters in statements:
                cursor.execute(sql, parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "_migrate", migrated)
        yield

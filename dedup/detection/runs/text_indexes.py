"""What a run keeps of each article's text, so that no run makes it again: written once per article, by many processes.

Articles get a higher revision whenever they change. Once all of them are in an index, it notes the highest revision;
from then on, only articles above it are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from articles.processes import THIS_PROCESS, Perform, Pool
from articles.storage.ingest import newest_revision
from dedup.detection.runs.phases import Progress, execute
from dedup.models import UpToDate

# Articles per transaction.
_WRITTEN_AT_ONCE = 2_000
# Starting another process takes a second, in which one writes this many articles.
_ARTICLES_PER_WORKER = 5_000


@dataclass(frozen=True, slots=True)
class IndexTask:
    """Some articles to write: those outdated among the ids from the first to the last, above a revision."""

    first_id: int
    last_id: int
    above: int
    articles: int


@dataclass(frozen=True, slots=True)
class TextIndex:
    """A table with one row for each article, and how its rows are made.

    `parts_sql` returns the outdated articles in parts, `read_sql` those of a part with its id first; `made` turns
    them into rows for `copy_sql`, and `on_made` gets these rows, in the same transaction.
    """

    name: str
    parts_sql: str
    read_sql: str
    delete_sql: str
    copy_sql: str
    types: Sequence[str]
    made: Callable[[Sequence[Any]], Iterator[tuple[Any, ...]]]
    on_made: Callable[[Sequence[tuple[Any, ...]]], None] = lambda _rows: None

    def write(self, task: IndexTask, on_written: Callable[[int], None]) -> None:
        """Write a part in one transaction; call `on_written` with the number of articles."""
        with transaction.atomic(), connection.cursor() as cursor:
            bounds = {"first_id": task.first_id, "last_id": task.last_id, "above": task.above}
            cursor.execute(self.read_sql, bounds)
            rows = cursor.fetchall()
            cursor.execute(self.delete_sql, {"ids": [row[0] for row in rows]})
            made = list(self.made(rows))
            with cursor.copy(self.copy_sql) as copy:
                copy.set_types(self.types)
                for row in made:
                    copy.write_row(row)
            self.on_made(made)
        on_written(len(rows))


def outdated_parts(index: TextIndex) -> list[IndexTask]:
    """Return the articles that are missing in an index or outdated, in parts."""
    above = UpToDate.objects.filter(name=index.name).values_list("revision", flat=True).first() or 0
    with connection.cursor() as cursor:
        cursor.execute(index.parts_sql, {"above": above, "part": _WRITTEN_AT_ONCE})
        return [IndexTask(first, last, above, articles) for first, last, articles in cursor]


def update_index(
    index: TextIndex,
    write: Perform[IndexTask, None],
    progress: Progress,
    *,
    pool: Pool = THIS_PROCESS,
    on_idle: Callable[[], None] = lambda: None,
) -> int:
    """Bring an index up to date with all articles; return how many were written. A step is shown if there are any.

    Each part is one transaction, so a process that is killed loses one part, and the next call does the rest.
    """
    newest = newest_revision()
    parts = outdated_parts(index)
    articles = sum(part.articles for part in parts)
    if parts:
        progress.start(index.name, articles)
    execute(
        parts,
        write,
        pool=pool,
        at_most=max(1, articles // _ARTICLES_PER_WORKER),
        on_read=lambda _part, written: progress.advance(index.name, written, 0),
        on_done=lambda _part, _result: None,
        on_idle=on_idle,
    )
    UpToDate.objects.update_or_create(name=index.name, defaults={"revision": newest})
    return articles

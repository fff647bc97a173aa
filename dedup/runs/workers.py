"""Worker processes for the tasks of a run: they use the database of their parent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import django
from django.db import connection

from articles.processes import Perform, Result, Task, Workers


def execute(
    tasks: Sequence[Task],
    perform: Perform[Task, Result],
    *,
    workers: int,
    on_read: Callable[[Task, int], None],
    on_done: Callable[[Task, Result], None],
) -> None:
    """Perform every task, in this process or in so many others; call back in this one as they come along.

    Raises what a task raises, and WorkerDiedError where a process was killed; the others are then ended.
    """
    database = connection.settings_dict["NAME"]
    with Workers(min(workers, len(tasks)), perform, connected, database) as processes:
        for place, result in processes.results(tasks, on_read):
            on_done(tasks[place], result)


@contextmanager
def connected(database: str) -> Iterator[None]:
    """Have all queries of a new process go to the database of this name."""
    django.setup()
    connection.settings_dict["NAME"] = database
    yield
    connection.close()

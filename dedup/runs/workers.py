"""Worker processes for the tasks of a run. They use the same database as their parent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.db import connection

from articles.processes import Perform, Result, Task, Workers
from articles.storage.workers import connected


def execute(
    tasks: Sequence[Task],
    perform: Perform[Task, Result],
    *,
    workers: int,
    on_read: Callable[[Task, int], None],
    on_done: Callable[[Task, Result], None],
    on_idle: Callable[[], None] = lambda: None,
) -> None:
    """Perform every task, in this process or in `workers` others; the callbacks run in this process.

    `on_idle` is called about once a second while other processes work and report nothing. Raises what a task or a
    callback raises, and WorkerDiedError if a process is killed; the other processes are then stopped.
    """
    database = connection.settings_dict["NAME"]
    with Workers(min(workers, len(tasks)), perform, connected, database) as processes:
        for place, result in processes.results(tasks, on_read, on_idle):
            on_done(tasks[place], result)

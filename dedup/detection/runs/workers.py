"""Tasks of a run, in this process or in those of its pool, which use the same database."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from articles.processes import Perform, Pool, Result, Task


def execute(
    tasks: Sequence[Task],
    perform: Perform[Task, Result],
    *,
    pool: Pool,
    at_most: int | None = None,
    on_read: Callable[[Task, int], None],
    on_done: Callable[[Task, Result], None],
    on_idle: Callable[[], None] = lambda: None,
) -> None:
    """Perform every task, in the processes of a pool; the callbacks run in this process.

    `at_most` so many processes are started for these tasks. `on_idle` is called about once a second while other
    processes work and report nothing. Raises what a task or a callback raises, and WorkerDiedError if a process is
    killed; the processes that are at a task are then stopped.
    """
    for place, result in pool.results(tasks, perform, at_most=at_most, on_progress=on_read, on_idle=on_idle):
        on_done(tasks[place], result)

"""Worker processes: they take tasks one by one, say how they come along, and die with their parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
# What a task is done with, and how it says how far it is. It is called in another process, so it must be a function of
# a module.
Perform = Callable[[Task, Callable[[int], None]], Result]
# What a process does before its first task and after its last one; likewise.
Begin = Callable[..., AbstractContextManager[Any]]

_PROGRESS, _DONE, _FAILED = "progress", "done", "failed"


class WorkerDiedError(RuntimeError):
    """A worker process ended without an answer."""


class Workers(Generic[Task, Result]):
    """At most so many processes, started as tasks ask for them; fewer than two are this process.

    Leaving the block ends them: at once where it is left by an exception.
    """

    def __init__(
        self, count: int, perform: Perform[Task, Result], begin: Begin = nullcontext, *arguments: object
    ) -> None:
        self._count = count
        self._perform = perform
        self._begin = partial(begin, *arguments)
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _traceback: TracebackType | None) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes if kind else ():
            process.terminate()
        for process in self._processes:
            process.join()

    def results(
        self, tasks: Sequence[Task], on_progress: Callable[[Task, int], None] = lambda _task, _amount: None
    ) -> Iterator[tuple[int, Result]]:
        """Yield the place and the result of every task, as they are done.

        Raises what a task raises, and WorkerDiedError where a process was killed.
        """
        if self._count < 2:
            for place, task in enumerate(tasks):
                yield place, self._perform(task, partial(on_progress, task))
            return
        while len(self._pipes) < min(self._count, len(tasks)):
            self._start()
        waiting, busy = deque(range(len(tasks))), dict[Any, int]()
        for pipe in self._pipes[: len(tasks)]:
            busy[pipe] = waiting.popleft()
            _send(pipe, tasks[busy[pipe]])
        while busy:
            for ready in wait(list(busy)):
                kind, content = _answer(ready)
                if kind == _PROGRESS:
                    on_progress(tasks[busy[ready]], content)
                    continue
                done = busy.pop(ready)
                if waiting:
                    busy[ready] = waiting.popleft()
                    _send(ready, tasks[busy[ready]])
                yield done, content

    def in_order(self, tasks: Sequence[Task]) -> list[Result]:
        """Return the results in the order of the tasks. A slow task holds up one process alone."""
        found = dict(self.results(tasks))
        return [found[place] for place in range(len(tasks))]

    def _start(self) -> None:
        # Not forked: the threads of this process (a progress bar has one) and its connection would be halved.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        # By its name, because its module may only be imported once the process has begun.
        perform = (self._perform.__module__, self._perform.__name__)
        process = context.Process(target=_serve, args=(theirs, self._begin, *perform))
        process.start()
        theirs.close()  # or the end of the process could not be seen on the pipe
        self._pipes.append(ours)
        self._processes.append(process)


def _send(pipe: Any, task: object) -> None:
    try:
        pipe.send(task)
    except ConnectionError:
        raise _died() from None


def _answer(pipe: Any) -> tuple[str, Any]:
    try:
        kind, content = pipe.recv()
    except (EOFError, ConnectionError):
        raise _died() from None
    if kind == _FAILED:
        raise content
    return kind, content


def _died() -> WorkerDiedError:
    return WorkerDiedError(
        "a worker process was killed, perhaps for want of memory; run the same command again with --workers 1"
    )


def _serve(pipe: Connection, begin: Begin, module: str, function: str) -> None:
    """Be a worker process: perform one task after the other until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this process
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with begin():
        perform: Perform[Any, Any] = getattr(__import__(module, fromlist=[function]), function)
        while True:
            try:
                task = pipe.recv()
            except EOFError:
                break
            try:
                result = perform(task, lambda amount: pipe.send((_PROGRESS, amount)))
            except Exception as error:  # noqa: BLE001 - it is raised again in the parent
                error.add_note(traceback.format_exc())
                pipe.send((_FAILED, error))
            else:
                pipe.send((_DONE, result))


def _die_with_parent() -> None:
    """End this process when its parent has ended, however it ended: nobody would know of its tasks."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

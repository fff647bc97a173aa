"""Worker processes, which take tasks one by one, report their progress, and end with their parent."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
# The function that performs a task; it calls its second argument to report progress. It is called in another process,
# so it must be a function of a module.
Perform = Callable[[Task, Callable[[int], None]], Result]
# What surrounds the tasks of a process, from before the first to after the last; also a function of a module.
Begin = Callable[..., AbstractContextManager[Any]]

_PROGRESS, _DONE, _FAILED = "progress", "done", "failed"
# While no process reports anything, whoever waits is called this often.
_IDLE_SECONDS = 1.0
# A stream has this many tasks under way for each process: one that it performs, and one that waits for it while the
# caller is busy with a result.
_UNDER_WAY = 2


class WorkerDiedError(RuntimeError):
    """A worker process ended without returning a result."""


class Workers(Generic[Task, Result]):
    """Up to `count` processes, started when there are tasks; with fewer than two, this process does the work.

    Leaving the block ends them; after an exception they are terminated.
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
        self,
        tasks: Sequence[Task],
        on_progress: Callable[[Task, int], None] = lambda _task, _amount: None,
        on_idle: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[int, Result]]:
        """Yield the index and the result of every task, in the order in which they finish.

        `on_idle` is called about once a second while other processes work and none of them reports anything. Raises
        what a task or a callback raises, and WorkerDiedError if a process was killed.
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
            answers = wait(list(busy), _IDLE_SECONDS)
            if not answers:
                on_idle()
            for ready in answers:
                kind, content = _answer(ready)
                if kind == _PROGRESS:
                    on_progress(tasks[busy[ready]], content)
                    continue
                done = busy.pop(ready)
                if waiting:
                    busy[ready] = waiting.popleft()
                    _send(ready, tasks[busy[ready]])
                yield done, content

    def stream(self, tasks: Iterable[Task]) -> Generator[tuple[Task, Result], None, None]:
        """Yield every task with its result, in the order of the tasks, which are taken only as processes need them.

        The processes go on while the caller is busy with a result. Leave the iterator by its end or close it: then no
        task is under way any more. Raises as `results` does; what tasks report is passed over.
        """
        if self._count < 2:
            for task in tasks:
                yield task, self._perform(task, lambda _amount: None)
            return
        while len(self._pipes) < self._count:
            self._start()
        free: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        for pipe in self._pipes:
            free.put(pipe)
        waiting: deque[tuple[Task, Future[Result]]] = deque()
        threads = ThreadPoolExecutor(self._count)
        try:
            for task in tasks:
                waiting.append((task, threads.submit(_asked, free, task)))
                if len(waiting) == _UNDER_WAY * self._count:
                    yield _first_of(waiting)
            while waiting:
                yield _first_of(waiting)
        finally:
            threads.shutdown(cancel_futures=True)

    def in_order(self, tasks: Sequence[Task]) -> list[Result]:
        """Return the results in the order of the tasks. A slow task delays only its own process."""
        found = dict(self.results(tasks))
        return [found[place] for place in range(len(tasks))]

    def _start(self) -> None:
        # Not forked: a child would share this process's database connection and lose its threads (of a progress bar).
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        # By name, because its module may be imported only inside the new process.
        perform = (self._perform.__module__, self._perform.__name__)
        process = context.Process(target=_serve, args=(theirs, self._begin, *perform))
        process.start()
        theirs.close()  # otherwise the pipe would not show the end of the process
        self._pipes.append(ours)
        self._processes.append(process)


def _asked(free: queue.SimpleQueue[Connection], task: object) -> Any:
    """Have a free process perform a task, and return the result."""
    pipe = free.get()
    try:
        _send(pipe, task)
        while (answer := _answer(pipe))[0] == _PROGRESS:
            pass
        return answer[1]
    finally:
        free.put(pipe)


def _first_of(waiting: deque[tuple[Task, Future[Result]]]) -> tuple[Task, Result]:
    task, result = waiting.popleft()
    return task, result.result()


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
        "a worker process was killed, perhaps because memory ran out; run the same command again with --workers 1"
    )


def _serve(pipe: Connection, begin: Begin, module: str, function: str) -> None:
    """Run in a worker process: perform tasks until the pipe is closed."""
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
    """End this process when its parent has ended, for whatever reason: nobody is left to read its results."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

"""Worker processes, which take tasks one by one, report their progress, and end with their parent."""

import ctypes
import errno
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
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
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


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that this machine, or what this process may use of it, has no memory left."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def in_batches(
    items: Iterable[Task], weight: Callable[[Task], int], most: int, *, count: int | None = None
) -> Iterator[list[Task]]:
    """Yield the items in lists, for a task each: one ends when it weighs `most` or more, or has `count` items."""
    batch: list[Task] = []
    held = 0
    for item in items:
        batch.append(item)
        held += weight(item)
        if held >= most or len(batch) == count:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


class Pool:
    """Up to `count` processes for tasks of any kind; with fewer than two, this process does the work.

    They are started when there are tasks, and kept for the next ones until the block ends:

        with Pool(2, connected, "newsdedup") as pool:
            for place, result in pool.results(tasks, perform):
                ...

    A process takes a second to start. So the tasks of a small job start `at_most` so many; all that run already help,
    and keep in memory what they keep from one task to the next. `begin` is called once in each process, with these
    arguments. Leaving the block ends the processes; after an exception they are terminated.
    """

    def __init__(self, count: int, begin: Begin = nullcontext, *arguments: object) -> None:
        self.count = count
        self._begin = partial(begin, *arguments)
        self._processes: dict[Connection, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_more: object) -> None:
        self.end(list(self._processes), at_once=kind is not None)

    def results(
        self,
        tasks: Sequence[Task],
        perform: Perform[Task, Result],
        *,
        at_most: int | None = None,
        on_progress: Callable[[Task, int], None] = lambda _task, _amount: None,
        on_idle: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[int, Result]]:
        """Yield the index and the result of every task, in the order in which they finish.

        `on_idle` is called about once a second while other processes work and none of them reports anything. Raises
        what a task or a callback raises, and WorkerDiedError if a process was killed. If the iterator is left before
        its end, the processes that are at a task are terminated.
        """
        pipes = self._pipes(len(tasks), at_most)
        if not pipes:
            for place, task in enumerate(tasks):
                yield place, perform(task, partial(on_progress, task))
            return
        waiting, busy = deque(range(len(tasks))), dict[Any, int]()
        try:
            for pipe in pipes:
                busy[pipe] = waiting.popleft()
                _send(pipe, perform, tasks[busy[pipe]])
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
                        _send(ready, perform, tasks[busy[ready]])
                    yield done, content
        finally:
            self.end(list(busy), at_once=True)

    def stream(
        self, tasks: Iterable[Task], perform: Perform[Task, Result], *, at_most: int | None = None, few: int = 0
    ) -> Generator[tuple[Task, Result], None, None]:
        """Yield every task with its result, in the order of the tasks, which are taken only as processes need them.

        The processes go on while the caller is busy with a result. Up to `few` tasks start no process. Leave the
        iterator by its end or close it: then no task is under way any more. Raises as `results` does; what tasks report
        is passed over.
        """
        tasks = iter(tasks)
        first = list(islice(tasks, few + 1))
        tasks = chain(first, tasks)
        pipes = self._pipes(self.count, at_most if len(first) > few else 1)
        if not pipes:
            for task in tasks:
                yield task, perform(task, lambda _amount: None)
            return
        free: queue.LifoQueue[Connection | None] = queue.LifoQueue()
        for pipe in pipes:
            free.put(pipe)
        waiting: deque[tuple[Task, Future[Result]]] = deque()
        threads = ThreadPoolExecutor(len(pipes))
        try:
            for task in tasks:
                waiting.append((task, threads.submit(self._asked, free, perform, task)))
                if len(waiting) == _UNDER_WAY * len(pipes):
                    yield _first_of(waiting)
            while waiting:
                yield _first_of(waiting)
        finally:
            threads.shutdown(cancel_futures=True)

    def _asked(self, free: queue.LifoQueue[Connection | None], perform: Perform[Any, Any], task: object) -> Any:
        """Have a free process perform a task, wait, and return the result; None is one that has yet to be started.

        If it was killed, another one is started for the next task.
        """
        pipe = free.get()
        try:
            pipe = pipe or self.start()
            _send(pipe, perform, task)
            while (answer := _answer(pipe))[0] == _PROGRESS:
                pass
            return answer[1]
        except WorkerDiedError:
            if pipe:
                self.end([pipe], at_once=True)
                pipe = None
            raise
        finally:
            free.put(pipe)

    def _pipes(self, tasks: int, at_most: int | None) -> list[Connection]:
        """Return the pipes to the processes for so many tasks; none if this process is to do the work."""
        wanted = min(self.count, tasks, max(len(self._processes), self.count if at_most is None else at_most))
        if self.count < 2 or (wanted < 2 and not self._processes):
            return []
        while len(self._processes) < wanted:
            self.start()
        return list(self._processes)[:wanted]

    def start(self) -> Connection:
        """Start a process, and return the pipe to it."""
        # Not forked: a child would share this process's database connection and lose its threads (of a progress bar).
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._begin))
        process.start()
        theirs.close()  # otherwise the pipe would not show the end of the process
        self._processes[ours] = process
        return ours

    def end(self, pipes: Sequence[Connection], *, at_once: bool) -> None:
        """End these processes and forget them; `at_once`: without waiting for their tasks."""
        ended = [self._processes.pop(pipe) for pipe in pipes]
        for pipe in pipes:
            pipe.close()
        for process in ended if at_once else ():
            process.terminate()
        for process in ended:
            process.join()


# For those who have no pool.
THIS_PROCESS = Pool(1)


class Workers(Pool, Generic[Task, Result]):
    """Processes for tasks of one kind that come one by one, for callers that must not wait, such as an event loop."""

    def __init__(
        self, count: int, perform: Perform[Task, Result], begin: Begin = nullcontext, *arguments: object
    ) -> None:
        super().__init__(count, begin, *arguments)
        self._perform = perform
        self._threads = ThreadPoolExecutor(max(count, 1))
        self._free: queue.LifoQueue[Connection | None] = queue.LifoQueue()  # started ones first
        for _ in range(count):
            self._free.put(None)

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        super().__exit__(kind, *more)

    def submit(self, task: Task) -> Future[Result]:
        """Have a process perform a task as soon as one is free, and return its result to come, without waiting.

        Each process starts with the first task that it gets, in a thread. A task whose process was killed raises
        WorkerDiedError, and the next task gets a new process.
        """
        if self.count < 2:
            return self._threads.submit(self._perform, task, lambda _amount: None)
        return self._threads.submit(self._asked, self._free, self._perform, task)


def _first_of(waiting: deque[tuple[Task, Future[Result]]]) -> tuple[Task, Result]:
    task, result = waiting.popleft()
    return task, result.result()


def _send(pipe: Any, perform: Perform[Any, Any], task: object) -> None:
    try:
        # By name, because its module may be imported only inside the new process.
        pipe.send((perform.__module__, perform.__name__, task))
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


def _serve(pipe: Connection, begin: Begin) -> None:
    """Run in a worker process: perform tasks until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this process
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with begin():
        before: tuple[str, str] | None = None
        while True:
            try:
                module, function, task = pipe.recv()
            except EOFError:
                break
            if before not in (None, (module, function)):
                _return_freed_memory()
            before = module, function
            try:
                perform: Perform[Any, Any] = getattr(__import__(module, fromlist=[function]), function)
                result = perform(task, lambda amount: pipe.send((_PROGRESS, amount)))
            except Exception as error:  # noqa: BLE001 - it is raised again in the parent
                error.add_note(traceback.format_exc())
                pipe.send((_FAILED, error))
            else:
                pipe.send((_DONE, result))
            task = result = None  # whatever they hold is not kept until the next task


def _return_freed_memory() -> None:
    """Return the memory that Python has freed to the system: tasks of another kind need other amounts.

    glibc keeps much of it for the process, malloc_trim(3); elsewhere this does nothing.
    """
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


def _die_with_parent() -> None:
    """End this process when its parent has ended, for whatever reason: nobody is left to read its results."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

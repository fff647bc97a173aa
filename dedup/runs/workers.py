"""Worker processes for the blocks of a run: they take tasks, tell what they have read, and die with their parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

import django
from django.db import connection

Task = TypeVar("Task")
Result = TypeVar("Result")
# What a task is done with: it is called in another process, so it must be a function of a module.
Perform = Callable[[Task, Callable[[int], None]], Result]

_READ, _DONE, _FAILED = "read", "done", "failed"


class WorkerDiedError(RuntimeError):
    """A worker process ended without an answer."""


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
    if min(workers, len(tasks)) < 2:
        for task in tasks:
            on_done(task, perform(task, partial(on_read, task)))
        return
    waiting, busy = deque(tasks), dict[Any, Task]()
    with _processes(min(workers, len(tasks)), perform) as pipes:
        for pipe in pipes:
            busy[pipe] = _give(pipe, waiting.popleft())
        while busy:
            for ready in wait(list(busy)):
                kind, content = _answer(ready)
                if kind == _READ:
                    on_read(busy[ready], content)
                    continue
                on_done(busy.pop(ready), content)
                if waiting:
                    busy[ready] = _give(ready, waiting.popleft())


def _give(pipe: Any, task: Task) -> Task:
    pipe.send(task)
    return task


def _answer(pipe: Any) -> tuple[str, Any]:
    try:
        kind, content = pipe.recv()
    except (EOFError, ConnectionError):
        raise WorkerDiedError(
            "a worker process was killed, perhaps for want of memory; run the same command again with --workers 1"
        ) from None
    if kind == _FAILED:
        raise content
    return kind, content


@contextmanager
def _processes(count: int, perform: Perform[Any, Any]) -> Iterator[list[Connection]]:
    """Start the processes and give a pipe to each. They end when the pipes are closed, or are ended."""
    # Not forked: the threads of this process (a progress bar has one) and its connection would be halved.
    context = multiprocessing.get_context("spawn")
    pairs = [context.Pipe() for _ in range(count)]
    processes = [
        context.Process(
            target=_serve, args=(theirs, connection.settings_dict["NAME"], perform.__module__, perform.__name__)
        )
        for _, theirs in pairs
    ]
    try:
        for process, (_, theirs) in zip(processes, pairs, strict=True):
            process.start()
            theirs.close()  # or the end of the process could not be seen on the pipe
        yield [ours for ours, _ in pairs]
        for ours, _ in pairs:
            ours.close()
    except BaseException:
        for process in processes:
            if process.pid is not None:
                process.terminate()
        raise
    finally:
        for process in processes:
            if process.pid is not None:
                process.join()


def _serve(pipe: Connection, database: str, module: str, function: str) -> None:
    """Be a worker process: perform one task after the other until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this process
    threading.Thread(target=_die_with_parent, daemon=True).start()
    django.setup()
    connection.settings_dict["NAME"] = database
    perform: Perform[Any, Any] = getattr(__import__(module, fromlist=[function]), function)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            break
        try:
            result = perform(task, lambda articles: pipe.send((_READ, articles)))
        except Exception as error:  # noqa: BLE001 - it is raised again in the parent
            error.add_note(traceback.format_exc())
            pipe.send((_FAILED, error))
        else:
            pipe.send((_DONE, result))
    connection.close()


def _die_with_parent() -> None:
    """End this process when its parent has ended, however it ended: nobody would know of its blocks."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

"""Runs two writers on two connections in an order that the test decides, statement by statement.

Each writer has a thread and a connection of its own, and stops before each statement and each commit until it may go
on. Nothing sleeps: who waits for a lock is seen in pg_blocking_pids, or asks for the same advisory lock once more.

Every order of two writers with thirty statements each is more than anybody can try. Most faults need one switch from
one to the other (Musuvathi, Qadeer: Iterative Context Bounding, PLDI 2007), so a schedule is: one writer goes up to a
statement, the other goes as far as it can, the first one ends, the other ends. What comes out has to be what one of
the two gives that run one after the other.
"""

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import connection

World = TypeVar("World")
# With INTERLEAVINGS=few, the first writer is interrupted before its last write, which is the commit; with both, each
# before its first write, its last one, and so many other statements; with all, each before every statement.
_BY_CHANCE = 1
_PATIENCE_SECONDS = 60.0
_LOOK_SECONDS = 0.005
_QUIET = re.compile(r"\s*(?:SAVEPOINT|RELEASE|ROLLBACK TO)\b")
_WRITES = re.compile(r"\s*(?:INSERT|UPDATE|DELETE|COMMIT|WITH\b.*\b(?:UPDATE|INSERT|DELETE)\b)", re.DOTALL)
_TRIES = "pg_try_advisory"
COMMIT = "COMMIT"


class Lane:
    """One writer: a thread that does what it is given, a statement at a time."""

    def __init__(self, change: threading.Condition) -> None:
        self._change = change
        self._work: Callable[[], Any] | None = None
        self._leave = False
        self._is_closed = False
        self.state = "idle"  # or: stopped, running
        self.at = ""
        self.spins = False  # it asks again for a lock that it did not get
        self.trace: list[str] = []
        self.result: Any = None
        self.pid = 0
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()

    def begin(self, work: Callable[[], Any]) -> None:
        """Give it something to do; it stops before the first statement."""
        with self._change:
            self.trace, self.spins, self.result = [], False, None
            self._work, self.state = work, "running"
            self._change.notify_all()

    def go_on(self) -> None:
        """Let it do the statement that it has stopped before."""
        with self._change:
            self._leave, self.state = True, "running"
            self._change.notify_all()

    def run_to_its_end(self) -> None:
        """Let it do everything that is left."""
        while self.state != "idle":
            _step(self)

    def close(self) -> None:
        """End the thread and its connection."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()
        self._thread.join(_PATIENCE_SECONDS)

    def _go(self) -> None:
        connection.ensure_connection()
        self.pid = connection.connection.info.backend_pid
        commit = connection._commit

        def stop_and_commit() -> None:
            self._stop(COMMIT)
            commit()

        connection._commit = stop_and_commit
        try:
            with connection.execute_wrapper(self._execute):
                while self._next():
                    pass
        finally:
            connection.close()

    def _next(self) -> bool:
        with self._change:
            self._change.wait_for(lambda: self._work or self._is_closed)
            work, self._work = self._work, None
        if work is None:
            return False
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - the test judges it
            result = error
        with self._change:
            self.result, self.state = result, "idle"
            self._change.notify_all()
        return True

    def _execute(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        text = sql if isinstance(sql, str) else sql.as_string(None)
        if not _QUIET.match(text):
            self._stop(text)
        return execute(sql, params, many, context)

    def _stop(self, at: str) -> None:
        with self._change:
            self.spins = _TRIES in at and bool(self.trace) and self.trace[-1] == at
            if not self.spins:
                self.trace.append(at)
            self.at, self.state = at, "stopped"
            self._change.notify_all()
            self._change.wait_for(lambda: self._leave or self._is_closed, _PATIENCE_SECONDS)
            self._leave = False


class Ending(NamedTuple):
    """What came out: what each writer returned or was refused with, and what a reader sees then."""

    first: Any
    second: Any
    seen: Any


class Schedule(NamedTuple):
    """Writer 0 or 1 begins and is interrupted before its statement `stop`, counted from 0; -1: not at all."""

    begins: int
    stop: int


@dataclass
class Play(Generic[World]):
    """Two writers on a world that is made anew for each schedule, and what a reader sees of it in the end.

    `refusals` are the exceptions that a writer may raise; any other is a failure. What is returned has to be equal when
    it means the same: no numbers of rows. What must be true of the two serial endings: `results`, what the writers may
    return; `ends`, of what is seen at each end; `in_turn`, of both together; `waits`, whether one waits for the other.
    """

    prepare: Callable[[], World]
    writers: tuple[Callable[[World], Any], Callable[[World], Any]]
    seen: Callable[[World], Any] = lambda _world: None
    refusals: tuple[type[Exception], ...] = ()
    results: set[tuple[Any, Any]] | None = None
    ends: Callable[[Any], bool] = lambda _seen: True
    in_turn: Callable[[list[Any]], bool] = lambda _seen: True
    waits: bool | None = None
    waited: int = field(default=0, init=False)

    def check(self) -> None:
        """Try the schedules; fail for what neither serial ending gives, or for these endings themselves."""
        with lanes() as both:
            traces: list[list[str]] = []
            serial = []
            for begins in (0, 1):
                serial.append(self._run(both, Schedule(begins, -1)))
                traces.append(both[begins].trace)
            for begins in (0,) if _tried() == "few" else (0, 1):
                for stop in _stops(traces[begins]):
                    ending = self._run(both, Schedule(begins, stop))
                    at = " ".join(traces[begins][stop].split())[:200]
                    assert ending in serial, (
                        f"Writer {begins} was interrupted before its statement {stop}, {at}: {ending} is neither "
                        f"{serial[0]} nor {serial[1]}"
                    )
        assert self.results is None or {ending[:2] for ending in serial} == self.results
        assert all(self.ends(ending.seen) for ending in serial), serial
        assert self.in_turn([ending.seen for ending in serial]), serial
        assert self.waits in (None, bool(self.waited))

    def _run(self, lanes: Sequence[Lane], schedule: Schedule) -> Ending:
        world = self.prepare()
        first, second = lanes[schedule.begins], lanes[1 - schedule.begins]
        for lane, writer in zip(lanes, self.writers, strict=True):
            lane.begin(lambda writer=writer: writer(world))
            _settle(lane)
        for place in count():
            if place == schedule.stop or first.state == "idle" or not _step(first):
                break
        while second.state != "idle":
            if not _step(second):
                self.waited += 1
                break
        for lane, other in ((first, second), (second, first)):
            _end(lane, other)
        results = [self._result(lane.result) for lane in lanes]
        return Ending(*results, self.seen(world))

    def _result(self, result: Any) -> Any:
        if isinstance(result, self.refusals):
            return type(result).__name__
        if isinstance(result, BaseException):
            raise AssertionError(f"A writer failed: {result!r}") from result  # noqa: TRY004
        return result


def either(one: Any, other: Any) -> set[tuple[Any, Any]]:
    """Return the results of two writers of which whoever comes first gets `one`, and the second `other`."""
    return {(one, other), (other, one)}


def always(value: Any) -> Callable[[Any], bool]:
    return lambda seen: seen == value


def waits_before_it_writes(lane: Lane, work: Callable[[], Any]) -> bool:
    """Return whether a writer comes to wait for somebody else before it has written anything."""
    lane.begin(work)
    _settle(lane)
    while lane.state != "idle" and (lane.at == COMMIT or not _WRITES.match(lane.at)):
        if not _step(lane):
            return True
    return False


def _step(lane: Lane) -> bool:
    """Let a writer do a statement; return False if it waits for the other one instead."""
    if lane.state == "stopped":
        lane.go_on()
    _settle(lane)
    return lane.state != "running" and not (lane.state == "stopped" and lane.spins)


def _end(lane: Lane, other: Lane) -> None:
    """Let a writer go on to its end; the other one goes on too while it waits for it."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while lane.state != "idle":
        if not _step(lane) and other.state != "idle":
            _step(other)
        assert time.monotonic() < deadline, f"Both writers wait: at {lane.at!r} and at {other.at!r}."


def _settle(lane: Lane) -> None:
    """Wait until a writer has stopped, ended, or waits for a lock."""
    with lane._change:
        for _ in range(int(_PATIENCE_SECONDS / _LOOK_SECONDS)):
            if lane._change.wait_for(lambda: lane.state != "running", _LOOK_SECONDS) or _is_blocked(lane.pid):
                return
    raise AssertionError(f"A writer does not go on after {lane.at!r}.")


def _is_blocked(pid: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [pid])
        return cursor.fetchone()[0]


def _tried() -> str:
    return os.environ.get("INTERLEAVINGS", "both")


def _stops(trace: Sequence[str]) -> list[int]:
    """Return before which statements a writer is interrupted, beside those that they begin with."""
    places = list(range(1, len(trace)))
    if _tried() == "all":
        return places
    writes = [place for place in places if _WRITES.match(trace[place])]
    if _tried() == "few":
        return writes[-1:]
    others = [place for place in places if place not in (*writes[:1], *writes[-1:])]
    chance = random.Random(len(trace)).sample(others, min(_BY_CHANCE, len(others)))
    return sorted({*writes[:1], *writes[-1:], *chance})


@contextmanager
def lanes() -> Iterator[tuple[Lane, Lane]]:
    change = threading.Condition()
    lanes = (Lane(change), Lane(change))
    try:
        yield lanes
    finally:
        for lane in lanes:
            lane.close()

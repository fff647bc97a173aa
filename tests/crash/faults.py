"""Faults, armed inside the process that is to suffer them: it dies, or kills what it depends on, at its n-th event.

An event is the beginning or the end of a statement, of a portion of a COPY, of a commit, and of a file that gets its
name: what a process does that others can see. The plan is in the environment, so that worker processes find it too.
"""

import json
import os
import resource
import signal
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any

_PLAN, _ROLE = "CRASH_PLAN", "CRASH_ROLE"
_FILLER = "filler"
_STEP = 4_096  # bytes, the page of a file system


@dataclass(frozen=True)
class Plan:
    """What happens, and when.

    `fault` happens at event `at` of the process, or of a worker if it is "worker"; `after` seconds later with "kill
    soon". `limit` is the longest file in bytes, for the faults of files, and what is left of a full disk. `counted` is
    a file that grows by a byte with each event; each worker has its own beside it.
    """

    fault: str = ""
    at: int = 0
    after: float = 0.0
    limit: int = 0
    home: str = ""
    counted: str = ""

    def environment(self) -> dict[str, str]:
        """Return what arms a process with this plan."""
        return {_PLAN: json.dumps(asdict(self)), _ROLE: "command"}


def arm() -> None:
    """Arm this process with the plan in its environment, if there is one."""
    if _PLAN not in os.environ:
        return
    plan, role = Plan(**json.loads(os.environ[_PLAN])), os.environ[_ROLE]
    os.environ[_ROLE] = "worker"  # of all that this process starts
    if plan.limit and role == "command" and plan.fault != "data disk full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (plan.limit, plan.limit))
        if plan.fault == "die at a write":
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if plan.counted or plan.at:
        _watch(_Events(plan, role))


class _Events:
    """Counts the events of this process, and lets the fault happen at its turn."""

    def __init__(self, plan: Plan, role: str) -> None:
        self._plan = plan
        self._armed = plan.at > 0 and (plan.fault == "worker") == (role == "worker")
        self._count = 0
        self._lock = threading.Lock()
        self._file = -1
        if plan.counted:
            name = plan.counted if role == "command" else f"{plan.counted}.{os.getpid()}"
            self._file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def happened(self, connection: Any = None) -> None:
        """Count one event."""
        with self._lock:
            self._count += 1
            due = self._armed and self._count == self._plan.at
        if self._file >= 0:
            os.write(self._file, b".")
        if due:
            _FAULTS[self._plan.fault](self._plan, connection)


def _watch(events: _Events) -> None:
    import psycopg  # noqa: PLC0415 - only where a plan asks for it

    for name in ("execute", "executemany"):
        _wrap(psycopg.Cursor, name, events, lambda cursor: cursor.connection)
    for name in ("write", "write_row"):
        _wrap(psycopg.Copy, name, events, lambda copy: copy.connection)
    for name in ("commit", "rollback"):
        _wrap(psycopg.Connection, name, events, lambda connection: connection)
    for name in ("fsync", "link", "replace", "rename"):
        _wrap(os, name, events, lambda _file: None)


def _wrap(owner: Any, name: str, events: _Events, connection_of: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)

    @wraps(original)
    def watched(*arguments: Any, **options: Any) -> Any:
        connection = connection_of(arguments[0])
        events.happened(connection)
        result = original(*arguments, **options)
        events.happened(connection)
        return result

    setattr(owner, name, watched)


def _kill(_plan: Plan, _connection: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_soon(plan: Plan, connection: Any) -> None:
    timer = threading.Timer(plan.after, _kill, (plan, connection))
    timer.daemon = True
    timer.start()


def _kill_backend(_plan: Plan, connection: Any) -> None:
    if connection is not None and not connection.closed:
        os.kill(connection.info.backend_pid, signal.SIGKILL)


def _postmaster(plan: Plan) -> int:
    return int((Path(plan.home) / "data" / "postmaster.pid").read_text().split()[0])


def fill(folder: Path, left: int) -> None:
    """Fill the file system of a folder until so many bytes are left; `empty` makes room again."""
    free = os.statvfs(folder)
    size = max(0, free.f_bavail * free.f_frsize - left) // _STEP * _STEP
    with (folder / _FILLER).open("wb") as file:
        if size:
            os.posix_fallocate(file.fileno(), 0, size)


def empty(folder: Path) -> None:
    """Remove what `fill` wrote."""
    (folder / _FILLER).unlink(missing_ok=True)


_FAULTS: dict[str, Callable[[Plan, Any], None]] = {
    "kill": _kill,
    "kill soon": _kill_soon,
    "terminate": lambda _plan, _connection: os.kill(os.getpid(), signal.SIGTERM),
    "worker": _kill,
    "backend": _kill_backend,
    "server": lambda plan, _connection: os.kill(_postmaster(plan), signal.SIGKILL),
    "immediate stop": lambda plan, _connection: os.kill(_postmaster(plan), signal.SIGQUIT),  # as by pg_ctl
    "data disk full": lambda plan, _connection: fill(Path(plan.home), plan.limit),
}

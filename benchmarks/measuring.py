"""The cost of a contestant: wall and CPU seconds and peak memory, of its own processes and of PostgreSQL's.

A PostgreSQL backend does most of the plain join's work, so CPU seconds are measured on both sides: of the command
with all its children (the kernel adds them up for the process that waits), and of every process of the server,
including those that have ended.
"""

import ctypes
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

CHECKOUT = Path(__file__).resolve().parents[1]
_SAMPLE_SECONDS = 0.2
_MEGABYTE = 1 << 20
_PACKAGES = ("numpy", "datasketch", "rensa", "splink", "duckdb", "scikit-learn")


class MeasuringError(Exception):
    """Measuring is not possible; the message says why."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds, and peak megabytes."""

    wall: float
    command_cpu: float
    server_cpu: float
    command_memory: float
    server_memory: float

    @property
    def cpu(self) -> float:
        """Return the CPU seconds of all processes."""
        return self.command_cpu + self.server_cpu


class Server:
    """The processes of the PostgreSQL server of a connection, which must run on this machine."""

    def __init__(self, connection: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid(), version()")
            backend, self.version = cursor.fetchone()
        try:
            process = psutil.Process(backend).parent()
        except psutil.NoSuchProcess:
            process = None
        if process is None or "postgres" not in process.name():
            raise MeasuringError(
                "the processes of the PostgreSQL server are not visible on this machine, so their work cannot be "
                "measured; unset DATABASE_URL to use the embedded server, or run this on the server's machine"
            )
        self._postmaster = process

    def cpu_seconds(self) -> float:
        """Return the CPU seconds since the server started, including those of processes that have ended."""
        own = self._postmaster.cpu_times()
        # The kernel adds the seconds of ended children to children_*.
        ended = own.children_user + own.children_system
        return own.user + own.system + ended + sum(_cpu(child) for child in self._postmaster.children())

    def memory(self) -> float:
        """Return the megabytes of its processes, shared memory counted once."""
        return _memory(self._postmaster)


def measure(
    command: Sequence[str], server: Server, environment: Mapping[str, str], *, repeat: int = 1
) -> tuple[Usage, str]:
    """Run a command `repeat` times; return the usage and the output of the run with the fewest CPU seconds.

    Raises MeasuringError with the end of its error output if it fails.
    """
    runs = [_measure_once(command, server, environment) for _ in range(repeat)]
    return min(runs, key=lambda run: run[0].cpu)


def _measure_once(command: Sequence[str], server: Server, environment: Mapping[str, str]) -> tuple[Usage, str]:
    # Files, not pipes, which would have to be read while the command runs.
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        before, began = server.cpu_seconds(), time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=CHECKOUT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        with _peaks(process.pid, server) as peaks:
            _, status, usage = os.wait4(process.pid, 0)
        wall, after = time.perf_counter() - began, server.cpu_seconds()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            said = errors.read().strip()[-2000:]
            raise MeasuringError(f"{' '.join(command)} failed with exit status {process.returncode}:\n{said}")
        cpu = usage.ru_utime + usage.ru_stime
        return Usage(wall, cpu, after - before, peaks["command"], peaks["server"]), output.read()


@contextmanager
def _peaks(pid: int, server: Server) -> Iterator[dict[str, float]]:
    """Sample the memory of a process tree and of the server five times a second, and keep the peaks.

    The kernel itself records the peak of a single process, also between samples.
    """
    peaks = {"command": 0.0, "server": 0.0}
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            try:
                command = psutil.Process(pid)
                highest = (_high_water(process) for process in (command, *command.children(recursive=True)))
                peaks["command"] = max(peaks["command"], _memory(command), *highest)
            except psutil.NoSuchProcess:
                return
            peaks["server"] = max(peaks["server"], server.memory())
            ended.wait(_SAMPLE_SECONDS)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    yield peaks
    ended.set()
    thread.join()


def _memory(process: psutil.Process) -> float:
    """Return the megabytes of a process and its children: PSS if readable, which counts shared pages once."""
    total = 0
    for part in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            try:
                total += part.memory_full_info().pss
            except psutil.AccessDenied:
                total += part.memory_info().rss
    return total / _MEGABYTE


def _high_water(process: psutil.Process) -> float:
    """Return the peak resident megabytes of a process; 0 if unknown."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return kilobytes[0] / 1024 if kilobytes else 0.0


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system + times.children_user + times.children_system


def machine(server: Server) -> dict[str, str]:
    """Return the machine and the versions that the results depend on."""
    facts = {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{psutil.virtual_memory().total / (1 << 30):.0f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "PostgreSQL": " ".join(server.version.split()[1:2]),
        "Python": platform.python_version(),
    }
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            facts[name] = version(name)
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


# Linux only: prctl(2), PR_SET_CHILD_SUBREAPER.
_SET_CHILD_SUBREAPER = 36


def wait_for_all(command: Sequence[str]) -> int:
    """Run a command and wait for all processes that it leaves, so that the kernel adds up their CPU seconds too.

    Java outlives the Python process that started it, which does not wait for it. Return the command's exit code.
    """
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    code = subprocess.run(command, check=False).returncode
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return code


if __name__ == "__main__":
    sys.exit(wait_for_all(sys.argv[1:]))

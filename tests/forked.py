"""Commands that begin at once: each is forked from a process that has already loaded what it needs.

The process is a program of the tests: it loads, and calls `serve`. It reads a request a line, and answers with the
number of a process, then its exit status.
"""

import gc
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Ended:
    """A command that ended: its exit status, negative after a signal, and what it wrote."""

    status: int
    output: str
    errors: str


class ForkedCommands:
    """The process that commands are forked from, seen from the tests; `program` is the name of its module."""

    def __init__(self, program: str, environment: Mapping[str, str]) -> None:
        single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # a fork copies no other thread
        self.at_work: int | None = None  # the number of the latest process
        self._process = subprocess.Popen(
            [sys.executable, "-m", program],
            cwd=CHECKOUT,
            env={**environment, **single, "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings"},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, request: Mapping[str, Any], folder: Path, seconds: float) -> Ended:
        """Have a request carried out; what it writes is kept in files of a folder.

        Raises TimeoutError for one that has not ended after so many seconds; then it is killed.
        """
        output, errors = folder / "stdout", folder / "stderr"
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({**request, "output": str(output), "errors": str(errors)}) + "\n")
        self._process.stdin.flush()
        process = int(self._line(seconds))
        self.at_work = process
        try:
            status = int(self._line(seconds))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            self._line(seconds)
            raise TimeoutError(f"a command has not ended after {seconds} seconds: {_read(errors)}") from None
        return Ended(status, _read(output), _read(errors))

    def _line(self, seconds: float) -> str:
        assert self._process.stdout is not None
        answered, _, _ = select.select([self._process.stdout], [], [], seconds)
        if not answered:
            raise TimeoutError
        return self._process.stdout.readline()

    def close(self) -> None:
        """End the process, and what it has forked."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with self._process:  # which closes its pipes and waits for it
            pass


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def serve(carry_out: Callable[[dict[str, Any]], object]) -> None:
    """Carry out each request of standard input in a process of its own, once all that it needs is loaded."""
    gc.freeze()
    for line in sys.stdin:
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            request = json.loads(line)
            _write_to(request["output"], request["errors"])
            carry_out(request)
            return
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _write_to(output: str, errors: str) -> None:
    for number, name in ((1, output), (2, errors)):
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

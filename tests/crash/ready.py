"""Commands that begin at once: each is forked from a process that has already loaded Django.

As a program: `python -m tests.crash.ready`. It reads a request a line, and answers with a process id, then its status.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.crash.faults import Plan, arm

CHECKOUT = Path(__file__).resolve().parents[2]
_INJECTED = Path(__file__).parent / "inject"
# More than any command here takes, on a machine that has other things to do.
PATIENCE_SECONDS = 600


@dataclass(frozen=True)
class Ended:
    """A command that ended: its exit status, negative after a signal, and what it wrote."""

    status: int
    output: str
    errors: str


class ReadyCommands:
    """The process that commands are forked from."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self._folder = folder
        single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # a fork copies no other thread
        paths = {"PYTHONPATH": os.pathsep.join((str(_INJECTED), str(CHECKOUT)))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.ready"],
            cwd=CHECKOUT,
            env=environment | single | paths | {"DJANGO_SETTINGS_MODULE": "newsdedup_site.settings"},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, arguments: list[str], plan: Plan | None = None, folder: Path | None = None) -> Ended:
        """Run `manage.py ARGUMENTS`, or the program `-m MODULE ARGUMENTS`, in a folder, armed with a plan.

        Raises TimeoutError for one that hangs; then it is killed.
        """
        output, errors = self._folder / "stdout", self._folder / "stderr"
        request = {
            "arguments": arguments,
            "environment": plan.environment() if plan else {},
            "output": str(output),
            "errors": str(errors),
            "folder": str(folder or CHECKOUT),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        pid = int(self._line())
        try:
            status = int(self._line())
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            self._line()
            raise
        return Ended(status, output.read_text(errors="replace"), errors.read_text(errors="replace"))

    def _line(self) -> str:
        assert self._process.stdout is not None
        answered, _, _ = select.select([self._process.stdout], [], [], PATIENCE_SECONDS)
        if not answered:
            errors = (self._folder / "stderr").read_text(errors="replace")
            raise TimeoutError(f"a command has not ended after {PATIENCE_SECONDS} seconds: {errors}")
        return self._process.stdout.readline()

    def close(self) -> None:
        """End the process, and what it has forked."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with self._process:  # which closes its pipes and waits for it
            pass


def main() -> None:
    import_module("django").setup()
    import_module("articles.management.base")
    gc.freeze()
    for line in sys.stdin:
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            _run(json.loads(line))
            return
        sys.stdout.write(f"{process}\n")
        sys.stdout.flush()
        _, status = os.waitpid(process, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _run(request: dict[str, object]) -> None:
    for number, name in ((1, "output"), (2, "errors")):
        opened = os.open(str(request[name]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    arguments: list[str] = list(request["arguments"])  # type: ignore[call-overload]
    os.chdir(str(request["folder"]))
    sys.path.insert(0, str(CHECKOUT))
    arm()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["manage.py", *arguments]
        runpy.run_path(str(CHECKOUT / "manage.py"), run_name="__main__")


if __name__ == "__main__":
    main()

"""Copies of the checkout, each with a database server of its own, in which mutants are tried."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from newsdedup_site import embedded
from newsdedup_site.embedded.folders import make_folder
from tests.mutations.areas import CHECKOUT
from tests.mutations.mutants import Mutant
from tests.mutations.ready import RECORD, RESULT, SELECTED

# A process that is waiting uses next to nothing of a core; one in a loop gets its share even of a busy machine.
_LOOPS_FROM = 0.05
_WATCHED_SECONDS = 4.0
_IGNORED = shutil.ignore_patterns("__pycache__", ".venv", ".git", "var", ".*_cache", ".hypothesis", "node_modules")


class WorkshopError(RuntimeError):
    """The tests cannot be run at all; the message has what they printed."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed (by a test, or at import), survived, loop, or hung (it waited for ever)."""

    kind: str
    killer: str = ""
    seconds: float = 0.0
    said: str = ""


@dataclass(frozen=True)
class Bench:
    """A copy of the checkout. Only this process writes to it."""

    tree: Path

    @property
    def files(self) -> Path:
        return self.tree.parent

    def record(self, tests: Sequence[Path]) -> dict[str, object]:
        """Run test files with every line recorded. Raises WorkshopError if that fails as a whole."""
        record = self.files / "record.json"
        record.unlink(missing_ok=True)
        run = self._pytest([*map(str, tests)], {RECORD: str(record)})
        said, _ = run.communicate()
        if not record.exists() or run.returncode not in (0, 1):
            raise WorkshopError(f"The tests cannot be run (exit status {run.returncode}):\n{said[-4000:]}")
        return json.loads(record.read_text())

    def try_out(self, mutant: Mutant, tests: Sequence[str], limit: float) -> Outcome:
        """Run tests, in this order, on the code with the mutant until one fails; `limit` is in seconds."""
        place = self.tree / mutant.path
        try:
            self._write(place, mutant.text)
            return self.run(tests, limit)
        finally:
            self._write(place, mutant.before)

    def run(self, tests: Sequence[str], limit: float) -> Outcome:
        """Run tests, in this order, on the code as it is until one fails."""
        selected, result = self.files / "selected.json", self.files / "result.txt"
        selected.write_text(json.dumps(list(tests)))
        result.unlink(missing_ok=True)
        began = time.monotonic()
        files = list(dict.fromkeys(test.split("::")[0] for test in tests))
        run = self._pytest(["-x", *files], {SELECTED: str(selected), RESULT: str(result)})
        try:
            said, _ = run.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            # Whether it or one of its children computes, instead of waiting.
            before = _cpu_seconds(run.pid)
            time.sleep(_WATCHED_SECONDS)
            is_busy = _cpu_seconds(run.pid) - before > _LOOPS_FROM * _WATCHED_SECONDS
            kind = "loop" if is_busy else "hung"
            _end(run)
            return Outcome(kind, seconds=time.monotonic() - began)
        _end(run)
        killer = result.read_text() if result.exists() else ""
        kind = "survived" if run.returncode == 0 else "killed"
        return Outcome(kind, killer, time.monotonic() - began, said[-6000:])

    def _write(self, place: Path, text: str) -> None:
        place.write_text(text)
        # Python knows a source by its size and its second, which two mutants may have in common.
        for compiled in place.parent.glob(f"__pycache__/{place.stem}.*.pyc"):
            compiled.unlink()

    def _pytest(self, arguments: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        own = {
            "PYTHONPATH": str(self.tree),
            "NEWSDEDUP_HOME": str(self.files / "home"),
            "OPENBLAS_NUM_THREADS": "1",
            **environment,
        }
        inherited = {
            name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "PYTEST_ADDOPTS")
        }
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "--hypothesis-seed=0", "-p", "tests.mutations.ready", *arguments],
            cwd=self.tree,
            env=inherited | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )


def benches(number: int) -> list[Bench]:
    """Return copies of the checkout as it is now, with what is not committed."""
    return [_copy(embedded.home() / "mutations" / str(place + 1)) for place in range(number)]


def _copy(folder: Path) -> Bench:
    make_folder(folder)
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(CHECKOUT, tree, ignore=_IGNORED, symlinks=True)
    # Other migrations need another template.
    migrations = hashlib.sha256()
    for path in sorted(tree.glob("*/migrations/*.py")):
        migrations.update(path.read_bytes())
    mark = folder / "migrations"
    if not mark.exists() or mark.read_text() != migrations.hexdigest():
        shutil.rmtree(folder / "home", ignore_errors=True)
        mark.write_text(migrations.hexdigest())
    return Bench(tree)


def _cpu_seconds(process: int) -> float:
    total = 0.0
    with suppress(psutil.Error):
        root = psutil.Process(process)
        for member in (root, *root.children(recursive=True)):
            with suppress(psutil.Error):
                times = member.cpu_times()
                total += times.user + times.system
    return total


def _end(run: subprocess.Popen[str]) -> None:
    """End what is left of the run, with the processes that its tests started; not the server, which leads its own."""
    with suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()

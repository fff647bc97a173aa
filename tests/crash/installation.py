"""An installation of its own for each crash test: a home on a small disk if possible, states to return to, commands.

As a program, the process that commands are forked from, so that they begin at once.
"""

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from tests.crash.faults import Plan, arm, empty
from tests.forked import CHECKOUT, Ended, ForkedCommands, serve

# With these, the states, their copies and what PostgreSQL keeps between two checkpoints fit.
DISK_BYTES = 4_000_000_000
OUTPUT_BYTES = 200_000_000
_INJECTED = Path(__file__).parent / "inject"
# More than any command here takes, on a machine that has other things to do.
_PATIENCE_SECONDS = 600


class ReadyCommands(ForkedCommands):
    """Commands of manage.py and programs of the tests, armed with faults."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        paths = {"PYTHONPATH": os.pathsep.join((str(_INJECTED), str(CHECKOUT)))}
        super().__init__("tests.crash.installation", environment | paths)
        self._folder = folder

    def run_armed(self, arguments: list[str], plan: Plan | None = None, folder: Path | None = None) -> Ended:
        """Run `manage.py ARGUMENTS`, or the program `-m MODULE ARGUMENTS`, in a folder, armed with a plan.

        Raises TimeoutError for one that hangs; then it is killed.
        """
        environment = plan.environment() if plan else {}
        request = {"arguments": arguments, "environment": environment, "folder": str(folder or CHECKOUT)}
        return self.run(request, self._folder, _PATIENCE_SECONDS)


class Installation(ABC):
    """Commands, the database that they use, and the states that it can be put into."""

    database = "newsdedup"
    kills_server = True

    def __init__(self, folder: Path, environment: dict[str, str], *, small_disks: bool) -> None:
        self.folder, self.environment, self.small_disks = folder, environment, small_disks
        self.output = folder / "output"
        self._ready = ReadyCommands(environment, folder)

    def run(self, *arguments: str, plan: Plan | None = None) -> Ended:
        """Run a command in the folder of outputs."""
        return self._ready.run_armed(list(arguments), plan, self.output)

    def prepare(self, function: str, *arguments: str) -> None:
        """Call a function of tests.crash.states in a process of its own. Raises RuntimeError if it fails."""
        done = self.run("-m", "tests.crash.states", function, *arguments)
        if done.status:
            raise RuntimeError(f"{function} failed: {done.output}{done.errors}")

    @contextmanager
    def connected(self, database: str | None = None) -> Iterator[psycopg.Connection[Any]]:
        """Connect to the database, or to another one of its server."""
        with psycopg.connect(**self._address(), dbname=database or self.database, autocommit=True) as connection:
            yield connection

    def keep(self, state: str) -> None:
        """Keep the database as it is now as a state of this name."""
        self._copy(self.database, f"{self.database}_{state}")

    def put_back(self, state: str) -> None:
        """Make the database what it was when the state was kept."""
        self._copy(f"{self.database}_{state}", self.database)

    def _copy(self, template: str, name: str) -> None:
        with self.connected("postgres") as server:
            server.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))
            # What a killed command was doing must end before its database can be copied.
            ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            while server.execute(ending, [template]).fetchall():
                time.sleep(0.01)
            # By files: the log of every copied page would fill the disk.
            copy = "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy"
            server.execute(SQL(copy).format(Identifier(name), Identifier(template)))

    def make_room(self) -> None:
        """Remove what filled the disks."""
        empty(self.home)
        empty(self.output)

    def start(self) -> None:  # noqa: B027 - not every server has to be started
        """See that the server runs."""

    @property
    def home(self) -> Path:
        """The folder of the server."""
        return self.folder

    @abstractmethod
    def _address(self) -> dict[str, Any]:
        """Return how to connect to the server."""

    def close(self) -> None:
        """End what was started."""
        self._ready.close()


class OwnServer(Installation):
    """An installation with an embedded server that nobody else uses."""

    @property
    def home(self) -> Path:
        [home] = (path.parent for path in self.folder.glob("home/*/data"))
        return home

    def start(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "newsdedup_site.embedded", "start"],
            cwd=CHECKOUT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)

    def _address(self) -> dict[str, Any]:
        return {"host": str(self.home / "run"), "port": 5432, "user": "postgres"}

    def close(self) -> None:
        super().close()
        stop = [sys.executable, "-m", "newsdedup_site.embedded", "stop"]
        subprocess.run(stop, cwd=CHECKOUT, env=self.environment, check=False, capture_output=True)


@contextmanager
def own_server() -> Iterator[OwnServer]:
    """Make an installation in a temporary folder, on small disks in memory where this user may mount them."""
    folder = Path(tempfile.mkdtemp(prefix="newsdedup-crash-"))
    folder.chmod(0o711)
    disks = {folder / "home": DISK_BYTES, folder / "output": OUTPUT_BYTES}
    mounted = [path for path, size in disks.items() if _mounted(path, size)]
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "NEWSDEDUP_HOME": str(folder / "home"),
        "CRAWL_STATE_DIR": str(folder / "crawls"),
        "DJANGO_SETTINGS_MODULE": "newsdedup_site.settings",
        "PYTHONPATH": str(CHECKOUT),
    }
    made: OwnServer | None = None
    try:
        made = OwnServer(folder, environment, small_disks=len(mounted) == len(disks))
        yield made
    finally:
        if made:
            with suppress(OSError, ValueError):
                made.make_room()
            made.close()
        for path in mounted:
            subprocess.run(["umount", "--lazy", str(path)], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def _mounted(path: Path, size: int) -> bool:
    """Mount a file system in memory; return False where this user may not."""
    path.mkdir(mode=0o711)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0711", "tmpfs", str(path)]
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def main() -> None:
    import_module("django").setup()
    import_module("articles.management.base")
    serve(_run)


def _run(request: dict[str, Any]) -> None:
    os.environ.update(request["environment"])
    arguments: list[str] = request["arguments"]
    os.chdir(request["folder"])
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

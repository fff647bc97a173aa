"""What an installation runs: pages, a worker and commands, all as processes on the connected database."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Self

import httpx

from tests.databases import CHECKOUT, child_environment
from tests.dedup.runs.made_up_news import made_up_news

# A run or a crawl that finds another one active: not a fault here.
_BUSY = 3
# How long the pages may take until they answer for the first time, and a process until it has ended, in seconds.
_PATIENCE = 180


class Installation:
    """The processes of an installation. `environment`: theirs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            **child_environment(),
            "SERVE_COLLECTED_STATIC": "false",
            "CRAWL_STATE_DIR": str(folder / "crawl"),
        }
        self.commands: Counter[str] = Counter()

    def manage(self, *arguments: str, given: str = "", statuses: Sequence[int] = (0,)) -> str:
        """Run a management command to its end; return what is wrong in a sentence if that is none of the statuses."""
        self.commands[arguments[0]] += 1
        command = [sys.executable, "manage.py", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, cwd=CHECKOUT, env=self.environment, input=given, check=False, **pipes)
        if done.returncode in statuses:
            return ""
        return f"{arguments[0]} ended with {done.returncode}: {done.stdout[-1500:]}"

    def import_news(self, seed: int) -> tuple[str, list[str]]:
        """Import some 700 made-up articles that no other seed has; return what is wrong, and their URLs."""
        names, rows = ("date", "headline", "url", "content", "newspaper"), []
        for article in made_up_news(seed):
            row = {name: str(getattr(article, name)) for name in names}
            rows.append(row | {"url": row["url"].replace(".example/", f".example/{seed}/")})
        given = "\n".join(map(json.dumps, rows))
        wrong = self.manage("import_articles", "-", "--format=jsonl", "--no-progress", given=given)
        return wrong, [row["url"] for row in rows]

    @contextmanager
    def pages(self, workers: int) -> Iterator[str]:
        """Serve the pages as in production while the block runs; yield their address."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        gunicorn = [sys.executable, "-m", "gunicorn", f"--bind=127.0.0.1:{port}", f"--workers={workers}"]
        with self._process([*gunicorn, "--log-level=warning", "newsdedup_site.wsgi"], "pages"):
            address = f"http://127.0.0.1:{port}"
            _wait_for(f"{address}/healthz")
            yield address

    @contextmanager
    def worker(self) -> Iterator[None]:
        with self._process([sys.executable, "manage.py", "db_worker", "--interval=2"], "worker"):
            yield

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    @contextmanager
    def _process(self, command: Sequence[str], name: str) -> Iterator[None]:
        with (self.folder / f"{name}.log").open("w") as log:
            process = subprocess.Popen(command, cwd=CHECKOUT, env=self.environment, stdout=log, stderr=log)
            try:
                yield
            finally:
                process.terminate()
                process.wait(_PATIENCE)


class Chores:
    """What goes on until `stop`: runs, crawls of the demo newspapers and imports, again and again."""

    def __init__(self, installation: Installation, stop: threading.Event, *, seed: int, pause: float) -> None:
        self.installation, self.stop, self.seed = installation, stop, seed
        chores = ((self._run, pause), (self._crawl, pause), (self._import, 20 * pause))
        self.loops = [threading.Thread(target=self._go_on, args=chore, daemon=True) for chore in chores]
        self.urls: list[str] = []
        self.faults: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop.set()
        for loop in self.loops:
            if loop.ident:
                loop.join()

    def start(self) -> None:
        for loop in self.loops:
            loop.start()

    def _go_on(self, chore: Callable[[int], str], pause: float) -> None:
        for turn in count():
            if self.stop.is_set():
                return
            self.faults += filter(None, [chore(turn)])
            self.stop.wait(pause)

    def _run(self, turn: int) -> str:
        # In turn, only what is new, and everything.
        new = ["--new"] if turn % 2 else []
        return self.installation.manage("find_duplicates", "--no-progress", *new, statuses=(0, _BUSY))

    def _crawl(self, _turn: int) -> str:
        return self.installation.manage("demo_newspapers", "--crawl", statuses=(0, _BUSY))

    def _import(self, turn: int) -> str:
        wrong, urls = self.installation.import_news(self.seed + turn + 1)
        self.urls += urls
        return wrong


@contextmanager
def installation() -> Iterator[Installation]:
    """Yield an installation on the connected database, with a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="newsdedup-load-") as folder:
        yield Installation(Path(folder))


def _wait_for(address: str) -> None:
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        try:
            if httpx.get(address, timeout=_PATIENCE, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise RuntimeError(f"{address} did not answer within {_PATIENCE} seconds")

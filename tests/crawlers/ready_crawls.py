"""`manage.py crawl` that begins at once: forked from a process that has already imported all that it needs.

As a program: `python -m tests.crawlers.ready_crawls`. It reads one crawl per line, and answers with its exit status.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import subprocess
import sys
from importlib import import_module
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# The command, and what it would import only while it is at work.
IMPORTED = (
    "crawlers.management.commands.crawl",
    "crawlers.fetching.downloads",
    "crawlers.fetching.reservations",
    "crawlers.fetching.robots",
    "crawlers.pipelines",
    "htmldate",
    "readability",
    "scrapy.core.downloader.middleware",
    "scrapy.extensions.feedexport",
    "scrapy.extensions.remote_control",
    "scrapy.pqueues",
    "scrapy.squeues",
    "tldextract",
)


class ReadyCrawls:
    """The process that crawls are forked from, seen from the tests."""

    def __init__(self, environment: dict[str, str]) -> None:
        # One thread: a fork copies no other.
        single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crawlers.ready_crawls"],
            cwd=REPOSITORY,
            env={**os.environ, **environment, **single},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, arguments: list[str], states: Path, folder: Path, seconds: float) -> tuple[int, str, str]:
        """Crawl; return the exit status, the output and the errors. The two are kept in files of that folder."""
        output, errors = folder / "crawl.output", folder / "crawl.errors"
        request = {"arguments": arguments, "states": str(states), "output": str(output), "errors": str(errors)}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answered, _, _ = select.select([self.process.stdout], [], [], seconds)
        assert answered, f"the crawl has not ended after {seconds} seconds: {errors.read_text(encoding='utf-8')}"
        status = int(self.process.stdout.readline())
        return status, output.read_text(encoding="utf-8"), errors.read_text(encoding="utf-8")

    def close(self) -> None:
        with self.process:
            self.process.communicate(timeout=10)


def main() -> None:
    sys.argv = ["manage.py", "crawl"]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    import_module("django").setup()
    for name in IMPORTED:
        import_module(name)
    # What is loaded with the first article: the model of languages, and the list of public suffixes.
    import_module("articles.normalization.language").detect_languages(["The ferry sails at noon."])
    import_module("articles.normalization.urls").registered_name("paper.example")
    assert "twisted.internet.reactor" not in sys.modules, "each crawl needs a reactor of its own"
    gc.freeze()
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            _crawl(json.loads(line))
            return
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _crawl(request: dict[str, str]) -> None:
    for number, name in ((1, "output"), (2, "errors")):
        opened = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    import_module("django.conf").settings.CRAWL_STATE_DIR = Path(request["states"])
    sys.argv = ["manage.py", "crawl", *request["arguments"]]
    runpy.run_path("manage.py", run_name="__main__")


if __name__ == "__main__":
    main()

"""The whole way of articles: imported from a file, compared, judged, clustered, and shown on pages.

Each command runs as users run it, on a new database, one corpus after the other: import_articles of a file,
find_duplicates with the default profile, and find_duplicates --new, once with nothing new and once after an import of
new articles. Then come the pages, and other tools on the same articles.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import database, pages
from benchmarks.articles_file import articles, write_files
from benchmarks.comparing import Benchmark
from benchmarks.corpus import Source
from benchmarks.measuring import Server, machine, measure
from benchmarks.results import PageTime, Results, Step, WholeResult
from benchmarks.whole_report import IMPORT, IMPORT_NEW, NEW, NOTHING_NEW, RUN

SIZES = [33_000, 100_000, 1_000_000]
PER_DAY = 500
NEW_ARTICLES = 1_000
# The tools that are asked to find the same, each in its own way.
RIVALS = ("datasketch", "rensa")
_REQUESTS = 20


class WholeBenchmark:
    """One run: its options, the server, and the results so far."""

    def __init__(self, options: argparse.Namespace, sources: Sequence[Source], server: Server) -> None:
        self.options, self.sources, self.server = options, sources, server
        asked = {
            "data": f"{options.data.name} ({len(sources):,} articles)",
            "articles a day": PER_DAY,
            "runs": options.repeat,
        }
        self.results = Results(machine(server), asked)
        self.console = Console(stderr=True)

    def run(self) -> None:
        """Measure every corpus. Results are written after each, because a long run may be stopped early.

        If a corpus is measured several times, the measurement whose find_duplicates took the median time is kept.
        """
        for size in self.options.sizes:
            measured = sorted((self._measure(size) for _ in range(self.options.repeat)), key=run_seconds)
            self.results.whole.append(chosen := measured[len(measured) // 2])
            if not self.options.alone:
                self._measure_others(chosen)
            self.options.json.parent.mkdir(parents=True, exist_ok=True)
            self.options.json.write_text(self.results.to_json())

    def _measure(self, size: int) -> WholeResult:
        database.empty()
        result = WholeResult(size)
        with tempfile.TemporaryDirectory() as folder:
            stored, new = Path(folder) / "articles.jsonl.gz", Path(folder) / "new.jsonl.gz"
            self.console.print(f"{size:,} articles: writing the file")
            rows = articles(self.sources, size + NEW_ARTICLES, PER_DAY)
            write_files(rows, [(stored, size), (new, NEW_ARTICLES)])
            self._step(result, IMPORT, "import_articles", str(stored))
            self._step(result, RUN, "find_duplicates")
            result.pairs, result.clusters = database.counted("dedup_pair"), database.counted("dedup_cluster")
            self._step(result, NOTHING_NEW, "find_duplicates", "--new")
            self._step(result, IMPORT_NEW, "import_articles", str(new))
            self._step(result, NEW, "find_duplicates", "--new")
        self.console.print("  pages")
        result.pages.extend(page_times())
        return result

    def _step(self, result: WholeResult, name: str, command: str, *arguments: str) -> None:
        """Run a command and add what it cost, and for a run its phases."""
        self.console.print(f"  {name}")
        database.settle()
        before = database.counted("articles_article")
        line = [sys.executable, "manage.py", command, *arguments, "--no-progress"]
        usage, _ = measure(line, self.server, database.child_environment())
        found = command == "find_duplicates"
        handled = 0 if found else database.counted("articles_article") - before
        result.steps.append(Step(name, handled, usage, phases() if found else {}))

    def _measure_others(self, result: WholeResult) -> None:
        """Run the plain join, single passes and other tools on the articles of the database."""
        benchmark = Benchmark(self.options, self.sources, self.server)
        benchmark.workers = ("default",)
        number = database.counted("articles_article")
        benchmark.measure_window(number, PER_DAY)
        benchmark.measure_shingles(number, None)
        result.window.extend(benchmark.results.window)
        result.shingles.extend(benchmark.results.shingles)


def run_seconds(result: WholeResult) -> float:
    """Return the wall seconds of find_duplicates on a corpus."""
    return next(step.usage.wall for step in result.steps if step.name == RUN)


def phases() -> dict[str, float]:
    """Return the wall seconds of each phase of the latest run, by label."""
    from dedup.detection.runs.facts import phase_seconds  # noqa: PLC0415
    from dedup.models import DetectionRun  # noqa: PLC0415 - Django must be set up first

    return dict(phase_seconds(DetectionRun.objects.latest("pk")))


def page_times() -> list[PageTime]:
    """Return what the pages cost on the server, as an editor gets them."""
    from django.test import Client  # noqa: PLC0415 - as above

    from tests.factories import make_user  # noqa: PLC0415

    database.settle()
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(make_user("mara", "editor"))
    asked = [
        pages.measured(name, lambda address=address: client.get(address), _REQUESTS)
        for name, address in pages.addresses().items()
    ]
    asked.append(pages.decisions(client, _REQUESTS))
    return [PageTime(each.name, statistics.median(each.milliseconds), each.queries) for each in asked]

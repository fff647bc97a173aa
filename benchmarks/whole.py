"""The whole way of articles, from a file to the pages."""

import argparse
import statistics
import tempfile
from pathlib import Path

from django.test import Client

from benchmarks import database, pages
from benchmarks.corpus import articles, write_files
from benchmarks.passes import PassBenchmark, add_contest_options
from benchmarks.results import IMPORT, IMPORT_NEW, INDEX, NEW, NOTHING_NEW, RUN, PageTime, Step, WholeResult
from dedup.detection.runs.facts import phase_seconds
from dedup.models import DetectionRun
from tests.factories import make_user

PER_DAY = 500
NEW_ARTICLES = 1_000
# The tools that are asked to find the same, each in its own way.
RIVALS = ["datasketch", "rensa"]
_REQUESTS = 20


class WholeBenchmark(PassBenchmark):
    """The whole way of articles: imported from a file, compared, judged, clustered, and shown on pages.

    Each command runs as users run it, on a new database, one corpus after the other: import_articles of a file,
    find_duplicates with the default profile, and find_duplicates --new, once with nothing new and once after an import
    of new articles. Then come the pages, and other tools on the same articles. With --repeat, the measurement whose
    find_duplicates took the median time is kept.
    """

    sizes = [33_000, 100_000, 1_000_000]
    name = "whole"

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        super(PassBenchmark, cls).add_options(parser)
        parser.add_argument("--alone", action="store_true", help="leave out the other tools")
        add_contest_options(parser, RIVALS)

    def measure(self, size: int) -> None:
        """Measure a corpus."""
        measured = sorted((self._measure(size) for _ in range(self.options.repeat)), key=run_seconds)
        self.results.whole.append(chosen := measured[len(measured) // 2])
        if not self.options.alone:
            number = database.counted("articles_article")
            self.measure_window(number, PER_DAY)
            self.measure_shingles(number, None)
            for rows, own in ((self.results.window, chosen.window), (self.results.shingles, chosen.shingles)):
                own.extend(rows)
                rows.clear()

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
            self._step(result, INDEX, "index_search")
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
        usage = database.measured(self.server, command, *arguments, "--no-progress")
        phases = dict(phase_seconds(DetectionRun.objects.latest("pk"))) if command == "find_duplicates" else {}
        result.steps.append(Step(name, database.counted("articles_article") - before, usage, phases))


def run_seconds(result: WholeResult) -> float:
    """Return the wall seconds of find_duplicates on a corpus."""
    return next(step.usage.wall for step in result.steps if step.name == RUN)


def page_times() -> list[PageTime]:
    """Return what the pages cost on the server, as an editor gets them."""
    database.settle()
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(make_user("mara", "editor"))
    asked = [
        pages.of_address(client, name, address, _REQUESTS)
        for name, address in (pages.addresses() | pages.searches()).items()
    ]
    asked.append(pages.decisions(client, _REQUESTS))
    return [PageTime(page.name, statistics.median(page.milliseconds), page.queries) for page in asked]

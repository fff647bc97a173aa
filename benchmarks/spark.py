"""Measure a run on Spark against find_duplicates, on the same articles; see docs/scale.md.

Each size is measured in a scratch database: find_duplicates, export_detection, newsdedup-spark run with each master,
and import_detection. CPU seconds are those of all processes, PostgreSQL's too. `--master "local-cluster[2,1,1024]"`
starts executors as on a cluster.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import connection, transaction
from pyarrow import parquet
from rich.console import Console

from benchmarks import database
from benchmarks.corpus import Source, corpus, load, read_sources
from benchmarks.measuring import MeasuringError, Server, Usage, measure
from benchmarks.passes import numbers
from benchmarks.report import show
from benchmarks.results import Columns, Sheet, sheet
from dedup.detection.spark.command import TILE_PAIRS
from dedup.detection.spark.manifest import Manifest, Plan, planned
from dedup.detection.spark.schema import Bundle

PER_DAY = 500


@dataclass(frozen=True, slots=True)
class SparkRun:
    """What a run on Spark cost."""

    usage: Usage
    worker: float  # the highest megabytes of a Python worker
    shuffled: int  # bytes that tasks wrote for others
    stages: dict[str, float]  # wall seconds


@dataclass(frozen=True, slots=True)
class Measured:
    """What the articles of one size cost; `runs` by master."""

    articles: int
    pairs: int
    found: Usage
    exported: Usage
    imported: Usage
    runs: dict[str, SparkRun]
    plan: Plan


def measured(sources: Sequence[Source], articles: int, masters: Sequence[str], server: Server) -> Measured:
    """Return what these articles cost: the same articles for find_duplicates and for each master."""
    database.empty()
    with transaction.atomic():
        load(corpus(sources, articles, PER_DAY), connection)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "export"
        found = _managed(server, "find_duplicates")
        pairs = database.counted("dedup_pair")
        database.forget()
        exported = _managed(server, "export_detection", str(folder))
        runs = {master: _run(folder, master, server) for master in masters}
        imported = _managed(server, "import_detection", str(folder))
        if database.counted("dedup_pair") != pairs:
            raise MeasuringError(f"Spark found {database.counted('dedup_pair'):,} pairs, find_duplicates {pairs:,}")
        manifest = Manifest.read(Bundle(folder).manifest)
        plan = planned(manifest, manifest.configs(), tile_pairs=TILE_PAIRS)
    return Measured(articles, pairs, found, exported, imported, runs, plan)


def _managed(server: Server, command: str, *arguments: str) -> Usage:
    database.settle()
    return database.measured(server, command, *arguments, "--no-progress")


def _run(folder: Path, master: str, server: Server) -> SparkRun:
    with tempfile.TemporaryDirectory() as events:
        wanted = {"enabled": "true", "dir": f"file://{events}", "compress": "false", "rolling.enabled": "false"}
        settings = [f"--conf=spark.eventLog.{name}={value}" for name, value in wanted.items()]
        line = ["-m", "dedup.detection.spark", "run", str(folder), f"--master={master}", *settings]
        usage, _ = measure([sys.executable, "-m", "benchmarks.measuring", sys.executable, *line], server, {})
        shuffled = sum(shuffle_bytes(path.read_text().splitlines()) for path in Path(events).iterdir())
    stages = json.loads(Bundle(folder).result.read_text())["seconds"]
    return SparkRun(usage, _highest(Bundle(folder).stages), shuffled, stages)


def shuffle_bytes(events: Iterable[str]) -> int:
    """Return the bytes that tasks wrote for others, given the lines of Spark's event log."""
    ended = (json.loads(line) for line in events if '"SparkListenerTaskEnd"' in line)
    return sum(
        task.get("Task Metrics", {}).get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0) for task in ended
    )


def _highest(stages: Path) -> float:
    tallies = [path for path in stages.glob("*/tallies*/*.parquet") if not path.name.startswith((".", "_"))]
    peaks = (peak for path in tallies for peak in parquet.read_table(path)["peak"].to_pylist())
    return max(peaks, default=0) / (1 << 20)


def _seconds(usage: Usage) -> str:
    return f"{usage.cpu:,.0f} ({usage.wall:,.0f})"


# Of what a size cost, a master and its run.
COLUMNS: Columns = {
    "articles": lambda row: f"{row[0].articles:,}",
    "pairs": lambda row: f"{row[0].pairs:,}",
    "find_duplicates": lambda row: _seconds(row[0].found),
    "export": lambda row: _seconds(row[0].exported),
    "master": lambda row: row[1],
    "Spark": lambda row: _seconds(row[2].usage),
    "import": lambda row: _seconds(row[0].imported),
    "Spark / find_duplicates": lambda row: f"{row[2].usage.cpu / row[0].found.cpu:.2f}",
    "ms an article": lambda row: f"{1000 * row[2].usage.cpu / row[0].articles:.2f}",
    "all memory": lambda row: f"{row[2].usage.command_memory:,.0f}",
    "a worker": lambda row: f"{row[2].worker:,.0f}",
    "shuffle, kB an article": lambda row: f"{row[2].shuffled / row[0].articles / 1000:.2f}",
    "Spark / plan": lambda row: f"{row[2].usage.cpu / row[0].plan.cpu_seconds:.2f}",
}


def table(results: Sequence[Measured]) -> Sheet:
    """Return the costs of each size and master as a table."""
    rows = [(size, master, run) for size in results for master, run in size.runs.items()]
    return sheet("CPU seconds of all processes; wall seconds in brackets; memory in MB", COLUMNS, rows)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, required=True, help="real articles, as .jsonl.gz in the import format")
    parser.add_argument("--sizes", type=numbers, default=[33_000, 100_000], help="numbers of articles")
    parser.add_argument("--master", action="append", help="where Spark runs; may be repeated (default: local[2])")


def run(options: argparse.Namespace) -> None:
    """Measure and print the table after each size."""
    console = Console(width=None if sys.stdout.isatty() else 200)
    results = []
    sources = read_sources(options.data)
    with database.scratch_database():
        for size in options.sizes:
            results.append(measured(sources, size, options.master or ["local[2]"], Server(connection)))
            show([table(results)], console)
            for master, done in results[-1].runs.items():
                stages = ", ".join(f"{name} {seconds:,.0f}" for name, seconds in done.stages.items())
                console.print(f"{master}, wall seconds: {stages}")

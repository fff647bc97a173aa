"""What the benchmarks of passes, of whole runs and of thresholds share: options, corpora, contestants, results."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from django.db import connection, transaction
from rich.console import Console

from benchmarks import database
from benchmarks.contestants import brute_force
from benchmarks.corpus import SEED, Source, corpus, load, read_sources
from benchmarks.measuring import CHECKOUT, MeasuringError, Server, Usage, machine, measure
from benchmarks.report import show, write_docs
from benchmarks.results import Results
from dedup.detection.passes.minhash import MinhashConfig

PAGE = CHECKOUT / "docs" / "benchmarks.md"
_BRUTE_FORCE_ARTICLES = 1_500

Pairs = frozenset[tuple[int, int]]


class Contended(NamedTuple):
    """The pairs that a contestant found, and its cost."""

    pairs: Pairs
    usage: Usage
    core: dict[str, float]


class Benchmark:
    """One run: its options, the server, and the results so far. A subclass measures one corpus size."""

    sizes: ClassVar[list[int]]
    name: ClassVar[str]

    def __init__(self, options: argparse.Namespace, sources: Sequence[Source], server: Server) -> None:
        self.options, self.sources, self.server = options, sources, server
        asked = {"data": f"{options.data.name} ({len(sources):,} articles)", "repeat": options.repeat}
        self.results = Results(machine(server), asked)
        self.console = Console(stderr=True)

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Declare the options that all of these benchmarks have."""
        file = CHECKOUT / "var" / f"benchmarks-{cls.name}.json"
        parser.add_argument("--data", type=Path, help="real articles, as .jsonl.gz in the import format")
        parser.add_argument("--sizes", type=numbers, default=cls.sizes, help=f"numbers of articles {cls.sizes}")
        parser.add_argument("--repeat", type=int, default=1, help="runs per measurement; the cheapest counts")
        parser.add_argument("--json", type=Path, default=file, help=f"write the results to this file ({file.name})")
        parser.add_argument("--from", dest="stored", type=Path, help="measure nothing; show the results in this file")
        parser.add_argument("--write-docs", action="store_true", help=f"write the results into docs/{PAGE.name}")

    @classmethod
    def start(cls, options: argparse.Namespace) -> None:
        """Measure in a scratch database, or read earlier results, and print the tables."""
        if (options.data is None) == (options.stored is None):
            raise MeasuringError("give either --data FILE.jsonl.gz or --from FILE.json")
        if options.stored:
            results = Results.from_json(options.stored.read_text())
        else:
            sources = read_sources(options.data)
            with database.scratch_database():
                benchmark = cls(options, sources, Server(connection))
                for size in options.sizes:
                    benchmark.measure(size)
                    benchmark.write()
            results = benchmark.results
        console = Console(width=None if sys.stdout.isatty() else 200)
        for part in results.sheets().values():
            show(part, console)
        if options.write_docs:
            write_docs(results, PAGE)

    def measure(self, size: int) -> None:
        """Measure corpora of so many articles."""
        raise NotImplementedError

    def write(self) -> None:
        """Write the results so far into their file, because a long run may be stopped early."""
        self.options.json.parent.mkdir(parents=True, exist_ok=True)
        self.options.json.write_text(self.results.to_json())

    def load(self, size: int, per_day: int | None) -> int:
        """Fill the database with a corpus; return its number of articles."""
        self.console.print(f"{size:,} articles, {per_day or 'own'} a day: loading")
        with transaction.atomic():
            articles = load(corpus(self.sources, size, per_day), connection)
        database.settle()
        if (likeness := database.likeness_of_copies()) is not None:
            mean, highest = likeness
            self.results.options["similarity of an article and its copy"] = (
                f"{mean:.2f} on average, at most {highest:.2f} of 500"
            )
        return articles

    def contend(self, name: str, articles: int, config: MinhashConfig, repeat: int | None = None) -> Contended:
        """Run a contestant in its own process over the first so many articles of the database."""
        self.console.print(
            f"  {name}, ±{config.day_window:,} days, {config.prefix:,} characters, t {config.threshold:g}"
        )
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "pairs.npz"
            command = [sys.executable, "-m", "benchmarks.contestants", name, "--output", str(output)]
            command += ["--articles", str(articles), "--prefix", str(config.prefix)]
            command += ["--day-window", str(config.day_window), "--threshold", str(config.threshold)]
            repeat = repeat or self.options.repeat
            usage, printed = measure(command, self.server, database.child_environment(), repeat=repeat)
            with np.load(output) as found:
                pairs = frozenset(zip(found["left"].tolist(), found["right"].tolist(), strict=True))
        return Contended(pairs, usage, json.loads(printed))


def numbers(listed: str) -> list[int]:
    """Return the numbers of an option, between commas."""
    return [int(number) for number in listed.split(",")]


def recall(found: Collection[tuple[int, int]], truth: Collection[tuple[int, int]] | None) -> float | None:
    """Return the share of the true pairs that was found; None if the truth is unknown or empty."""
    return len(set(found) & set(truth)) / len(truth) if truth else None


def check_truth(truth: Pairs, config: MinhashConfig) -> None:
    """Raise MeasuringError unless brute force finds the same pairs among some of the articles.

    Half of these are in pairs, so that there is something to find, and half are chosen at random.
    """
    dice = random.Random(SEED)
    paired = sorted({article for pair in truth for article in pair})
    chosen = set(dice.sample(paired, min(len(paired), _BRUTE_FORCE_ARTICLES // 2)))
    everyone = range(1, sum(database.articles_by_day().values()) + 1)
    chosen |= set(dice.sample(everyone, min(len(everyone), _BRUTE_FORCE_ARTICLES - len(chosen))))
    ids = sorted(chosen)
    found = brute_force(database.texts(ids, config.prefix), config)
    expected = database.within({(ids[left], ids[right]) for left, right in found}, config.day_window)
    claimed = {pair for pair in truth if chosen.issuperset(pair)}
    if claimed != expected:
        raise MeasuringError(
            f"the exact join is wrong: brute force finds {len(expected)} pairs among {len(ids)} articles, the join "
            f"{len(claimed)}; they differ in {sorted(claimed ^ expected)[:5]}"
        )

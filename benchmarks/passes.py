"""Passes, and the kernels below them, against the plain SQL self-join and other tools, on the same articles."""

import argparse
import json
import random
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from django.db import connection, transaction
from rich.console import Console

from benchmarks import database
from benchmarks.contestants import CONFIG, CONTESTANTS, brute_force
from benchmarks.corpus import SEED, Source, corpus, load, pairs_in_window, read_sources
from benchmarks.measuring import CHECKOUT, MeasuringError, Server, Usage, machine, measure
from benchmarks.report import show, write_docs
from benchmarks.results import EXACT, LSH, Results, ShingleResult, ThresholdResult, WindowResult
from dedup.detection.passes.minhash import MinhashConfig

PAGE = CHECKOUT / "docs" / "benchmarks.md"
_BRUTE_FORCE_ARTICLES = 1_500

Pairs = frozenset[tuple[int, int]]
# Shingles are measured with so many articles a day.
SHINGLES_PER_DAY = 500
# The contestants within the window of days, and the lengths of text: as in the trigram pass and the minhash pass.
NEAR, NEAR_PREFIXES = ("rensa", EXACT), (database.PREFIX, CONFIG.prefix)
# These run over the whole corpus, even if the others cannot.
_WHOLE = {"minhash", "minhash-core"}
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
# The window of the trigram pass, and all time.
_WINDOWS = (database.DAY_WINDOW, CONFIG.day_window)


class Contended(NamedTuple):
    """The pairs that a contestant found, and its cost."""

    pairs: Pairs
    usage: Usage
    core: dict[str, float]


class Benchmark(ABC):
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
    def run(cls, options: argparse.Namespace) -> None:
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

    @abstractmethod
    def measure(self, size: int) -> None:
        """Measure corpora of so many articles."""

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


class Agreement(NamedTuple):
    """Some articles, and all pairs of the plain join whose earlier article is one of them."""

    articles: frozenset[int]
    pairs: database.Pairs

    def with_pass(self, found: database.Pairs) -> dict[str, int]:
        """Return how many of the pairs a pass found with the same score, and how many other pairs it found."""
        own = {pair: score for pair, score in found.items() if pair[0] in self.articles}
        agreed = len(own.items() & self.pairs.items())
        return {"slice_found": len(self.pairs), "slice_agreed": agreed, "slice_extra": len(own) - agreed}


class PassBenchmark(Benchmark):
    """Single passes against the plain SQL self-join, datasketch and rensa, on the same articles."""

    sizes = [10_000, 40_000, 100_000]
    name = "passes"

    def __init__(self, options: argparse.Namespace, sources: Sequence[Source], server: Server) -> None:
        super().__init__(options, sources, server)
        self.results.options["threshold of the trigram pass"] = options.threshold
        # Python, Django and the command's own modules: the cheapest of three, because it is subtracted many times.
        self.startup = database.measured(server, "find_duplicates", "--help", repeat=3)

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        super().add_options(parser)
        days = "articles per day; “own” keeps their own days"
        parser.add_argument("--per-day", type=_per_day, default=[50, 150, 500, 2000], help=days)
        parser.add_argument("--only", type=_names, default=["trigram", "shingles"], help="trigram or shingles")
        add_contest_options(parser, list(CONTESTANTS))

    def measure(self, size: int) -> None:
        """Measure corpora of one size, with each number of articles a day."""
        per_days = self.options.per_day
        with_shingles = SHINGLES_PER_DAY if SHINGLES_PER_DAY in per_days else per_days[0]
        for per_day in per_days:
            articles = self.load(size, per_day)
            if "trigram" in self.options.only:
                self.measure_window(articles, per_day)
            if "shingles" in self.options.only and per_day == with_shingles:
                self.measure_shingles(articles, self._measure_near(articles))
            self.write()

    def measure_window(self, articles: int, per_day: int | None) -> None:
        """Measure the trigram pass and the plain join of a slice on the articles of the database."""
        self.console.print("  plain join of a slice")
        threshold, chosen = self.options.threshold, database.by_chance(self.options.plain_pairs)
        plain = database.plain_join(self.server, chosen, threshold=threshold)
        usage = self._find_duplicates("trigram", threshold)
        found = database.evidence("trigram")
        self.results.window.append(
            WindowResult(
                articles=articles,
                per_day=per_day,
                threshold=threshold,
                pairs=pairs_in_window(database.articles_by_day(), database.DAY_WINDOW),
                slice_pairs=plain.compared,
                slice_cpu=plain.cpu,
                slice_wall=plain.wall,
                **self._agreement(plain, found, threshold).with_pass(found),
                found=len(found),
                usage=usage,
            )
        )

    def _agreement(self, plain: database.PlainJoin, found: database.Pairs, threshold: float) -> Agreement:
        """Run the plain join also for articles of pairs that the pass found: a random sample has few of them."""
        lefts = sorted({left for left, _ in found} - plain.articles)
        some = random.Random(SEED).sample(lefts, min(len(lefts), max(1, len(plain.articles) // 2)))
        asked = database.plain_join(self.server, some, threshold=threshold) if some else plain
        return Agreement(plain.articles | asked.articles, plain.found | asked.found)

    def _find_duplicates(self, pass_name: str, threshold: float) -> Usage:
        self.console.print(f"  {pass_name} pass")
        command = ["find_duplicates", "--no-progress", "--no-verdicts"]
        command += ["--passes", pass_name, "--threshold", f"{pass_name}={threshold}"]
        usages = []
        for _ in range(self.options.repeat):
            database.forget()
            database.settle()
            usages.append(database.measured(self.server, *command))
        return min(usages, key=lambda usage: usage.cpu)

    def measure_shingles(self, articles: int, in_window: Pairs | None) -> None:
        """Measure the contestants over shingles and the minhash pass; `in_window`: the true pairs, if known."""
        measured = min(articles, self.options.rivals_most)
        truth = None
        if articles <= self.options.truth_most:
            truth = self.contend(EXACT, measured, CONFIG, repeat=1).pairs
            check_truth(truth, CONFIG)
        contended = {name: self.contend(name, measured, CONFIG) for name in self.options.contestants if name != EXACT}
        usage = self._find_duplicates("minhash", CONFIG.threshold)
        core = {"startup_cpu": self.startup.command_cpu}
        contended["minhash"] = Contended(frozenset(database.evidence("minhash")), usage, core)
        for name, done in contended.items():
            of = articles if name in _WHOLE else measured
            among = {pair for pair in done.pairs if pair[1] <= measured}
            recalled = recall(among, truth), recall(database.within(among, database.DAY_WINDOW), in_window)
            self.results.shingles.append(_shingle_result(name, done, CONFIG, (articles, of), recalled))

    def _measure_near(self, articles: int) -> Pairs | None:
        """Measure the exact join and rensa within the window of days; return the exact join's pairs, if it ran."""
        measured, exact = min(articles, self.options.rivals_most), None
        for prefix in NEAR_PREFIXES if EXACT in self.options.contestants else ():
            config = replace(CONFIG, prefix=prefix, day_window=database.DAY_WINDOW)
            contended = {name: self.contend(name, measured, config) for name in NEAR}
            exact = contended[EXACT].pairs
            check_truth(exact, config)
            self.results.near.extend(
                _shingle_result(name, done, config, (articles, measured), (None, recall(done.pairs, exact)))
                for name, done in contended.items()
            )
        return exact


def _shingle_result(
    name: str,
    done: Contended,
    config: MinhashConfig,
    sizes: tuple[int, int],
    recalled: tuple[float | None, float | None],
) -> ShingleResult:
    costs = {
        cost: done.core.get(cost) or None for cost in ("startup_cpu", "core_cpu", "shingles_cpu", "signatures_cpu")
    }
    return ShingleResult(*sizes, name, config.prefix, len(done.pairs), *recalled, done.usage, **costs)


class ThresholdBenchmark(Benchmark):
    """The exact join against MinHash and LSH at thresholds from 0.5 to 0.9, on the same sets of shingles."""

    sizes = [40_000]
    name = "thresholds"

    def measure(self, size: int) -> None:
        """Measure a corpus."""
        articles = self.load(size, SHINGLES_PER_DAY)
        for days in _WINDOWS:
            for threshold in THRESHOLDS:
                self.results.thresholds.extend(self._measured(articles, days, threshold))

    def _measured(self, articles: int, days: int, threshold: float) -> Iterator[ThresholdResult]:
        """Yield the exact join and MinHash at a threshold, for articles at most so many days apart."""
        config = replace(CONFIG, prefix=database.PREFIX, day_window=days, threshold=threshold)
        exact = self.contend(EXACT, articles, config)
        for name, done in ((EXACT, exact), (LSH, self.contend(LSH, articles, config))):
            yield ThresholdResult(
                articles=articles,
                days=days,
                threshold=threshold,
                name=name,
                candidates=round(done.core["candidates"]),
                found=len(done.pairs),
                recall=recall(done.pairs, exact.pairs),
                core_cpu=done.core["core_cpu"],
                memory=done.usage.command_memory,
            )


def numbers(listed: str) -> list[int]:
    """Return the numbers of an option, between commas."""
    return [int(number) for number in listed.split(",")]


def _names(listed: str) -> list[str]:
    return listed.split(",")


def _per_day(listed: str) -> list[int | None]:
    return [None if number == "own" else int(number) for number in listed.split(",")]


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


def add_contest_options(parser: argparse.ArgumentParser, contestants: list[str]) -> None:
    """Declare the options of what is compared."""
    parser.add_argument("--threshold", type=float, default=0.5, help="threshold of the trigram pass")
    parser.add_argument(
        "--contestants",
        type=_names,
        default=contestants,
        help=f"any of {','.join(CONTESTANTS)} {contestants}",
    )
    parser.add_argument("--plain-pairs", type=int, default=60_000, help="about how many pairs the plain join compares")
    parser.add_argument(
        "--rivals-most", type=int, default=100_000, help="of a larger corpus, the rivals get only this many articles"
    )
    parser.add_argument(
        "--truth-most", type=int, default=40_000, help="largest corpus for which all true pairs are computed"
    )

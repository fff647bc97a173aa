"""Single passes against the plain SQL self-join, datasketch and rensa, on the same articles."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from benchmarks import database
from benchmarks.comparing import Benchmark, Contended, Pairs, check_truth, recall
from benchmarks.contestants import CONFIG, CONTESTANTS
from benchmarks.corpus import SEED, Source, pairs_in_window
from benchmarks.measuring import Server, Usage, measure
from benchmarks.results import EXACT, ShingleResult, WindowResult
from dedup.detection.passes.minhash import MinhashConfig

# Shingles are measured with so many articles a day.
SHINGLES_PER_DAY = 500
# The contestants within the window of days, and the lengths of text: as in the trigram pass and the minhash pass.
NEAR, NEAR_PREFIXES = ("rensa", EXACT), (database.PREFIX, CONFIG.prefix)
# These run over the whole corpus, even if the others cannot.
_WHOLE = {"minhash", "minhash-core"}


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
    """The trigram pass against the plain join, and the minhash pass against other tools."""

    sizes = [10_000, 40_000, 100_000]
    name = "passes"

    def __init__(self, options: argparse.Namespace, sources: Sequence[Source], server: Server) -> None:
        super().__init__(options, sources, server)
        self.results.options["threshold of the trigram pass"] = options.threshold
        # Python, Django and the command's own modules: the cheapest of three, because it is subtracted many times.
        startup = [sys.executable, "manage.py", "find_duplicates", "--help"]
        self.startup = measure(startup, server, database.child_environment(), repeat=3)[0]

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
        command = [sys.executable, "manage.py", "find_duplicates", "--no-progress", "--no-verdicts"]
        command += ["--passes", pass_name, "--threshold", f"{pass_name}={threshold}"]
        usages = []
        for _ in range(self.options.repeat):
            database.forget()
            database.settle()
            usages.append(measure(command, self.server, database.child_environment())[0])
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


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    PassBenchmark.add_options(parser)
    parser.add_argument(
        "--per-day", type=_per_day, default=[50, 150, 500, 2000], help="articles per day; “own” keeps their own days"
    )
    parser.add_argument("--only", type=_names, default=["trigram", "shingles"], help="trigram or shingles")
    add_contest_options(parser, list(CONTESTANTS))


def add_contest_options(parser: argparse.ArgumentParser, contestants: list[str]) -> None:
    """Declare the options of what is compared."""
    parser.add_argument("--threshold", type=float, default=0.5, help="threshold of the trigram pass")
    parser.add_argument(
        "--contestants", type=_names, default=contestants, help=f"any of {','.join(CONTESTANTS)} {contestants}"
    )
    parser.add_argument("--plain-pairs", type=int, default=60_000, help="about how many pairs the plain join compares")
    parser.add_argument(
        "--rivals-most", type=int, default=100_000, help="of a larger corpus, the rivals get only this many articles"
    )
    parser.add_argument(
        "--truth-most", type=int, default=40_000, help="largest corpus for which all true pairs are computed"
    )


def _names(listed: str) -> list[str]:
    return listed.split(",")


def _per_day(listed: str) -> list[int | None]:
    return [None if number == "own" else int(number) for number in listed.split(",")]


run = PassBenchmark.start

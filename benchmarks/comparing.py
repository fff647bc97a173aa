"""One pass at a time against the plain SQL self-join, datasketch, rensa and others, on the corpus in the database."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.db import connection, transaction
from rich.console import Console

from benchmarks import database
from benchmarks.contestants import CONFIG, brute_force
from benchmarks.corpus import SEED, Source, corpus, load, pairs_in_window
from benchmarks.measuring import CHECKOUT, MeasuringError, Server, Usage, machine, measure
from benchmarks.results import Results, ShingleResult, WindowResult
from dedup.detection.passes.minhash import MinhashConfig

MILLION, MILLION_PER_DAY = 1_000_000, 500
# The contestants within the window of days, and the lengths of text: as in the trigram pass and the minhash pass.
NEAR, NEAR_PREFIXES = ("rensa", "exact-join"), (database.PREFIX, CONFIG.prefix)
_BRUTE_FORCE_ARTICLES = 1_500

Pairs = frozenset[tuple[int, int]]


class Contended(NamedTuple):
    """The pairs that a contestant found, and its cost."""

    pairs: Pairs
    usage: Usage
    core: dict[str, float]


class Agreement(NamedTuple):
    """Some articles, and all pairs of the plain join whose earlier article is one of them."""

    articles: frozenset[int]
    pairs: database.Pairs

    def with_pass(self, found: database.Pairs) -> dict[str, int]:
        """Return how many of the pairs a pass found with the same score, and how many other pairs it found."""
        own = {pair: score for pair, score in found.items() if pair[0] in self.articles}
        agreed = len(own.items() & self.pairs.items())
        return {"slice_found": len(self.pairs), "slice_agreed": agreed, "slice_extra": len(own) - agreed}


class Benchmark:
    """One run: its options, the server, and the results so far."""

    def __init__(self, options: argparse.Namespace, sources: Sequence[Source], server: Server) -> None:
        self.options, self.sources, self.server = options, sources, server
        asked = {"data": f"{options.data.name} ({len(sources):,} articles)", "repeat": options.repeat}
        self.results = Results(machine(server), asked)
        self.console = Console(stderr=True)
        several = "--workers" in database.manage("find_duplicates", "--help")
        self.workers = ("default", "1") if several else ("default",)
        # Python, Django and the command's own modules: the cheapest of three, because it is subtracted many times.
        startup = [sys.executable, "manage.py", "find_duplicates", "--help"]
        self.startup = measure(startup, server, database.child_environment(), repeat=3)[0]

    def run(self) -> None:
        """Measure every corpus. Results are written after each, because a long run may be stopped early."""
        with_shingles = MILLION_PER_DAY if MILLION_PER_DAY in self.options.per_day else self.options.per_day[0]
        plan = [(size, per_day) for size in self.options.sizes for per_day in self.options.per_day]
        if self.options.million:
            plan.append((MILLION, MILLION_PER_DAY))
        for size, per_day in plan:
            self.console.print(f"{size:,} articles, {per_day or 'own'} a day: loading")
            articles = self.load(size, per_day)
            if "trigram" in self.options.only:
                self.measure_window(articles, per_day)
            if "shingles" in self.options.only and (per_day == with_shingles or size == MILLION):
                self.measure_shingles(articles, self._measure_near(articles))
            self.write()

    def write(self) -> None:
        """Write the results so far into their file."""
        self.options.json.parent.mkdir(parents=True, exist_ok=True)
        self.options.json.write_text(self.results.to_json())

    def load(self, size: int, per_day: int | None) -> int:
        """Fill the database with a corpus; return its number of articles."""
        with transaction.atomic():
            articles = load(corpus(self.sources, size, per_day), connection)
        database.settle()
        if (likeness := database.likeness_of_copies()) is not None:
            mean, highest = likeness
            self.results.options["similarity of an article and its copy"] = (
                f"{mean:.2f} on average, at most {highest:.2f} of 500"
            )
        return articles

    def measure_window(self, articles: int, per_day: int | None) -> None:
        """Measure the trigram pass and the plain join of a slice on the articles of the database."""
        self.console.print("  plain join of a slice")
        threshold, chosen = self.options.threshold, database.by_chance(self.options.plain_pairs)
        plain = database.plain_join(self.server, chosen, threshold=threshold)
        agreement: Agreement | None = None
        for workers in self.workers:
            self.console.print(f"  trigram pass, workers: {workers}")
            usage = self._find_duplicates("trigram", workers, threshold)
            found = database.evidence("trigram")
            agreement = agreement or self._agreement(plain, found, threshold)
            self.results.window.append(
                WindowResult(
                    articles=articles,
                    per_day=per_day,
                    threshold=threshold,
                    workers=workers,
                    pairs=pairs_in_window(database.articles_by_day(), database.DAY_WINDOW),
                    slice_pairs=plain.compared,
                    slice_cpu=plain.cpu,
                    slice_wall=plain.wall,
                    **agreement.with_pass(found),
                    found=len(found),
                    usage=usage,
                    startup_cpu=self.startup.command_cpu,
                )
            )

    def _agreement(self, plain: database.PlainJoin, found: database.Pairs, threshold: float) -> Agreement:
        """Run the plain join also for articles of pairs that the pass found: a random sample has few of them."""
        lefts = sorted({left for left, _ in found} - plain.articles)
        some = random.Random(SEED).sample(lefts, min(len(lefts), max(1, len(plain.articles) // 2)))
        asked = database.plain_join(self.server, some, threshold=threshold) if some else plain
        return Agreement(plain.articles | asked.articles, plain.found | asked.found)

    def _find_duplicates(self, pass_name: str, workers: str, threshold: float) -> Usage:
        command = [sys.executable, "manage.py", "find_duplicates", "--no-progress", "--no-verdicts"]
        command += ["--passes", pass_name]
        command += ["--threshold", f"{pass_name}={threshold}"]
        if workers != "default":
            command += ["--workers", workers]
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
            self.console.print("  ground truth: the exact join over all time, checked by brute force on a slice")
            truth = self.contend("exact-join", measured, CONFIG, repeat=1).pairs
            check_truth(truth, CONFIG)
        contended = {}
        for name in self.options.contestants:
            if name != "exact-join":
                self.console.print(f"  {name}")
                contended[name] = self.contend(name, measured, CONFIG)
        for name, python in (("text-dedup", self.options.text_dedup), ("splink", self.options.splink)):
            if python is not None:
                self.console.print(f"  {name}")
                contended[name] = self._elsewhere(name, python, measured)
        self.console.print("  minhash pass")
        usage = self._find_duplicates("minhash", "default", CONFIG.threshold)
        core = {"startup_cpu": self.startup.command_cpu}
        contended["minhash"] = Contended(frozenset(database.evidence("minhash")), usage, core)
        for name, each in contended.items():
            # minhash runs over the whole corpus, even if the others cannot.
            of = articles if name in {"minhash", "minhash-core"} else measured
            among = {pair for pair in each.pairs if pair[1] <= measured}
            recalled = recall(among, truth), recall(database.within(among, database.DAY_WINDOW), in_window)
            self.results.shingles.append(_shingle_result(name, each, CONFIG, (articles, of), recalled))

    def _measure_near(self, articles: int) -> Pairs | None:
        """Measure the exact join and rensa within the window of days; return the exact join's pairs, if it ran."""
        measured, exact = min(articles, self.options.rivals_most), None
        for prefix in NEAR_PREFIXES if "exact-join" in self.options.contestants else ():
            config, contended = replace(CONFIG, prefix=prefix, day_window=database.DAY_WINDOW), {}
            for name in NEAR:
                self.console.print(f"  {name}, ±{config.day_window} days, {prefix:,} characters")
                contended[name] = self.contend(name, measured, config)
            exact = contended["exact-join"].pairs
            check_truth(exact, config)
            self.results.near.extend(
                _shingle_result(name, each, config, (articles, measured), (None, recall(each.pairs, exact)))
                for name, each in contended.items()
            )
        return exact

    def contend(self, name: str, articles: int, config: MinhashConfig, repeat: int | None = None) -> Contended:
        """Run a contestant in its own process over the first so many articles of the database."""
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "pairs.npz"
            command = [sys.executable, "-m", "benchmarks.contestants", name, "--output", str(output)]
            command += ["--articles", str(articles), "--prefix", str(config.prefix)]
            command += ["--day-window", str(config.day_window), "--threshold", str(config.threshold)]
            repeat = repeat or self.options.repeat
            usage, said = measure(command, self.server, database.child_environment(), repeat=repeat)
            with np.load(output) as found:
                pairs = frozenset(zip(found["left"].tolist(), found["right"].tolist(), strict=True))
        return Contended(pairs, usage, json.loads(said))

    def _elsewhere(self, name: str, python: Path, articles: int) -> Contended:
        """Run a tool in an environment of its own over the first so many articles; writing its file is not measured."""
        with tempfile.TemporaryDirectory() as folder:
            lines, output = Path(folder) / "articles.jsonl", Path(folder) / "pairs.npz"
            with lines.open("w") as file:
                file.writelines(f"{line}\n" for line in database.lines(articles, CONFIG.prefix))
            program = CHECKOUT / "tests" / "benchmarks" / "others.py"
            command = [str(python), str(program), name, str(lines), str(output), str(CONFIG.threshold)]
            usage, _ = measure(command, self.server, {"PYTHONPATH": ""}, repeat=self.options.repeat)
            with np.load(output) as found:
                pairs = frozenset(zip(found["left"].tolist(), found["right"].tolist(), strict=True))
        return Contended(pairs, usage, {})


def _shingle_result(
    name: str,
    each: Contended,
    config: MinhashConfig,
    sizes: tuple[int, int],
    recalled: tuple[float | None, float | None],
) -> ShingleResult:
    return ShingleResult(
        corpus=sizes[0],
        articles=sizes[1],
        name=name,
        prefix=config.prefix,
        found=len(each.pairs),
        recall=recalled[0],
        recall_in_window=recalled[1],
        usage=each.usage,
        startup_cpu=each.core.get("startup_cpu"),
        core_cpu=each.core.get("core_cpu"),
        shingles_cpu=each.core.get("shingles_cpu") or None,
        signatures_cpu=each.core.get("signatures_cpu") or None,
    )


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

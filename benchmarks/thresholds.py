"""The exact join against MinHash and LSH at thresholds from 0.5 to 0.9, on the same sets of shingles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks import database
from benchmarks.comparing import Benchmark, recall
from benchmarks.contestants import CONFIG
from benchmarks.results import EXACT, LSH, ThresholdResult

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
PER_DAY = 500
# The window of the trigram pass, and all time.
_WINDOWS = (database.DAY_WINDOW, CONFIG.day_window)


class ThresholdBenchmark(Benchmark):
    """The two contestants, at each threshold."""

    sizes = [40_000]
    name = "thresholds"

    def measure(self, size: int) -> None:
        """Measure a corpus."""
        articles = self.load(size, PER_DAY)
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


add_options, run = ThresholdBenchmark.add_options, ThresholdBenchmark.start

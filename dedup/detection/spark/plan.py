"""What a run on a cluster will cost, from the numbers of the manifest alone.

The costs of a step were measured on one core of a 2-core machine; docs/scale.md has the table.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

from dedup.detection.passes import PASSES
from dedup.detection.passes.base import PassConfig, Spread
from dedup.detection.spark.manifest import Configs, Manifest

# Seconds of a run of any size: starting Java and its compiler, and the tasks of all stages; and those of each pass.
# Between a run in one process and one with an executor apart, which compiles everything a second time.
_FIXED = 55.0
_FIXED_A_PASS = 5.0
# Seconds an article: Java, Arrow, Parquet and what is prepared. Each pass says what the sets that it compares cost.
_ARTICLE = 0.00015
# Seconds a pair of articles within the window, where a pass compares all of them.
_WINDOW_PAIR = 12.7e-9
# Seconds a pair that is judged, and how many of them an article has.
_JUDGED = 0.0009
_PAIRS_AN_ARTICLE = 0.4
# Bytes an article that machines send each other, and those of a pair.
_SHUFFLED_AN_ARTICLE = 900
_SHUFFLED_A_PAIR = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will cost."""

    articles: int
    days: int
    largest_day: int
    window_pairs: dict[str, int]  # by pass
    tiles: int
    cpu_seconds: float
    shuffle_bytes: float
    largest_task_pairs: int


def planned(manifest: Manifest, configs: Configs, *, tile_pairs: int) -> Plan:
    """Return what a run with these settings will cost."""
    enabled = {name: config for name, config in configs.items() if config.enabled}
    counts = [count for _, count in manifest.days]
    pairs = {name: window_pairs(manifest, enabled[name]) for name in enabled if PASSES[name].spread is Spread.TILES}
    tiles = sum(-(-pair // tile_pairs) for pair in pairs.values())
    judged = _PAIRS_AN_ARTICLE * manifest.articles
    an_article = _ARTICLE + sum(PASSES[name].seconds_an_article for name in enabled)
    fixed = _FIXED + _FIXED_A_PASS * len(enabled)
    seconds = fixed + an_article * manifest.articles + _WINDOW_PAIR * sum(pairs.values()) + _JUDGED * judged
    return Plan(
        articles=manifest.articles,
        days=len(counts),
        largest_day=max(counts, default=0),
        window_pairs=pairs,
        tiles=tiles,
        cpu_seconds=seconds,
        shuffle_bytes=_SHUFFLED_AN_ARTICLE * manifest.articles + _SHUFFLED_A_PAIR * judged,
        largest_task_pairs=min(tile_pairs, max(pairs.values(), default=0)),
    )


def window_pairs(manifest: Manifest, config: PassConfig) -> int:
    """Return how many pairs of articles are at most the pass's window of days apart."""
    window: int = getattr(config, "day_window", 0)
    ordinals = {datetime.date.fromisoformat(day).toordinal(): count for day, count in manifest.days}
    total = 0
    for day, count in ordinals.items():
        before = sum(ordinals.get(day - apart, 0) for apart in range(1, window + 1))
        total += count * (count - 1) // 2 + count * before
    return total


def described(plan: Plan) -> Iterator[str]:
    """Yield the plan as lines of text."""
    yield f"Articles: {plan.articles:,} on {plan.days:,} days, at most {plan.largest_day:,} on one."
    for name, pairs in plan.window_pairs.items():
        yield f"{name}: {pairs:,} pairs of articles within its window."
    yield f"Tiles: {plan.tiles:,}, of at most {plan.largest_task_pairs:,} pairs."
    yield f"CPU: {plan.cpu_seconds / 3600:,.2f} hours; on 100 cores, about {plan.cpu_seconds / 6000:,.1f} minutes."
    yield f"Shuffle: {plan.shuffle_bytes / 1e9:,.2f} GB, and the same space on the disks of the executors."

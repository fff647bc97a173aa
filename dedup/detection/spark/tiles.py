"""Tiles of the passes that compare sets within a window of days: some articles with some others, of any days.

A tile finds every pair of its articles. Whether articles belong to a dense group shows when all tiles are counted:
a pair is left out only if the later of its articles has more neighbours up to its own day than a group begins with. So
the days of such articles are compared again, a whole window at a time (passes/near.py), and replace what the tiles
found on these days.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup.detection.kernels.parity_join import (
    TOLERANCE,
    DayRange,
    PairRange,
    Pairs,
    SimilarPairs,
    Sketches,
    candidate_tiles,
    jaccard,
    sketched,
)
from dedup.detection.kernels.tokens import IntArray
from dedup.detection.passes.base import NearConfig
from dedup.detection.passes.near import NearPass, NearSets, note, pairs_of_groups
from dedup.detection.spark.pairs import Scores, pair_table
from dedup.detection.spark.parts import Keys
from dedup.detection.types import Tally

# Articles of the second side that are compared with the whole first side at a time: of their pairs with each other,
# which are not asked for, there are few.
_STRIP = 4096


class TilePairs(NamedTuple):
    """The pairs of a tile by rows, with their Jaccard similarity; and the days on which there may be dense groups.

    Pairs whose later article is of one of the `dense_days` are left out.
    """

    one: IntArray
    other: IntArray
    scores: Scores
    candidates: int
    dense_days: IntArray


def similar_in_tile(articles: NearSets, split: int, config: NearConfig, threshold: float) -> TilePairs:
    """Return the pairs of a tile whose similarity reaches the threshold, at most `config.day_window` days apart.

    The rows before `split` and those from it on are each ordered by day; a pair has one of each. With `split` 0, all
    rows are compared with each other.
    """
    days = articles.days
    tiles = (
        _within(articles, config.day_window, threshold)
        if not split
        else _between(articles, split, config.day_window, threshold)
    )
    counter = _Counter(days, config.dense_from)
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    found += (counter.open(one, other) for one, other in tiles)
    one, other = counter.open(*(np.concatenate(side) for side in zip(*found, strict=True)), count=False)
    order = np.lexsort((other, one))
    one, other = one[order], other[order]
    scores = jaccard(articles.sets, one, other, articles.universe)
    reached = scores >= threshold - TOLERANCE
    return TilePairs(one[reached], other[reached], scores[reached], len(one), counter.dense_days)


class _Counter:
    """Counts the candidates of each article that end on its day, and leaves out the days on which there are too many.

    So the pairs in memory are bounded even if thousands of articles are near each other.
    """

    def __init__(self, days: IntArray, dense_from: int) -> None:
        self._days, self._most = days, dense_from
        self._first = int(days.min()) if len(days) else 0
        self._ending = np.zeros(len(days), dtype=np.int64)
        self._dense = np.zeros(int(days.max()) - self._first + 1 if len(days) else 0, dtype=np.bool_)

    @property
    def dense_days(self) -> IntArray:
        return np.flatnonzero(self._dense) + self._first

    def open(self, one: IntArray, other: IntArray, *, count: bool = True) -> Pairs:
        """Return the pairs of days without too many."""
        later = np.maximum(self._days[one], self._days[other])
        wanted = ~self._dense[later - self._first]
        one, other, later = one[wanted], other[wanted], later[wanted]
        if count and len(one):
            ends = np.concatenate([one[self._days[one] == later], other[self._days[other] == later]])
            np.add.at(self._ending, ends, 1)
            above = ends[self._ending[ends] > self._most]
            self._dense[self._days[above] - self._first] = True
        return one, other


def _within(articles: NearSets, day_window: int, threshold: float) -> Iterator[Pairs]:
    reach = PairRange(DayRange(articles.days, 0, day_window).earliest, 0)
    yield from candidate_tiles(sketched(articles.sets, threshold), reach, threshold)


def _between(articles: NearSets, split: int, day_window: int, threshold: float) -> Iterator[Pairs]:
    """Yield the candidates of one side with the other, strip by strip."""
    days = articles.days
    sketches = sketched(articles.sets, threshold)
    for start in range(split, len(days), _STRIP):
        strip = np.arange(start, min(start + _STRIP, len(days)))
        begin = int(np.searchsorted(days[:split], days[strip[0]] - day_window))
        end = int(np.searchsorted(days[:split], days[strip[-1]] + day_window, side="right"))
        rows = np.concatenate([np.arange(begin, end), strip])
        earliest = np.arange(len(rows))
        earliest[end - begin :] = np.searchsorted(days[begin:end], days[strip] - day_window)
        part = Sketches(np.ascontiguousarray(sketches.words[:, rows]), sketches.sizes[rows])
        for left, right in candidate_tiles(part, PairRange(earliest, end - begin), threshold):
            asked = left < end - begin
            one, other = rows[left[asked]], rows[right[asked]]
            near = np.abs(days[one] - days[other]) <= day_window
            yield one[near], other[near]


def similar_of_day(articles: NearSets, day: int, config: NearConfig, tally: Tally) -> SimilarPairs:
    """Return the pairs whose later article is of `day`; note the hubs in the tally.

    `articles` are those of twice the window's days before and of the day, ordered by day and id.
    """
    asked = DayRange(articles.days, int(np.searchsorted(articles.days, day)), config.day_window)
    found = pairs_of_groups(articles, asked, config)
    note(found, articles.ids, tally)
    return found


def scored_pairs(
    by: NearPass, articles: NearSets, keys: Keys, one: IntArray, other: IntArray, scores: Scores, threshold: float
) -> pa.Table:
    """Return pairs of the articles by their places as a table, with the scores that the pass writes."""
    reached, written = by.reached(scores, threshold)
    order = np.argsort(keys.ids)
    rows = order[np.searchsorted(keys.ids, articles.ids, sorter=order)]
    return pair_table(keys.at(rows[one[reached]]), keys.at(rows[other[reached]]), written)

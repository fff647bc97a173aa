"""Tiles of the passes that compare sets within a window of days: some articles with some others, of any days.

A tile finds every pair of its articles. Whether articles belong to a dense group shows when all tiles are counted:
a pair is left out only if the later of its articles has more near ones up to its own day than a group begins with. So
the days of such articles are compared again, a whole window at a time (passes/near.py), and replace what the tiles
found on these days.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dedup.detection.kernels import dense_join
from dedup.detection.kernels.parity_join import (
    TOLERANCE,
    DayRange,
    PairRange,
    Pairs,
    Sketches,
    candidate_tiles,
    jaccard,
    sketched,
)
from dedup.detection.kernels.stopwords import stop_word_shingle_sets
from dedup.detection.kernels.tokens import TRIGRAM_BITS, Alphabet, IntArray, Ragged, distinct, trigram_sets
from dedup.detection.passes.base import NearConfig
from dedup.detection.passes.stopword import StopwordConfig
from dedup.detection.passes.trigram import TrigramConfig
from dedup.detection.spark.pairs import Scores, pair_table
from dedup.detection.spark.parts import Keys
from dedup.detection.types import Tally

# Articles of the second side that are compared with the whole first side at a time: of their pairs with each other,
# which are not asked for, there are few.
_STRIP = 4096


class Sets(NamedTuple):
    """Articles as sets, in any order; see NearSets."""

    keys: Keys
    sets: Ragged
    universe: int
    names: IntArray | None = None


def trigram_tile(articles: pa.Table, config: TrigramConfig, alphabet: Alphabet) -> Sets:
    """Return articles (KEYS, text) as sets of trigrams of their beginnings."""
    texts = [text[: config.prefix] for text in articles["text"].to_pylist()]
    return Sets(Keys.of(articles), trigram_sets(texts, alphabet), 1 << TRIGRAM_BITS)


def stopword_tile(articles: pa.Table, config: StopwordConfig) -> Sets:
    """Return articles (KEYS, text) that have enough phrases as sets of their stop-word shingles."""
    texts = [text[: config.prefix] for text in articles["text"].to_pylist()]
    sets = stop_word_shingle_sets(texts)
    enough = np.flatnonzero(sets.sizes >= config.minimum_shingles)
    members = sets.values[np.repeat(sets.sizes >= config.minimum_shingles, sets.sizes)]
    # A table of all hashes would be too long: they are replaced by their ranks.
    names = distinct(members)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sets.sizes[enough])])
    ranks = Ragged(np.searchsorted(names, members).astype(np.int32), offsets)
    return Sets(Keys.of(articles).at(enough), ranks, 1 << len(names).bit_length(), names)


class TilePairs(NamedTuple):
    """The pairs of a tile by rows, with their Jaccard similarity; and the days on which there may be dense groups.

    Pairs whose later article is of one of the `dense_days` are left out.
    """

    one: IntArray
    other: IntArray
    scores: Scores
    candidates: int
    dense_days: IntArray


def similar_in_tile(articles: Sets, split: int, config: NearConfig, threshold: float) -> TilePairs:
    """Return the pairs of a tile whose similarity reaches the threshold, at most `config.day_window` days apart.

    The rows before `split` and those from it on are each ordered by day; a pair has one of each. With `split` 0, all
    rows are compared with each other.
    """
    days = articles.keys.days
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
            crowded = ends[self._ending[ends] > self._most]
            self._dense[self._days[crowded] - self._first] = True
        return one, other


def _within(articles: Sets, day_window: int, threshold: float) -> Iterator[Pairs]:
    reach = PairRange(DayRange(articles.keys.days, 0, day_window).earliest, 0)
    yield from candidate_tiles(sketched(articles.sets, threshold), reach, threshold)


def _between(articles: Sets, split: int, day_window: int, threshold: float) -> Iterator[Pairs]:
    """Yield the candidates of one side with the other, strip by strip."""
    days = articles.keys.days
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


def similar_of_day(
    articles: Sets, day: int, config: NearConfig, threshold: float, tally: Tally
) -> dense_join.DensePairs:
    """Return the pairs whose later article is of `day`; note the crowded articles in the tally.

    `articles` are those of twice the window's days before and of the day, ordered by day and id.
    """
    days = articles.keys.days
    found = dense_join.similar_pairs(
        articles.sets,
        DayRange(days, int(np.searchsorted(days, day)), config.day_window),
        threshold=threshold,
        universe=articles.universe,
        density=dense_join.Density(config.dense_from, config.kept_pairs),
        names=articles.names,
    )
    tally.candidates += found.candidates
    tally.crowded |= dict(zip(articles.keys.ids[found.crowded].tolist(), found.near.tolist(), strict=True))
    return found


def trigram_scores(scores: Scores, threshold: float) -> tuple[npt.NDArray[np.bool_], Scores]:
    """Return which scores reach the threshold as similarity() sees it, and all as PostgreSQL writes them.

    similarity() divides two integers in 32 bits. The quotient of two integers below 2^24 in 64 bits, rounded to 32,
    is the same (Figueroa, When is double rounding innocuous?, 1995).
    """
    single = scores.astype(np.float32)
    return single >= np.float32(threshold), single.astype(np.str_).astype(np.float64)


def scored_pairs(keys: Keys, one: IntArray, other: IntArray, scores: Scores, config: NearConfig) -> pa.Table:
    """Return pairs by rows as a table, with the scores that the pass writes."""
    if isinstance(config, TrigramConfig):
        reached, scores = trigram_scores(scores, config.threshold)
        one, other, scores = one[reached], other[reached], scores[reached]
    return pair_table(keys.at(one), keys.at(other), scores)

"""Tiles of the passes that compare sets within a window of days: some articles with some others, of any days.

A tile finds every pair of its articles. Whether articles belong to a dense group shows when all tiles are counted:
a pair is left out only if the later of its articles has more neighbours up to its own day than a group begins with. So
the days of such articles are compared again, a whole window at a time (passes/near.py), and replace what the tiles
found on these days. The tasks know no Spark.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dedup.detection.kernels import parity_join
from dedup.detection.kernels.tokens import IntArray
from dedup.detection.passes.near import NearPass, NearSets, note, pairs_of_groups
from dedup.detection.passes.reading import ArticleBatch
from dedup.detection.spark.parts import PAIRS, Keys, Part, Work, near_parts, of_days, pair_table, read_part, write
from dedup.detection.spark.schema import HUBS, table_of
from dedup.detection.spark.stages import Done
from dedup.detection.types import Tally

# Articles of the second side that are compared with the whole first side at a time: of their pairs with each other,
# which are not asked for, there are few.
_STRIP = 4096


class Tile(NamedTuple):
    """Some articles of a part with some of another: the parts and, of each, the first row and the row to stop at."""

    one: int
    other: int
    rows_of_one: tuple[int, int]
    rows_of_other: tuple[int, int]


def tiles_of(parts: Sequence[Part], day_window: int, most_articles: int) -> Iterator[Tile]:
    """Yield the tiles that have all pairs within the window, of at most so many articles on each side."""
    for one, other in near_parts(parts, day_window):
        for rows in _slices(parts[one].articles, most_articles):
            for others in _slices(parts[other].articles, most_articles):
                if one != other or rows <= others:
                    yield Tile(one, other, rows, others)


def _slices(articles: int, most: int) -> list[tuple[int, int]]:
    count = -(-articles // most)
    return [(articles * place // count, articles * (place + 1) // count) for place in range(count)]


class TilePairs(NamedTuple):
    """The pairs of a tile by rows, with their Jaccard similarity; and the days on which there may be dense groups.

    Pairs whose later article is of one of the `dense_days` are left out.
    """

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]
    candidates: int
    dense_days: IntArray


def similar_in_tile(articles: NearSets, split: int, config: Any) -> TilePairs:
    """Return the pairs of a tile whose similarity reaches the threshold, at most `config.day_window` days apart.

    The rows before `split` and those from it on are each ordered by day; a pair has one of each. With `split` 0, all
    rows are compared with each other.
    """
    sketches = parity_join.sketched(articles.sets, config.threshold)
    if split:
        tiles = _between(articles.days, sketches, split, config)
    else:
        reach = parity_join.PairRange(parity_join.DayRange(articles.days, 0, config.day_window).earliest, 0)
        tiles = parity_join.candidate_tiles(sketches, reach, config.threshold)
    counter = _Counter(articles.days, config.dense_from)
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    found += (counter.open(one, other) for one, other in tiles)
    one, other = counter.open(*(np.concatenate(side) for side in zip(*found, strict=True)), count=False)
    order = np.lexsort((other, one))
    one, other = one[order], other[order]
    scores = parity_join.jaccard(articles.sets, one, other, articles.universe)
    reached = scores >= config.threshold - parity_join.TOLERANCE
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

    def open(self, one: IntArray, other: IntArray, *, count: bool = True) -> parity_join.Pairs:
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


def _between(days: IntArray, sketches: parity_join.Sketches, split: int, config: Any) -> Iterator[parity_join.Pairs]:
    """Yield the candidates of one side with the other, strip by strip."""
    day_window = config.day_window
    for start in range(split, len(days), _STRIP):
        strip = np.arange(start, min(start + _STRIP, len(days)))
        begin = int(np.searchsorted(days[:split], days[strip[0]] - day_window))
        end = int(np.searchsorted(days[:split], days[strip[-1]] + day_window, side="right"))
        rows = np.concatenate([np.arange(begin, end), strip])
        earliest = np.arange(len(rows))
        earliest[end - begin :] = np.searchsorted(days[begin:end], days[strip] - day_window)
        part = parity_join.Sketches(np.ascontiguousarray(sketches.words[:, rows]), sketches.sizes[rows])
        reach = parity_join.PairRange(earliest, end - begin)
        for left, right in parity_join.candidate_tiles(part, reach, config.threshold):
            asked = left < end - begin
            one, other = rows[left[asked]], rows[right[asked]]
            near = np.abs(days[one] - days[other]) <= day_window
            yield one[near], other[near]


def find_in_tile(work: Work, by: NearPass, config: Any, folder: Path, tile: Tile) -> Done:
    """Write the pairs of a tile of a pass that compares sets into the folder `pairs`."""
    (begin, _), (other_begin, _) = tile.rows_of_one, tile.rows_of_other
    file = folder / "pairs" / f"{tile.one:06}-{tile.other:06}-{begin:06}-{other_begin:06}.parquet"
    one = _rows_of(work, tile.one, tile.rows_of_one)
    sides = [one]
    if (tile.one, tile.rows_of_one) != (tile.other, tile.rows_of_other):
        other = _rows_of(work, tile.other, tile.rows_of_other)
        sides = [_near(one, other, config.day_window), _near(other, one, config.day_window)]
    first = _sets_of(sides[:1], by, config, work)
    both, split = (_sets_of(sides, by, config, work), len(first.ids)) if len(sides) > 1 else (first, 0)
    if not len(both.ids) or (len(sides) > 1 and split in (0, len(both.ids))):
        write(PAIRS.empty_table(), file)
        return Done()
    found = similar_in_tile(both, split, config)
    pairs = scored_pairs(by, both, Keys.of(pa.concat_tables(sides)), found, config.threshold)
    write(pairs, file)
    return Done(found.candidates, len(found.scores), pairs.num_rows, found.dense_days.tolist())


def _rows_of(work: Work, part: int, rows: tuple[int, int]) -> pa.Table:
    return read_part(work.parts[part], ["text"], last_day=work.last_day).slice(rows[0], rows[1] - rows[0])


def _near(articles: pa.Table, others: pa.Table, day_window: int) -> pa.Table:
    """Return the articles that are within the window of any day of the others."""
    if not others.num_rows:
        return articles.slice(0, 0)
    days = others["day"].to_numpy()
    return of_days(articles, int(days.min()) - day_window, int(days.max()) + day_window)


def _sets_of(sides: Sequence[pa.Table], by: NearPass, config: Any, work: Work) -> NearSets:
    articles = pa.concat_tables(sides)
    keys, texts = Keys.of(articles), [text[: config.prefix] for text in articles["text"].to_pylist()]
    batch = ArticleBatch(keys.ids, keys.days, None, texts)
    return by.sets_of([batch], config, lambda _texts: work.alphabet)


def find_on_day(work: Work, by: NearPass, config: Any, folder: Path, day: int) -> Done:
    """Write the pairs whose later article is of a day with dense groups into folder `dense`, its hubs into `hubs`."""
    first = max(1, day - 2 * config.day_window)
    read = (read_part(work.parts[part], ["text"], last_day=day) for part in work.parts_with(first, day))
    articles = pa.concat_tables(of_days(table, first, day) for table in read)
    articles = articles.sort_by([("day", "ascending"), ("id", "ascending")])
    sets, tally = _sets_of([articles], by, config, work), Tally()
    asked = parity_join.DayRange(sets.days, int(np.searchsorted(sets.days, day)), config.day_window)
    found = pairs_of_groups(sets, asked, config)
    note(found, sets.ids, tally)
    pairs = scored_pairs(by, sets, Keys.of(articles), found, config.threshold)
    write(table_of(list(tally.hubs.items()), HUBS), folder / "hubs" / f"{day}.parquet")
    write(pairs, folder / "dense" / f"{day}.parquet")
    return Done(found.candidates, len(found.scores), pairs.num_rows)


def scored_pairs(
    by: NearPass, articles: NearSets, keys: Keys, found: TilePairs | parity_join.SimilarPairs, threshold: float
) -> pa.Table:
    """Return pairs of the articles by their places as a table, with the scores that the pass writes."""
    reached, written = by.reached(found.scores, threshold)
    order = np.argsort(keys.ids)
    rows = order[np.searchsorted(keys.ids, articles.ids, sorter=order)]
    return pair_table(keys.at(rows[found.left[reached]]), keys.at(rows[found.right[reached]]), written)

"""An exact set-similarity join: which sets of a block have Jaccard similarity of at least t?

A parity sketch of a set deals its members to K buckets and keeps, for each bucket, the parity of its count.
Two sets that differ in d members differ in at most d bits, whatever the buckets. A Jaccard similarity of at
least t means |A xor B| <= (1 - t) / (1 + t) * (|A| + |B|). So a pair with more differing bits than that cannot
reach t: no pair is lost, for any dealing of the buckets; a good dealing only makes fewer pairs pass.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.shingles import IntArray, Ragged, distinct

# Room for the rounding of thresholds and similarities, which are 32-bit floats in PostgreSQL.
TOLERANCE = 1e-6
_WORD_BITS = 64
_MOST_BITS = 4096
# One step of the comparison: so many rows by so many columns stay in the processor's cache.
_TILE_ROWS = 8
_TILE_COLUMNS = 1024
# Enough sets to learn which members are frequent.
_SAMPLE_SETS = 3_000

Bits = npt.NDArray[np.uint64]


class SimilarPairs(NamedTuple):
    """Pairs of sets by their positions, left < right, ordered, with their Jaccard similarity in 0..1."""

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]
    candidates: int


class Sketches(NamedTuple):
    """Parity sketches, a column of 64-bit words a set, and the sizes of the sets."""

    words: Bits  # shape (words, sets)
    sizes: IntArray


def similar_pairs(
    sets: Ragged,
    days: IntArray,
    *,
    first_row: int,
    day_window: int,
    threshold: float,
    universe: int,
    fresh: npt.NDArray[np.bool_] | None = None,
) -> SimilarPairs:
    """Return every pair of sets within the window of days whose Jaccard similarity reaches the threshold.

    `days` are numbers of days, ascending, one a set; of a pair, the later one is at position `first_row` or behind it,
    the other at most `day_window` days earlier (inclusive), and one of them is `fresh` (None: all are). Members are
    below `universe`. Exact, but for TOLERANCE.
    """
    bits = bits_for(threshold, float(np.quantile(sets.sizes, 0.9)) if len(days) else 0.0)
    sketched = sketch(sets, deal_buckets(sets.head(_SAMPLE_SETS), universe, bits), bits)
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    start = 0
    while start < len(days):
        next_day, last = np.searchsorted(days, [days[start], days[start] + day_window], side="right")
        found.append(similar_rows(sketched, slice(start, int(next_day)), slice(start, int(last)), threshold))
        start = int(next_day)
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    keep = right >= first_row
    if fresh is not None:
        keep &= fresh[left] | fresh[right]
    left, right = left[keep], right[keep]
    scores = jaccard(sets, left, right, universe)
    reached = scores >= threshold - TOLERANCE
    return SimilarPairs(left[reached], right[reached], scores[reached], len(left))


def bits_for(threshold: float, size: float) -> int:
    """Return how many bits leave few false candidates for sets of this size; a multiple of 64.

    Measured on the trigrams of real news at thresholds 0.5 to 0.9, of 1000 characters (480 trigrams): 896, 640,
    448, 320 and 160 bits let 0.01 % of unlike pairs pass. Any number is right, a small one is slower.
    """
    share = np.interp(threshold, [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], [3.0, 1.87, 1.33, 0.93, 0.67, 0.34, 0.2])
    words = int(np.ceil(share * size / _WORD_BITS))
    return _WORD_BITS * min(max(words, 1), _MOST_BITS // _WORD_BITS)


def deal_buckets(sample: Ragged, universe: int, bits: int) -> npt.NDArray[np.uint16]:
    """Return the bucket, 0..bits-1, of every number below `universe`, dealt by frequency in the sample.

    The most frequent members are dealt out like cards, one a bucket, round after round: each bucket then
    holds about as much as any other, and frequent members, on which two sets differ most often, seldom
    share one. What the sample does not hold is spread by a multiplicative hash (Knuth, TAOCP 6.4).
    """
    dealt = _hashed_buckets(universe, bits).copy()
    members = distinct(sample.values)
    counts = np.bincount(np.searchsorted(members, sample.values), minlength=len(members))
    ranked = members[np.argsort(-counts, kind="stable")]
    dealt[ranked] = np.arange(len(ranked)) % bits
    return dealt


@lru_cache(maxsize=4)
def _hashed_buckets(universe: int, bits: int) -> npt.NDArray[np.uint16]:
    hashed = np.arange(universe, dtype=np.uint64) * np.uint64(0x9E3779B1) >> np.uint64(16)
    return (hashed % np.uint64(bits)).astype(np.uint16)


def sketch(sets: Ragged, buckets: npt.NDArray[np.uint16], bits: int) -> Sketches:
    """Return the parity sketches of the sets; `bits` is a multiple of 64."""
    rows = len(sets.sizes)
    words = np.empty((bits // _WORD_BITS, rows), dtype=np.uint64)
    step = max(1, 400_000 // bits)  # rows at a time: their counts stay in the processor's cache
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        values = sets.values[sets.offsets[start] : sets.offsets[stop]]
        row = np.repeat(np.arange(stop - start, dtype=np.int64) * bits, sets.sizes[start:stop])
        counts = np.bincount(row + buckets[values], minlength=(stop - start) * bits)
        parity = (counts & 1).astype(np.uint8).reshape(stop - start, bits)
        words[:, start:stop] = np.packbits(parity, axis=1, bitorder="little").view(np.uint64).T
    return Sketches(words, sets.sizes)


def similar_rows(sketches: Sketches, rows: slice, columns: slice, threshold: float) -> tuple[IntArray, IntArray]:
    """Return the pairs of a row with a column, left < right, whose sets may reach the threshold.

    Two arrays of indices, ordered by left, then right. None that reaches the threshold is missing.
    Empty sets are similar to nothing.
    """
    found: list[tuple[IntArray, IntArray]] = []
    for top in range(rows.start, rows.stop, _TILE_ROWS):
        band = slice(top, min(top + _TILE_ROWS, rows.stop))
        for start in range(max(columns.start, top + 1), columns.stop, _TILE_COLUMNS):
            tile = slice(start, min(start + _TILE_COLUMNS, columns.stop))
            left, right = np.nonzero(_may_reach(sketches, band, tile, threshold))
            if len(left):
                found.append((left + band.start, right + tile.start))
    left, right = (np.concatenate([np.empty(0, dtype=np.int64), *(pair[side] for pair in found)]) for side in (0, 1))
    ahead = left < right
    left, right = left[ahead], right[ahead]
    order = np.lexsort((right, left))
    return left[order], right[order]


def _may_reach(sketches: Sketches, band: slice, tile: slice, threshold: float) -> npt.NDArray[np.bool_]:
    """Return, for each row of the band and column of the tile, whether the sketches let the pair pass."""
    shape = (band.stop - band.start, tile.stop - tile.start)
    differing = np.empty(shape, dtype=np.uint64)
    count = np.empty(shape, dtype=np.uint8)
    distance = np.zeros(shape, dtype=np.uint16)
    for word in sketches.words:
        np.bitwise_xor(word[band, None], word[None, tile], out=differing)
        np.bitwise_count(differing, out=count)
        np.add(distance, count, out=distance)
    allowed = (1.0 - threshold) / (1.0 + threshold) + TOLERANCE
    sizes = sketches.sizes
    bound = (allowed * (sizes[band, None] + sizes[None, tile])).astype(np.float32)
    return (distance <= bound) & (sizes[band, None] > 0) & (sizes[None, tile] > 0)


def jaccard(sets: Ragged, left: IntArray, right: IntArray, universe: int) -> npt.NDArray[np.float64]:
    """Return the exact Jaccard similarity of each pair of sets; `left` is ascending, its runs are scored together."""
    scores = np.zeros(len(left))
    present = np.zeros(universe, dtype=np.uint8)
    starts = np.flatnonzero(np.diff(left, prepend=-1))
    for start, stop in pairwise([*starts, len(left)]):
        members = sets.values[sets.offsets[left[start]] : sets.offsets[left[start] + 1]]
        present[members] = 1
        for position in range(start, stop):
            other = sets.values[sets.offsets[right[position]] : sets.offsets[right[position] + 1]]
            shared = int(present[other].sum())
            union = len(members) + len(other) - shared
            scores[position] = shared / union if union else 0.0
        present[members] = 0
    return scores


def jaccard_of_hashed(sets: Ragged, left: IntArray, right: IntArray) -> npt.NDArray[np.float64]:
    """Return the exact Jaccard similarity of each pair of sets whose members are too wide for a table."""
    scores = np.zeros(len(left))
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        first = sets.values[sets.offsets[one] : sets.offsets[one + 1]]
        second = sets.values[sets.offsets[other] : sets.offsets[other + 1]]
        both = np.concatenate([first, second])
        both.sort()
        shared = int(np.count_nonzero(both[1:] == both[:-1]))
        scores[place] = shared / (len(both) - shared) if len(both) else 0.0
    return scores

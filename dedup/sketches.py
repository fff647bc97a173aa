"""An exact set-similarity join: which sets of a block have Jaccard similarity of at least t?

A parity sketch of a set deals its members to K buckets and keeps, for each bucket, the parity of its count.
Two sets that differ in d members differ in at most d bits, whatever the buckets. A Jaccard similarity of at
least t means |A xor B| <= (1 - t) / (1 + t) * (|A| + |B|). So a pair with more differing bits than that cannot
reach t: no pair is lost, for any dealing of the buckets; a good dealing only makes fewer pairs pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.shingles import IntArray, Ragged

# Room for the rounding of thresholds and similarities, which are 32-bit floats in PostgreSQL.
TOLERANCE = 1e-6
SKETCH_BITS = 1024
_WORD_BITS = 64
_TILE_COLUMNS = 4096

Bits = npt.NDArray[np.uint64]


class Sketches(NamedTuple):
    """Parity sketches, one row of 64-bit words a set, and the sizes of the sets."""

    bits: Bits
    sizes: IntArray


def deal_buckets(sample: Ragged, universe: int, bits: int = SKETCH_BITS) -> npt.NDArray[np.uint16]:
    """Return the bucket, 0..bits-1, of every number below `universe`, dealt by frequency in the sample.

    The most frequent members are dealt out like cards, one a bucket, round after round: each bucket then
    holds about as much as any other, and frequent members, on which two sets differ most often, seldom
    share one. What the sample does not hold is spread by a multiplicative hash (Knuth, TAOCP 6.4).
    """
    dealt = _hashed_buckets(universe, bits).copy()
    members, counts = np.unique(sample.values, return_counts=True)
    ranked = members[np.lexsort((members, -counts))]
    dealt[ranked] = np.arange(len(ranked)) % bits
    return dealt


@cache
def _hashed_buckets(universe: int, bits: int) -> npt.NDArray[np.uint16]:
    hashed = np.arange(universe, dtype=np.uint64) * np.uint64(0x9E3779B1) >> np.uint64(16)
    return (hashed % np.uint64(bits)).astype(np.uint16)


def sketch(sets: Ragged, buckets: npt.NDArray[np.uint16], bits: int = SKETCH_BITS) -> Sketches:
    """Return the parity sketches of the sets; `bits` is a multiple of 64."""
    rows = len(sets.sizes)
    words = np.empty((rows, bits // _WORD_BITS), dtype=np.uint64)
    step = max(1, 8_000_000 // bits)  # rows at a time: the counts of one step take 64 MB
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        values = sets.values[sets.offsets[start] : sets.offsets[stop]]
        row = np.repeat(np.arange(stop - start, dtype=np.int64), sets.sizes[start:stop])
        counts = np.bincount(row * bits + buckets[values], minlength=(stop - start) * bits)
        parity = (counts & 1).astype(np.uint8).reshape(stop - start, bits)
        words[start:stop] = np.packbits(parity, axis=1, bitorder="little").view(np.uint64)
    return Sketches(words, sets.sizes)


def similar_rows(
    sketches: Sketches, row: slice, columns: slice, threshold: float
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield index arrays (left, right) of the pairs of a row slice with a column slice that may reach the threshold.

    Only pairs with left < right are given, and none that reaches the threshold is missing. Empty sets
    are similar to nothing.
    """
    allowed = (1.0 - threshold) / (1.0 + threshold) + TOLERANCE
    for start in range(columns.start, columns.stop, _TILE_COLUMNS):
        tile = slice(start, min(start + _TILE_COLUMNS, columns.stop))
        for left in range(row.start, row.stop):
            first = max(tile.start, left + 1)
            if first >= tile.stop or sketches.sizes[left] == 0:
                continue
            differing = np.bitwise_count(sketches.bits[first : tile.stop] ^ sketches.bits[left])
            distance = differing.sum(axis=1, dtype=np.int32)
            bound = allowed * (sketches.sizes[first : tile.stop] + sketches.sizes[left])
            [found] = np.nonzero((distance <= bound) & (sketches.sizes[first : tile.stop] > 0))
            if len(found):
                yield np.full(len(found), left, dtype=np.int64), found + first


def jaccard(sets: Ragged, left: IntArray, right: IntArray, universe: int) -> npt.NDArray[np.float64]:
    """Return the exact Jaccard similarity of each pair of sets; `left` is ascending, its runs are scored together."""
    scores = np.zeros(len(left))
    present = np.zeros(universe, dtype=np.uint8)
    starts = np.flatnonzero(np.diff(left, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(left)], strict=True):
        members = sets.values[sets.offsets[left[start]] : sets.offsets[left[start] + 1]]
        present[members] = 1
        for position in range(start, stop):
            other = sets.values[sets.offsets[right[position]] : sets.offsets[right[position] + 1]]
            shared = int(present[other].sum())
            union = len(members) + len(other) - shared
            scores[position] = shared / union if union else 0.0
        present[members] = 0
    return scores

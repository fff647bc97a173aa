"""An exact set-similarity join: all pairs of sets with a Jaccard similarity of at least t.

A parity sketch distributes the members of a set over K buckets and keeps the parity of each bucket's count.
Two sets that differ in d members differ in at most d bits, whatever the buckets. A Jaccard similarity of at
least t means |A xor B| <= (1 - t) / (1 + t) * (|A| + |B|). So a pair with more differing bits cannot reach t.
No assignment of buckets loses a pair; a good one only lets fewer false candidates pass.

Every set is compared with the one before it, then with the one before that, and so on. A diagonal of the matrix
of pairs is two slices of the same array, so one numpy call compares a thousand sets without copying, with
fifty articles a day as with thousands.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from dedup.detection.kernels.tokens import Flags, IntArray, Ragged

# Allows for the rounding of thresholds and similarities, which are 32-bit floats in PostgreSQL.
TOLERANCE = 1e-6
_WORD_BITS = 64
_MOST_BITS = 4096
# The pairs of one step of the comparison stay in the processor's second-level cache.
_TILE_SETS = 4096
_TILE_SHIFTS = 16
# Words whose differing bits can be counted in eight bits.
_WORDS_IN_A_BYTE = 3
# Enough sets to estimate which members are frequent.
_SAMPLE_SETS = 1_000
# Width of the hash that assigns members to buckets.
_SLOT_BITS = 16
# An empty set's part of the bound: no distance is within it, whatever the other part (two fit into 16 bits).
_NEVER = -10_000
# If more than this share of sets is fresh, it is faster to compare all sets and drop the other pairs.
_MANY_FRESH = 0.4

Bits = npt.NDArray[np.uint64]
Bounds = npt.NDArray[np.int16]
Pairs = tuple[IntArray, IntArray]
Buffers = tuple[Bits, npt.NDArray[np.uint8], npt.NDArray[np.uint8], Bounds]


_NONE = np.empty(0, dtype=np.int64)


class SimilarPairs(NamedTuple):
    """Pairs of sets by their positions, left < right, ordered, with their Jaccard similarity in 0..1.

    `hubs` are the positions of the sets of which pairs may be left out, ascending, and `neighbours` the number of
    neighbours that were found of each: it has at least so many.
    """

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]
    candidates: int  # pairs that passed the sketches and were compared exactly
    hubs: IntArray = _NONE
    neighbours: IntArray = _NONE


class Sketches(NamedTuple):
    """Parity sketches, one column of 64-bit words per set, and the sizes of the sets."""

    words: Bits  # shape (words, sets)
    sizes: IntArray


class DayRange(NamedTuple):
    """The pairs of sets to compare, by their days.

    `days` are day numbers, ascending, one per set. The later set of a pair is at position `first_row` or after it, the
    earlier one at most `day_window` days before (inclusive). Pairs without a `fresh` set are left out.
    """

    days: IntArray
    first_row: int
    day_window: int
    fresh: Flags | None = None

    @property
    def earliest(self) -> IntArray:
        """Return the first position within the window of each set."""
        return np.searchsorted(self.days, self.days - self.day_window).astype(np.int64)


class PairRange(NamedTuple):
    """The pairs to find: `earliest[i]` <= earlier < later = i, for every i from `first_row` on."""

    earliest: IntArray
    first_row: int
    fresh: Flags | None = None

    def only(self, left: IntArray, right: IntArray) -> Flags:
        """Return which of the pairs are in the range."""
        asked = (right >= self.first_row) & (left < right)
        asked &= left >= self.earliest[right]
        return asked if self.fresh is None else asked & (self.fresh[left] | self.fresh[right])


def similar_pairs(
    sets: Ragged, asked: DayRange, *, threshold: float, universe: int, most_neighbours: int | None = None
) -> SimilarPairs | None:
    """Return every pair asked for whose Jaccard similarity reaches the threshold.

    The work is proportional to the number of fresh sets. Members are below `universe`. Exact, except for TOLERANCE: a
    score that is less by that still reaches the threshold.

    None if a set may have more than `most_neighbours` similar ones on its day and before it; that takes little work to
    see.
    """
    tiles = candidate_tiles(
        sketched(sets, threshold), PairRange(asked.earliest, asked.first_row, asked.fresh), threshold
    )
    candidates = _few(tiles, asked.days, most_neighbours)
    if candidates is None:
        return None
    left, right = candidates
    scores = jaccard(sets, left, right, universe)
    reached = scores >= threshold - TOLERANCE
    return SimilarPairs(left[reached], right[reached], scores[reached], len(left))


def sketched(sets: Ragged, threshold: float, *, finer: int = 1) -> Sketches:
    """Return sketches of the sets that fit their sizes and the threshold; with `finer`, of so many times the bits."""
    # Chosen for a large set, because a sketch that is too full resembles all others.
    bits = bits_for(threshold, float(np.quantile(sets.sizes, 0.9)) if len(sets.sizes) else 0.0)
    bits = min(finer * bits, _MOST_BITS)
    return sketch(sets, deal_buckets(sets.part(0, _SAMPLE_SETS), bits), bits)


def _few(tiles: Iterator[Pairs], days: IntArray, most: int | None) -> Pairs | None:
    """Return the pairs of all tiles, ordered; None if a set is in more than `most` of them that end on its day."""
    found = [(_NONE, _NONE)]
    ending = np.zeros(len(days), dtype=np.int64)
    for left, right in tiles:
        found.append((left, right))
        if most is not None and len(left):
            ends = np.concatenate([right, left[days[left] == days[right]]])
            np.add.at(ending, ends, 1)
            if ending[ends].max() > most:
                return None
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order]


def bits_for(threshold: float, size: float) -> int:
    """Return the number of bits with few false candidates for sets of this size; a multiple of 64.

    Measured on the trigrams of real news, 1000 characters (480 trigrams), at thresholds from 0.5 to 0.9: comparing
    sketches and verifying candidates together take least time with 896, 640, 448, 320 and 192 bits. Any number
    gives correct results.
    """
    share = np.interp(threshold, [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], [3.0, 1.75, 1.28, 0.9, 0.64, 0.34, 0.2])
    words = int(np.ceil(share * size / _WORD_BITS))
    return _WORD_BITS * min(max(words, 1), _MOST_BITS // _WORD_BITS)


def deal_buckets(sample: Ragged, bits: int) -> npt.NDArray[np.uint16]:
    """Return the bucket, 0..bits-1, of every slot of members, assigned by frequency in the sample.

    Slots are dealt out like cards, the most frequent first: one to each bucket, round after round. So all buckets have
    about equally many members, and frequent members, in which sets differ most often, rarely share a bucket.
    """
    counts = np.minimum(np.bincount(_slots_of(sample.values), minlength=1 << _SLOT_BITS), 0xFFFF)
    frequent_first = np.argsort((0xFFFF - counts).astype(np.uint16), kind="stable")  # 16 bits: a radix sort
    dealt = np.empty(1 << _SLOT_BITS, dtype=np.uint16)
    dealt[frequent_first] = np.arange(1 << _SLOT_BITS) % bits
    return dealt


def _slots_of(values: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[np.uint32]:
    """Return the slot of each member by a multiplicative hash (Knuth, TAOCP 6.4): the table of slots fits in the cache.

    Members of one slot share a bucket, which loses no pair.
    """
    return values.astype(np.uint32) * np.uint32(0x9E3779B1) >> np.uint32(32 - _SLOT_BITS)


def sketch(sets: Ragged, buckets: npt.NDArray[np.uint16], bits: int) -> Sketches:
    """Return the parity sketches of the sets; `bits` is a multiple of 64."""
    rows = len(sets.sizes)
    words = np.empty((bits // _WORD_BITS, rows), dtype=np.uint64)
    step = max(1, 100_000 // bits)  # rows per step, so that their counts stay in the processor's cache
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        values = sets.values[sets.offsets[start] : sets.offsets[stop]]
        places = np.repeat(np.arange(stop - start, dtype=np.int64) * bits, sets.sizes[start:stop])
        places += buckets.take(_slots_of(values))
        parity = np.bincount(places, minlength=(stop - start) * bits).astype(np.uint8) & 1
        words[:, start:stop] = np.packbits(parity.reshape(-1, bits), axis=1, bitorder="little").view(np.uint64).T
    return Sketches(words, sets.sizes)


def candidate_tiles(
    sketches: Sketches, reach: PairRange, threshold: float, distances: range | None = None
) -> Iterator[Pairs]:
    """Yield, in parts and in no order, the pairs in `reach`, left < right, whose sets may reach the threshold.

    No pair that reaches it is missing. Empty sets are in no pair. Given `distances` of position, only those at these;
    the smallest distance is at least 1, and the step is 1.
    """
    distances = distances or range(1, max(len(sketches.sizes), 2))
    halves = _halves(sketches, threshold)
    if reach.fresh is None or np.count_nonzero(reach.fresh) > _MANY_FRESH * len(halves):
        tiles = _diagonal_tiles(sketches.words, halves, reach, distances)
    else:
        tiles = _fresh_tiles(sketches.words, halves, reach, reach.fresh)
    for left, right in tiles:
        asked = reach.only(left, right)
        asked &= (right - left >= distances.start) & (right - left < distances.stop)
        yield left[asked], right[asked]


def may_reach(sketches: Sketches, left: IntArray, right: IntArray, threshold: float) -> Flags:
    """Return which of the pairs of sets may reach the threshold."""
    halves = _halves(sketches, threshold)
    passing = np.empty(len(left), dtype=np.bool_)
    for start in range(0, len(left), _TILE_SETS):
        one, other = left[start : start + _TILE_SETS], right[start : start + _TILE_SETS]
        differing = np.bitwise_count(sketches.words[:, one] ^ sketches.words[:, other]).sum(axis=0, dtype=np.int16)
        passing[start : start + _TILE_SETS] = differing <= halves[one] + halves[other]
    return passing


def _halves(sketches: Sketches, threshold: float) -> Bounds:
    """Return each set's part of the bound on a pair's distance, rounded up."""
    allowed = (1.0 - threshold) / (1.0 + threshold) + TOLERANCE
    # No distance exceeds the number of bits, so the part of a very large set is capped there.
    halves = np.minimum(np.ceil(allowed * sketches.sizes), _MOST_BITS).astype(np.int16)
    halves[sketches.sizes == 0] = _NEVER
    return halves


def _diagonal_tiles(words: Bits, halves: Bounds, reach: PairRange, distances: range) -> Iterator[Pairs]:
    """Yield the pairs that pass, tile by tile: a run of sets, each with the sets at some distances before it."""
    sets = len(halves)
    # Empty sets are put before the first one, so that each set of a run has equally many before it.
    words = np.concatenate([np.zeros((len(words), _TILE_SETS), dtype=np.uint64), words], axis=1)
    halves = np.concatenate([np.full(_TILE_SETS, _NEVER, dtype=np.int16), halves])
    before = np.arange(sets) - reach.earliest
    buffers = _buffers()
    for start in range(reach.first_row, sets, _TILE_SETS):
        run = before[start : start + _TILE_SETS]
        most = min(int(run.max()), distances.stop - 1)
        padded = slice(start + _TILE_SETS - most, start + _TILE_SETS + len(run))
        # Row k is the run shifted by k: the sets k positions earlier. Row 0 is the run itself.
        shifted_words = sliding_window_view(words[:, padded], len(run), axis=1)[:, ::-1]
        shifted_halves = sliding_window_view(halves[padded], len(run))[::-1]
        for shift in range(distances.start, most + 1, _TILE_SHIFTS):
            far = np.flatnonzero(run >= shift)
            part, shifts = slice(far[0], far[-1] + 1), slice(shift, shift + _TILE_SHIFTS)
            row, place = _passing(
                (shifted_words[:, :1, part], shifted_halves[:1, part]),
                (shifted_words[:, shifts, part], shifted_halves[shifts, part]),
                buffers,
            )
            right = place + (start + part.start)
            yield right - (row + shift), right


def _fresh_tiles(words: Bits, halves: Bounds, reach: PairRange, fresh: Flags) -> Iterator[Pairs]:
    """Yield the pairs that pass, tile by tile: some fresh sets, each with all others in the window around it."""
    positions = np.flatnonzero(fresh)
    buffers = _buffers()
    for top in range(0, len(positions), _TILE_SHIFTS):
        own = positions[top : top + _TILE_SHIFTS]
        # Before the first row, a fresh set can only be the earlier one of a pair.
        first = reach.first_row if own[-1] < reach.first_row else int(reach.earliest[own[0]])
        last = int(np.searchsorted(reach.earliest, own[-1], side="right"))
        for start in range(first, last, _TILE_SETS):
            others = slice(start, min(start + _TILE_SETS, last))
            row, place = _passing(
                (words[:, own, None], halves[own, None]), (words[:, None, others], halves[None, others]), buffers
            )
            one, other = own[row], place + start
            once = (one > other) | ~fresh[other]
            yield np.minimum(one, other)[once], np.maximum(one, other)[once]


def _buffers() -> Buffers:
    """Return the buffers for the steps of a tile, to be reused: the system would map and clear new ones each time."""
    pairs = _TILE_SETS * _TILE_SHIFTS
    return np.empty(pairs, np.uint64), np.empty(pairs, np.uint8), np.empty(pairs, np.uint8), np.empty(pairs, np.int16)


def _passing(one: tuple[Bits, Bounds], other: tuple[Bits, Bounds], buffers: Buffers) -> Pairs:
    """Return the positions in a tile, rows and columns, at which the distance of the sketches is within the bound.

    Each side is its words, broadcastable to (words, rows, columns), and its halves, to (rows, columns).
    """
    bounds = one[1] + other[1]
    tile = slice(bounds.size)
    differing, count, some, distance = (buffer[tile].reshape(bounds.shape) for buffer in buffers)
    distance.fill(0)
    for word, (mine, yours) in enumerate(zip(one[0], other[0], strict=True), start=1):
        np.bitwise_xor(mine, yours, out=differing)
        if word % _WORDS_IN_A_BYTE == 1:
            np.bitwise_count(differing, out=some)
        else:
            np.bitwise_count(differing, out=count)
            np.add(some, count, out=some)
        if word % _WORDS_IN_A_BYTE == 0 or word == len(one[0]):
            np.add(distance, some, out=distance)
    row, place = np.divmod(np.flatnonzero(distance <= bounds), bounds.shape[1])
    return row, place


def jaccard(sets: Ragged, left: IntArray, right: IntArray, universe: int) -> npt.NDArray[np.float64]:
    """Return the exact Jaccard similarity of each pair of sets; `left` is ascending, equal ones are scored together."""
    shared = np.zeros(len(left), dtype=np.int64)
    present = np.zeros(universe, dtype=np.bool_)
    offsets, others = sets.offsets.tolist(), right.tolist()
    starts = np.flatnonzero(np.diff(left, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, len(left)]):
        one = int(left[start])
        members = sets.values[offsets[one] : offsets[one + 1]]
        present[members] = True
        for position in range(start, stop):
            other = others[position]
            shared[position] = np.count_nonzero(present.take(sets.values[offsets[other] : offsets[other + 1]]))
        present[members] = False
    union = sets.sizes[left] + sets.sizes[right] - shared
    return np.divide(shared, union, out=np.zeros(len(left)), where=union > 0)

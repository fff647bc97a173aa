"""Pairs of texts that share members of their sets, by an inverted index: for each member, the texts that have it.

A text that holds much of another is found by the shingles that few texts have. Counting only these leaves out
boilerplate and forms, and bounds the work: a shingle of n texts makes n(n - 1)/2 pairs.
Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels.parity_join import TOLERANCE, DayRange
from dedup.detection.kernels.tokens import Flags, IntArray, Ragged, begins_in, concatenated, distinct, divided, ranges

# Pairs of equal members per step, to bound memory.
_PAIRED_AT_ONCE = 2_000_000
HASHES = 1 << 32
# Shingles per step, of eight bytes, to bound memory; per part in which they are first put in order; and per range of
# hashes, few enough to stay in the processor's cache.
_AT_ONCE = 32_000_000
_PART = 1_000_000
_RANGE = 200_000

_WIDTH = np.uint64(32)

Keys = npt.NDArray[np.uint64]


class Postings(NamedTuple):
    """Members that several texts have, ordered by member and text: the text, and how many later texts have the same."""

    owners: npt.NDArray[np.signedinteger[Any]]
    followers: npt.NDArray[np.signedinteger[Any]]


class SharedMembers(NamedTuple):
    """Two texts that share a member, once for each: the places of both in the postings, ordered by pair of texts.

    Pair i, of the texts left[i] < right[i], has the places from starts[i] on.
    """

    one: IntArray
    other: IntArray
    starts: IntArray
    left: IntArray
    right: IntArray

    @property
    def counts(self) -> IntArray:
        """Return how many members each pair shares."""
        return np.diff(np.append(self.starts, len(self.one)))


class ScoredPairs(NamedTuple):
    """Pairs of texts by their positions, left < right, ordered: some of all that share members.

    For each pair, its score in 0..1, the number of members that it shares, and of how many. `candidates` counts the
    pairs that share any. `sizes`, of contained texts alone: how many uncommon members both have, shape (2, pairs).
    """

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]
    shared: IntArray
    members: IntArray
    candidates: int
    sizes: IntArray | None = None

    def reaching(self, threshold: float) -> "ScoredPairs":
        """Return the pairs with at least this score, except for TOLERANCE."""
        kept = self.scores >= threshold - TOLERANCE
        ends, sizes = (self.left[kept], self.right[kept]), None if self.sizes is None else self.sizes[:, kept]
        return ScoredPairs(*ends, self.scores[kept], self.shared[kept], self.members[kept], self.candidates, sizes)


def shared_members(
    postings: Postings, days: IntArray, *, day_window: int, sides: IntArray | None = None
) -> Iterator[SharedMembers]:
    """Yield, in parts, what pairs of texts share that are at most `day_window` days apart, ordered by pair.

    `days` are day numbers, ascending, one per text. All that a pair shares is in one part. With `sides`, a number for
    each text, pairs of one side are left out.
    """
    for rows in _parts(postings, days):
        one, other, keys = _shared_in(postings, days, rows, day_window, sides)
        order = np.argsort(keys, kind="stable")
        starts, left, right = _pairs(keys[order], len(days))
        yield SharedMembers(one[order], other[order], starts, left, right)


def shared_counts(
    postings: Postings, days: IntArray, *, day_window: int, sides: IntArray | None = None
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield, in parts, the pairs of shared_members, left and right, and how many members each shares.

    Several times faster.
    """
    for rows in _parts(postings, days):
        *_, keys = _shared_in(postings, days, rows, day_window, sides)
        keys.sort()
        starts, left, right = _pairs(keys, len(days))
        yield left, right, np.diff(np.append(starts, len(keys)))


def _parts(postings: Postings, days: IntArray) -> Iterator[slice]:
    """Yield the texts in parts that are the earlier ones of about _PAIRED_AT_ONCE pairs of equal members."""
    work = np.bincount(postings.owners, weights=postings.followers, minlength=len(days))
    ends = np.searchsorted(np.cumsum(work), np.arange(_PAIRED_AT_ONCE, work.sum(), _PAIRED_AT_ONCE), side="right")
    for start, stop in pairwise([0, *distinct(ends).tolist(), len(days)]):
        yield slice(start, stop)


def _shared_in(
    postings: Postings, days: IntArray, rows: slice, day_window: int, sides: IntArray | None
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the places of equal members of the pairs whose earlier text is in `rows`, and a number for each pair."""
    owners, followers = postings
    first = np.flatnonzero((owners >= rows.start) & (owners < rows.stop) & (followers > 0))
    one, other = np.repeat(first, followers[first]), ranges(first + 1, followers[first])
    near = days[owners[other]] - days[owners[one]] <= day_window
    if sides is not None:
        near &= sides[owners[other]] != sides[owners[one]]
    one, other = one[near], other[near]
    return one, other, owners[one].astype(np.int64) * len(days) + owners[other]


def _pairs(keys: IntArray, texts: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return where each pair begins among the numbers of pairs, which are ascending, and its two texts."""
    starts = np.flatnonzero(begins_in(keys))
    left, right = np.divmod(keys[starts], texts) if len(starts) else (starts, starts)
    return starts, left, right


# ---- containment -----------------------------------------------------------------------------------


def contained_texts(
    sets: Ragged,
    asked: DayRange,
    *,
    most_texts: int,
    minimum_shared: int,
    common: npt.NDArray[np.uint32] | None = None,
    sides: IntArray | None = None,
) -> Iterator[ScoredPairs]:
    """Yield, in parts, the pairs of texts asked for that share at least `minimum_shared` uncommon shingles.

    A shingle is uncommon if it is none of `common`, ascending and distinct: what is common among more texts than these.
    Without them, it is uncommon if at most `most_texts` texts have it. The score is the share of the uncommon shingles
    of one text that the other has; of the two shares, the larger: that of the text with fewer, whose uncommon shingles
    are the `members`. Pairs of one of `sides` are left out. Memory: five bytes per shingle that several texts have, and
    a quarter of a gigabyte.
    """
    postings, sizes = _index(sets, asked, common, most_texts)
    for left, right, shared in shared_counts(postings, asked.days, day_window=asked.day_window, sides=sides):
        found = (shared >= minimum_shared) & (right >= asked.first_row)
        if asked.fresh is not None:
            found &= asked.fresh[left] | asked.fresh[right]
        ends = np.stack([left[found], right[found]])
        yield scored_pairs(ends, shared[found], sizes[ends])._replace(candidates=len(left))


def scored_pairs(ends: IntArray, shared: IntArray, sizes: IntArray) -> ScoredPairs:
    """Return pairs of texts with their scores; `ends` and `sizes` have shape (2, pairs)."""
    shorter = sizes.min(axis=0)
    return ScoredPairs(ends[0], ends[1], shared / shorter, shared, shorter, len(shared), sizes)


def _index(
    sets: Ragged, asked: DayRange, common: npt.NDArray[np.uint32] | None, most_texts: int
) -> tuple[Postings, IntArray]:
    """Return the uncommon shingles that several texts have, and for each text the number of its uncommon shingles."""
    sizes = sets.sizes
    none = np.empty(0, dtype=np.int32)
    parts = [Postings(none, none)]
    for keys in _by_hash(sets):
        halves = keys.astype("<u8", copy=False).view("<u4")
        hashes, owners = halves[1::2].astype(np.uint32), halves[::2].astype(np.int32)
        begins = np.append(begins_in(hashes), [True])
        if common is None:
            counts = np.diff(np.flatnonzero(begins))
            is_common = np.repeat(counts > most_texts, counts)
        else:
            is_common = _among(hashes, common)
        sizes -= np.bincount(owners[is_common], minlength=len(sizes))
        kept = ~(is_common | (begins[:-1] & begins[1:]))  # nor alone
        parts.append(_postings(owners.compress(kept), begins[:-1].compress(kept), asked))
    return concatenated(parts), sizes


def _by_hash(sets: Ragged) -> Iterator[Keys]:
    """Yield the members of all sets in ranges of hashes, each ordered: the hash, and in the lower half the set."""
    total = len(sets.values)
    steps = total // _AT_ONCE + 1
    ranges_a_step = total // steps // _RANGE + 1
    bounds = np.array(
        [HASHES * place // (steps * ranges_a_step) for place in range(steps * ranges_a_step + 1)], dtype=np.uint64
    )
    for step in range(steps):
        yield from _ordered(sets, bounds[step * ranges_a_step : (step + 1) * ranges_a_step + 1])


def _ordered(sets: Ragged, bounds: Keys) -> Iterator[Keys]:
    """Yield the members between each two bounds. Part by part they are sorted and divided, then range by range."""
    ends = np.arange(_PART, len(sets.values), _PART)
    starts = [0, *distinct(np.searchsorted(sets.offsets, ends)).tolist(), len(sets.sizes)]
    parts = (_keys(sets, first, last, bounds) for first, last in pairwise(starts))
    for keys in divided(parts, bounds[1:-1] << _WIDTH):
        keys.sort()
        yield keys


def _keys(sets: Ragged, first: int, last: int, bounds: Keys) -> Keys:
    """Return the members within the bounds of the sets at the positions from `first` to before `last`, ordered."""
    hashes = sets.values[sets.offsets[first] : sets.offsets[last]]
    texts = np.repeat(np.arange(first, last, dtype=np.uint64), sets.sizes[first:last])
    if bounds[-1] - bounds[0] < HASHES:
        chosen = (hashes >= bounds[0]) & (hashes < bounds[-1])
        hashes, texts = hashes.compress(chosen), texts.compress(chosen)
    # One key for both, because numbers are sorted ten times faster than places.
    keys = hashes.astype(np.uint64)
    keys <<= _WIDTH
    keys |= texts
    keys.sort()
    return keys


def _among(hashes: npt.NDArray[np.uint32], known: npt.NDArray[np.uint32]) -> Flags:
    """Return which of the hashes, ascending, are among the known ones, ascending and distinct."""
    among = np.zeros(len(hashes), dtype=np.bool_)
    if len(hashes):
        known = known[np.searchsorted(known, hashes[0]) : np.searchsorted(known, hashes[-1], side="right")]
        firsts = np.searchsorted(hashes, known)
        among[ranges(firsts, np.searchsorted(hashes, known, side="right") - firsts)] = True
    return among


def _postings(owners: npt.NDArray[np.int32], begins: Flags, asked: DayRange) -> Postings:
    """Return the texts of each hash, which begins where it is said, without those of which no pair is asked for."""
    begins = np.append(begins, [True])
    begins[1:-1] |= np.diff(asked.days.take(owners)) > asked.day_window  # no pair reaches over such a gap
    ends = np.flatnonzero(begins)
    counts = np.diff(ends)
    wanted = (counts > 1) & (owners[ends[1:] - 1] >= asked.first_row)
    if asked.fresh is not None and len(owners):
        wanted &= np.logical_or.reduceat(asked.fresh[owners], ends[:-1])
    kept = owners.compress(np.repeat(wanted, counts))
    counts = counts[wanted]
    followers = np.repeat(np.cumsum(counts), counts) - np.arange(1, len(kept) + 1)
    return Postings(kept, followers.astype(np.int32))


# ---- the same once more shingles have become common ------------------------------------------------------------------

# A pair as it is stored: the ids of two articles, how many uncommon shingles they share, and how many each has.
KEPT_PAIR = np.dtype([("ends", "<i8", (2,)), ("shared", "<u4"), ("sizes", "<u4", (2,))])


class CountedShingles(NamedTuple):
    """Shingles that many texts have, ascending and distinct, how many have each, and how many texts were counted."""

    hashes: npt.NDArray[np.uint32]
    counts: IntArray
    texts: IntArray

    def above(self, most: int) -> npt.NDArray[np.uint32]:
        """Return those that more texts have."""
        return self.hashes[self.counts > most]


def kept_pairs(pairs: ScoredPairs, ids: IntArray) -> npt.NDArray[Any]:
    """Return pairs of contained texts as they are stored; `ids` are those of the texts."""
    kept = np.empty(len(pairs.left), dtype=KEPT_PAIR)
    kept["ends"], kept["shared"] = ids[np.stack([pairs.left, pairs.right], axis=1)], pairs.shared
    kept["sizes"] = cast("IntArray", pairs.sizes).T
    return kept


def without(kept: npt.NDArray[Any], ids: IntArray, hashes: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
    """Return pairs as they are once texts have lost shingles: text ids[i] hashes[i], ordered by both."""
    texts, starts = np.unique(ids, return_index=True)
    lost = Ragged(hashes, np.append(starts, [len(ids)] * 2))  # the last one is of texts that have lost nothing
    places = np.searchsorted(texts, kept["ends"])
    places[np.append(texts, -1)[places] != kept["ends"]] = len(texts)
    numbers = np.arange(len(kept), dtype=np.uint64) << _WIDTH
    of_left, of_right = (
        np.repeat(numbers, lost.sizes[own]) | lost.at(own).values.astype(np.uint64) for own in places.T
    )
    both = np.intersect1d(of_left, of_right, assume_unique=True) >> _WIDTH
    left = kept.copy()
    left["shared"] -= np.bincount(both.astype(np.int64), minlength=len(kept)).astype(np.uint32)
    left["sizes"] -= lost.sizes[places].astype(np.uint32)
    return left

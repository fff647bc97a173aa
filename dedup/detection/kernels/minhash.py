"""MinHash signatures and their bands (LSH): candidate pairs of sets without comparing every pair, at any distance.

Each member is hashed once, the hashes fall into `slots` ranges, and the smallest hash of a range is its slot's
minimum; k permutations would hash each member k times (one-permutation hashing: Li, Owen and Zhang, NIPS
2012). For empty slots, the members are distributed again, and again (fast similarity sketching: Dahlgaard,
Knudsen and Thorup, FOCS 2017). So the probability that two sets agree in a slot is their Jaccard similarity, even
if they have fewer members than slots, and no slot copies another.

One byte of each minimum is kept (b-bit minwise hashing: Li and König, WWW 2010): unequal minima agree once in 256
times, which adds candidates and loses none.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from math import floor, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels.tokens import ODD, Flags, IntArray, Ragged, distinct, ranges

Signatures = npt.NDArray[np.uint8]
Minima = npt.NDArray[np.uint32]
Packed = npt.NDArray[np.uint64]

_EMPTY = np.uint32(0xFFFFFFFF)
# Rounds in which members are distributed over all slots, before each slot that is still empty hashes all members.
_TURNS = 8
# A pair at the threshold agrees in this many standard deviations too few slots less than once in a million times.
_DEVIATIONS = 5.0
# Pairs in memory at a time, counted once per shared band, and pairs whose signatures are compared in one step.
_PAIRS_AT_ONCE = 4_000_000
_COMPARED_AT_ONCE = 4_000
# Members for which numpy takes less than half a second: as long as loading what is compiled.
_FEW = 3_000_000
# All that this process has signed.
_members = 0


def signatures(shingles: Ragged, slots: int) -> Signatures:
    """Return a byte of the minimum of each slot of each set, shape (sets, slots); those of empty sets are undefined.

    Members may repeat and need not be well distributed. `slots` is a power of two. If the extra `fast` is installed,
    compiled code does the work, unless there is too little to make up for loading it.
    """
    global _members  # noqa: PLW0603 - it counts what all calls have to do
    _members += len(shingles.values)
    compiled = _compiled() if _members > _FEW else None
    if compiled is None:
        return numpy_signatures(shingles, slots)
    signed = np.empty((len(shingles.offsets) - 1, slots), dtype=np.uint8)
    if len(signed):
        compiled.sign(shingles.values, shingles.offsets, _TURNS, signed)
    return signed


@cache
def _compiled() -> Any:
    """Return the compiled kernel; None if numba is missing, or has no place to keep what it compiles."""
    try:
        from dedup.detection.kernels import minhash_compiled  # noqa: PLC0415 - takes half a second, so only if it is used
    except (ImportError, RuntimeError):
        return None
    return minhash_compiled


def numpy_signatures(shingles: Ragged, slots: int) -> Signatures:
    """Return what `signatures` does, without compiled code."""
    members, sizes = shingles.values, shingles.sizes
    minima = np.full((len(sizes), slots), _EMPTY, dtype=np.uint32)
    rows = np.arange(len(sizes))
    for turn in range(_TURNS):
        known = minima[rows]
        minima[rows] = np.where(known == _EMPTY, _dealt(members, sizes, slots, turn), known)
        lacking = (minima[rows] == _EMPTY).any(axis=1) & (sizes > 0)
        members, rows, sizes = members[np.repeat(lacking, sizes)], rows[lacking], sizes[lacking]
        if not len(rows):
            break
    row, slot = np.nonzero(minima[rows] == _EMPTY)
    if len(row):
        minima[rows[row], slot] = _chosen(members, sizes, row, slot)
    return minima.astype(np.uint8)


def _dealt(members: Minima, sizes: IntArray, slots: int, turn: int) -> Minima:
    """Return the minimum of every slot; the high bits of a member's hash select its slot."""
    hashed = _mix(members ^ np.uint32(turn * 0x9E3779B1 & 0xFFFFFFFF))
    places = (hashed >> np.uint32(32 - (slots.bit_length() - 1))).astype(np.intp)
    places += np.repeat(np.arange(len(sizes)) * slots, sizes)
    minima = np.full(len(sizes) * slots, _EMPTY, dtype=np.uint32)
    np.minimum.at(minima, places, hashed)
    return minima.reshape(-1, slots)


def _chosen(members: Minima, sizes: IntArray, rows: IntArray, slots: IntArray) -> Minima:
    """Return the minimum of all members of each row, hashed for each slot."""
    counts = sizes[rows]
    places = ranges((np.cumsum(sizes) - sizes)[rows], counts)
    salts = _mix((slots + _TURNS).astype(np.uint32) * np.uint32(0x9E3779B1))
    hashed = _mix(members[places] ^ np.repeat(salts, counts))
    return np.minimum.reduceat(hashed, np.cumsum(counts) - counts)


def rows_per_band(slots: int, threshold: float, recall: float) -> int:
    """Return the most rows per band with which a pair at the threshold meets in a band with probability `recall`.

    A pair of similarity s agrees in all r rows of a band with probability s^r, so it meets in one of
    slots/r bands with 1 - (1 - s^r)^(slots/r) (Leskovec, Rajaraman and Ullman, MMDS, 3.4.2).
    """
    for rows in range(slots, 1, -1):
        if 1.0 - (1.0 - threshold**rows) ** (slots // rows) >= recall:
            return rows
    return 1


def bands_of(slots: int, rows: int) -> IntArray:
    """Return the slots of each band, shape (bands, rows); no slot is in two bands.

    Each band contains a band of those with one row less. So a pair that meets in bands of many rows, at a high
    threshold, also meets in bands of fewer rows: candidates of a higher threshold are candidates of a lower one.
    """
    bands = np.arange(slots).reshape(-1, 1)
    for width in range(2, rows + 1):
        kept = bands[: slots // width]
        spare = np.setdiff1d(np.arange(slots), kept)
        bands = np.column_stack([kept, spare[: len(kept)]])
    return bands


def least_agreement(slots: int, threshold: float) -> int:
    """Return in how many slots all but one in a million pairs at the threshold agree at least; rises with it."""
    deviation = sqrt(threshold * (1.0 - threshold) / slots)
    return max(0, floor(slots * (threshold - _DEVIATIONS * deviation)))


class _Meetings(NamedTuple):
    """The pairs that meet in a band, by position: set lefts[i] meets the sets ordered[lower[i]:upper[i]]."""

    lefts: IntArray
    lower: IntArray
    upper: IntArray
    ordered: IntArray


def in_large_runs(signed: Signatures, bands: IntArray, most: int) -> Flags:
    """Return which sets agree in a band with more than `most` others."""
    large = np.zeros(len(signed), dtype=np.bool_)
    for band in bands:
        _, run, sizes = np.unique(keys_of(signed, band), return_inverse=True, return_counts=True)
        large |= sizes[run] > most + 1
    return large


def candidate_pairs(
    signed: Signatures,
    bands: IntArray,
    starts: IntArray,
    stops: IntArray,
    least: int,
    possible_hubs: Flags | None = None,
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the pairs of sets that agree in a band and in at least `least` slots, each once, ordered, in parts.

    For each pair, starts[left] <= right < stops[left], and left < right if starts[left] > left. Other pairs are never
    made, so memory is bounded even if thousands of sets are equal. Pairs of two `possible_hubs` are left out.
    """
    some = np.zeros(len(signed), dtype=np.bool_) if possible_hubs is None else possible_hubs
    meetings = [_meetings(signed, band, starts, np.where(some, 0, stops)) for band in bands]
    if some.any():
        meetings += [_meetings_of(np.flatnonzero(some), ~some, signed, band, starts, stops) for band in bands]
    for first, last in _blocks(meetings, len(signed)):
        found = distinct(np.concatenate([_pairs(meeting, first, last) for meeting in meetings]))
        left, right = found >> 32, found & 0xFFFFFFFF
        agreed = _agree(signed, left, right, least)
        yield left[agreed], right[agreed]


def _meetings(signed: Signatures, band: IntArray, starts: IntArray, stops: IntArray) -> _Meetings:
    width = np.uint64(len(signed).bit_length())
    keys = keys_of(signed, band) >> width << width
    packed = keys | np.arange(len(signed), dtype=np.uint64)
    packed.sort()
    alike = np.zeros(len(packed) + 1, dtype=np.bool_)
    np.equal(packed[1:] >> width, packed[:-1] >> width, out=alike[1:-1])
    packed = packed[alike[1:] | alike[:-1]]  # only sets that share their key
    key = packed >> width << width
    ordered = (packed ^ key).astype(np.int64)
    lower = np.searchsorted(packed, key | starts[ordered].astype(np.uint64))
    upper = np.searchsorted(packed, key | stops[ordered].astype(np.uint64))
    meets = lower < upper
    return _Meetings(ordered[meets], lower[meets], upper[meets], ordered)


def _meetings_of(
    lefts: IntArray, others: Flags, signed: Signatures, band: IntArray, starts: IntArray, stops: IntArray
) -> _Meetings:
    """Return the pairs of a band whose left set is one of `lefts` and whose right set is one of `others`."""
    width = np.uint64(len(signed).bit_length())
    keys = keys_of(signed, band) >> width << width
    ordered = np.flatnonzero(others)
    packed = np.sort(keys[ordered] | ordered.astype(np.uint64))
    lower = np.searchsorted(packed, keys[lefts] | starts[lefts].astype(np.uint64))
    upper = np.searchsorted(packed, keys[lefts] | stops[lefts].astype(np.uint64))
    meets = lower < upper
    return _Meetings(lefts[meets], lower[meets], upper[meets], (packed & ~(~np.uint64(0) << width)).astype(np.int64))


def keys_of(signed: Signatures, band: IntArray, number: int = 0) -> Packed:
    """Return 64 mixed bits (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014) of the band's bytes.

    With its `number`, they are not those of another band.
    """
    keys = np.full(len(signed), number, dtype=np.uint64)
    for slot in band:
        keys = (keys ^ signed[:, slot]) * ODD
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _blocks(meetings: Sequence[_Meetings], count: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of left sets that have about _PAIRS_AT_ONCE pairs each."""
    load = np.zeros(count, dtype=np.int64)
    for meeting in meetings:
        load[meeting.lefts] += meeting.upper - meeting.lower
    total = np.cumsum(load)
    first = 0
    while first < count and total[-1] > (before := total[first] - load[first]):
        last = max(first + 1, int(np.searchsorted(total, before + _PAIRS_AT_ONCE, side="right")))
        yield first, last
        first = last


def _pairs(meetings: _Meetings, first: int, last: int) -> IntArray:
    """Return the pairs whose left set is in the range, packed in 64 bits."""
    inside = (first <= meetings.lefts) & (meetings.lefts < last)
    lower = meetings.lower[inside]
    counts = meetings.upper[inside] - lower
    return np.repeat(meetings.lefts[inside] << 32, counts) | meetings.ordered[ranges(lower, counts)]


def _agree(signed: Signatures, left: IntArray, right: IntArray, least: int) -> Flags:
    agreed = np.zeros(len(left), dtype=np.bool_)
    for start in range(0, len(left), _COMPARED_AT_ONCE):
        chosen = slice(start, start + _COMPARED_AT_ONCE)
        agreed[chosen] = np.count_nonzero(signed[left[chosen]] == signed[right[chosen]], axis=1) >= least
    return agreed


def _mix(hashes: Minima) -> Minima:
    """Return the hashes well mixed (the finaliser of MurmurHash3: Appleby, 2011)."""
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed *= np.uint32(0x85EBCA6B)
    mixed ^= mixed >> np.uint32(13)
    mixed *= np.uint32(0xC2B2AE35)
    mixed ^= mixed >> np.uint32(16)
    return mixed

"""Pairs of texts that share members of their sets, by an inverted index: for each member, the texts that have it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels.tokens import IntArray, begins_in, distinct, ranges

# Pairs of equal members per step, to bound memory.
_PAIRED_AT_ONCE = 2_000_000


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
    pairs that share any.
    """

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]
    shared: IntArray
    members: IntArray
    candidates: int


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

"""The exact set-similarity join of parity_join.py for inputs with dense groups: sets with very many neighbours.

n sets that are all near each other are n(n-1)/2 pairs, which say no more than some n of them. Here a set is a hub, by
the day of a pair's later set, if it has more than `dense_from` neighbours up to that day: sets that reach the threshold
with it. Every pair with a set that is not a hub is returned. Of the pairs of two hubs, those are returned that the
group needs:

- sets with equal members: each only with the first of them;
- of the others, the `kept_pairs` most similar ones of each set, and a maximum spanning forest, which connects the group
  as all its pairs would, at every similarity.

To find these without comparing all, a hub is compared with those around it and with those next to it when the
sets are sorted by the minima of their hashes (the sorted neighbourhood of Hernández and Stolfo, SIGMOD 1995, in the
orders of an LSH forest: Bawa, Condie and Ganesan, WWW 2005). So the most similar ones of a large group are the most
similar ones compared: more similar ones are missed rarely, equal ones never.

The result depends on the days of the window alone, not on where a block of days begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels import minhash
from dedup.detection.kernels.disjoint_sets import DisjointSets
from dedup.detection.kernels.parity_join import (
    TOLERANCE,
    DayRange,
    PairRange,
    Pairs,
    SimilarPairs,
    candidate_tiles,
    jaccard,
    may_reach,
    sketched,
)
from dedup.detection.kernels.tokens import Flags, IntArray, Ragged, concatenated, distinct

# Candidates compared in one step; sets that have enough neighbours by then are not compared with each other further.
_COMPARED_AT_ONCE = 100_000
# The distances of the first step; each step doubles them.
_FIRST_DISTANCES = 64
# The orders of the forest, the minima that make the key of each, and how far apart in an order sets are compared.
_ORDERS, _KEY_BYTES, _NEXT = 8, 8, 2
# Candidates are thinned by sketches of this many times the bits before they are compared exactly.
_FINER = 8
# If less than this share of the sets is left to compare, it is faster to compare them with all others at once.
_FEW = 0.25

Scores = npt.NDArray[np.float64]


class Density(NamedTuple):
    """When a set is a hub, and how many pairs it then keeps with other hubs."""

    dense_from: int
    kept_pairs: int


class _Edges(NamedTuple):
    """Pairs of positions, left < right, with their similarity."""

    left: IntArray
    right: IntArray
    scores: Scores

    def only(self, wanted: Flags | IntArray) -> _Edges:
        return _Edges(self.left[wanted], self.right[wanted], self.scores[wanted])


def similar_pairs(
    sets: Ragged, asked: DayRange, *, threshold: float, universe: int, density: Density, names: IntArray | None = None
) -> SimilarPairs:
    """Return what parity_join.similar_pairs does, without the pairs that dense groups do not need.

    If there is a fresh set, all pairs of two hubs are returned: which of them a group keeps depends on it. The
    sets begin twice the window's days before that of `first_row`: whether an earlier set is a hub depends on those
    before it. `names` has a lasting number for each member, if its own depends on the other sets.
    """
    named = sets.values if names is None else names[sets.values]
    join = _Join(sets, named, asked, threshold, universe, density)
    if asked.first_row < len(asked.days):
        begin = int(asked.earliest[asked.first_row])
        starts = np.flatnonzero(np.diff(asked.days[begin:], prepend=asked.days[begin] - 1)) + begin
        for start, stop in pairwise([*starts.tolist(), len(asked.days)]):
            join.add_day(start, stop)
    return join.result(asked)


_NO_PAIRS: Pairs = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
_NO_EDGES = _Edges(*_NO_PAIRS, np.empty(0, dtype=np.float64))


class _Join:
    """The join, one day after the other: the pairs of a day are those whose later set is of it."""

    def __init__(
        self, sets: Ragged, named: IntArray, asked: DayRange, threshold: float, universe: int, density: Density
    ) -> None:
        self._sets, self._named = sets, named
        self._threshold, self._universe, self._density = threshold, universe, density
        self._earliest = asked.earliest
        self._finer = sketched(sets, threshold, finer=_FINER)
        self._neighbours = np.zeros(len(asked.days), dtype=np.int64)
        # A candidate of each set that was left out on the day, because both are hubs.
        self._left_out = np.full(len(asked.days), -1)
        self._noted = np.zeros(len(asked.days), dtype=np.int64)
        self._digests: dict[int, bytes] = {}
        # By the first position of the day: the pairs kept, and the near pairs compared on the days of the window.
        self._kept: list[tuple[int, _Edges]] = []
        self._compared: list[tuple[int, _Edges]] = []
        self._candidates = 0

    def add_day(self, start: int, stop: int) -> None:
        """Find the pairs whose later set is at one of the positions from `start` to before `stop`, which are a day."""
        first = int(self._earliest[start])
        self._compared = [(day, edges) for day, edges in self._compared if day >= first]
        self._left_out[:] = -1
        found = self._near_pairs(first, start, stop)
        self._compared.append((start, found))
        inside = self._are_hubs(found.left) & self._are_hubs(found.right)
        kept = found.only(~inside)
        if inside.any():
            found = found.only(inside)
            concerned = distinct(np.concatenate([found.left, found.right]))
            self._noted[concerned] = self._neighbours[concerned]
            members = np.flatnonzero(self._are_hubs(np.arange(first, stop))) + first
            first_equal: dict[bytes, int] = {}
            leaders = [first_equal.setdefault(self._digest(member), member) for member in members.tolist()]
            group = _Members(members, np.array(leaders, dtype=np.int64))
            kept = concatenated([kept, *self._needed(group, start, found)])
        self._kept.append((start, kept))

    def result(self, asked: DayRange) -> SimilarPairs:
        """Return the pairs asked for, and all of two hubs: fresh sets decide which of them a group keeps."""
        kept = concatenated([_NO_EDGES, *(edges for start, edges in self._kept if start >= asked.first_row)])
        hubs = np.flatnonzero(self._noted)
        if asked.fresh is not None:
            fresh, noted = asked.fresh, self._noted > 0
            kept = kept.only(fresh[kept.left] | fresh[kept.right] | (noted[kept.left] & noted[kept.right]))
        kept = kept.only(np.lexsort((kept.right, kept.left)))
        return SimilarPairs(*kept, self._candidates, hubs, self._noted[hubs])

    def _are_hubs(self, positions: IntArray) -> Flags:
        """Return which of the sets have more than enough neighbours among those compared so far."""
        return self._neighbours[positions] > self._density.dense_from

    def _near_pairs(self, first: int, start: int, stop: int) -> _Edges:
        """Return the near pairs of a day, except some of two hubs; count the neighbours of each set."""
        parts, waiting, pairs = [_NO_EDGES], [_NO_PAIRS], 0
        for left, right in self._candidates_of(first, start, stop):
            waiting.append(self._open(left, right))
            pairs += len(waiting[-1][0])
            if pairs > _COMPARED_AT_ONCE:
                parts.append(self._counted(waiting))
                waiting, pairs = [_NO_PAIRS], 0
        parts.append(self._counted(waiting))
        # A hub may have been compared with others alone: one candidate shows that it is in a group.
        one = np.flatnonzero(self._left_out >= 0)
        pairs_left = np.sort(np.stack([one, self._left_out[one]]), axis=0)
        parts.append(self._scored(*pairs_left))
        return _distinct(concatenated(parts))

    def _candidates_of(self, first: int, start: int, stop: int) -> Iterator[Pairs]:
        """Yield the candidates of a day, those at the closest positions first, until all of its window are hubs."""
        # Sketches of this window alone: the steps, and so the result, must not depend on other days.
        sketches = sketched(self._sets.part(first, stop), self._threshold)
        nearest, farthest = 1, 1 + _FIRST_DISTANCES
        while nearest < stop - first:
            open_ = ~self._are_hubs(np.arange(first, stop))
            if not open_.any():
                return
            if few := np.count_nonzero(open_) < _FEW * len(open_):
                farthest = stop - first
            reach = PairRange(np.zeros(stop - first, dtype=np.int64), start - first, open_ if few else None)
            for left, right in candidate_tiles(sketches, reach, self._threshold, range(nearest, farthest)):
                yield left + first, right + first
            nearest, farthest = farthest, 2 * farthest

    def _open(self, left: IntArray, right: IntArray) -> Pairs:
        """Return the pairs of which a set is not yet known to be a hub."""
        wanted = ~(self._are_hubs(left) & self._are_hubs(right))
        if not wanted.all():
            one, other = left[~wanted], right[~wanted]
            self._left_out[one], self._left_out[other] = other, one
        return left[wanted], right[wanted]

    def _counted(self, parts: list[Pairs]) -> _Edges:
        found = self._scored(*self._open(*(np.concatenate(side) for side in zip(*parts, strict=True))))
        self._neighbours += np.bincount(np.concatenate([found.left, found.right]), minlength=len(self._neighbours))
        return found

    def _scored(self, left: IntArray, right: IntArray) -> _Edges:
        """Return the pairs that reach the threshold, with their similarity."""
        may = may_reach(self._finer, left, right, self._threshold)
        left, right = left[may], right[may]
        order = np.lexsort((right, left))
        left, right = left[order], right[order]
        self._candidates += len(left)
        scores = jaccard(self._sets, left, right, self._universe)
        return _Edges(left, right, scores).only(scores >= self._threshold - TOLERANCE)

    def _digest(self, position: int) -> bytes:
        if position not in self._digests:
            begin, end = self._sets.offsets[position : position + 2]
            self._digests[position] = blake2b(self._sets.values[begin:end].tobytes(), digest_size=16).digest()
        return self._digests[position]

    def _needed(self, members: _Members, start: int, compared: _Edges) -> list[_Edges]:
        """Return the pairs of a day that its hubs keep; `compared` are near pairs of two of the members.

        What earlier days of the window connect needs no other connection: it was compared, so it is connected.
        """
        copies = members.all[(members.leaders != members.all) & (members.all >= start)]
        stars = _Edges(members.leader_of(copies), copies, np.ones(len(copies)))
        alike = self._alike_in_forest(distinct(members.leaders), start)
        known = concatenated([_NO_EDGES, *(edges for day, edges in self._compared if day < start)])
        known = known.only(np.isin(known.left, members.all) & np.isin(known.right, members.all))
        self._compared.append((start, alike))
        pool = _distinct(concatenated([members.led(compared), alike]))
        pool = pool.only(pool.right >= start)
        pool = pool.only(np.lexsort((pool.right, pool.left, -pool.scores)))
        wanted = _most_similar(pool, start, self._density.kept_pairs) | _spanning(pool, members.led(known))
        return [stars, pool.only(wanted)]

    def _alike_in_forest(self, positions: IntArray, start: int) -> _Edges:
        """Return near pairs of these sets with the later one at `start` or after it: those alike in the forest."""
        named = Ragged(self._named, self._sets.offsets).at(positions)
        signed = minhash.signatures(Ragged(named.values.astype(np.uint32), named.offsets), _ORDERS * _KEY_BYTES)
        keys = signed.view(f">u{_KEY_BYTES}")
        sides = [_NO_PAIRS]
        for order in range(_ORDERS):
            ordered = positions[np.argsort(keys[:, order], kind="stable")]
            sides += [(ordered[:-gap], ordered[gap:]) for gap in range(1, _NEXT + 1)]
        one, other = (np.concatenate(side) for side in zip(*sides, strict=True))
        left, right = np.minimum(one, other), np.maximum(one, other)
        packed = distinct((left << 32 | right)[right >= start])
        return self._scored(packed >> 32, packed & 0xFFFFFFFF)


class _Members(NamedTuple):
    """The hubs of a window, ascending, and the first one with equal members of each: its leader."""

    all: IntArray
    leaders: IntArray

    def leader_of(self, positions: IntArray) -> IntArray:
        return self.leaders[np.searchsorted(self.all, positions)]

    def led(self, edges: _Edges) -> _Edges:
        """Return the edges between the leaders of both ends, without those of one leader."""
        one, other = self.leader_of(edges.left), self.leader_of(edges.right)
        led = _Edges(np.minimum(one, other), np.maximum(one, other), edges.scores)
        return led.only(one != other)


def _distinct(edges: _Edges) -> _Edges:
    return edges.only(np.unique(edges.left << 32 | edges.right, return_index=True)[1])


def _most_similar(edges: _Edges, start: int, count: int) -> Flags:
    """Return which edges are among the first `count` of one of their sets from `start` on; the best edges are first."""
    ends = np.concatenate([edges.left, edges.right])
    ranks = np.tile(np.arange(len(edges.left)), 2)
    order = np.lexsort((ranks, ends))
    ends, ranks = ends[order], ranks[order]
    begins = np.flatnonzero(np.diff(ends, prepend=-1))
    place = np.arange(len(ends)) - np.repeat(begins, np.diff(begins, append=len(ends)))
    flags = np.zeros(len(edges.left), dtype=np.bool_)
    flags[ranks[(place < count) & (ends >= start)]] = True
    return flags


def _spanning(edges: _Edges, known: _Edges) -> Flags:
    """Return which edges are in a maximum spanning forest of all edges (Kruskal 1956); `known` ones win a draw."""
    every, sets = concatenated([known, edges]), DisjointSets()
    order = np.argsort(-every.scores, kind="stable")
    ends = zip(every.left[order].tolist(), every.right[order].tolist(), strict=True)
    flags = np.zeros(len(order), dtype=np.bool_)
    flags[order] = [sets.unite(*pair) for pair in ends]
    return flags[len(known.left) :]

"""MinHash signatures and their bands: candidate pairs of sets without looking at every pair, and without a window.

One-permutation hashing (Li, Owen and Zhang, NIPS 2012): every member is hashed once; the hashes fall into `slots`
ranges, and the smallest of each range is that slot's minimum, where k permutations would hash each member k
times. A slot without a member borrows the minimum of another one, chosen by hashing (optimal densification:
Shrivastava, ICML 2017), so that two sets agree in a slot with the probability of their Jaccard similarity
even where they have fewer members than slots.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dedup.shingles import HASH_BITS, IntArray, Ragged, distinct

Signatures = npt.NDArray[np.uint32]
# Tries at borrowing by hashing before the next slot that has a minimum is taken; a set of one member needs most.
_BORROWINGS = 64


def signatures(sets: Ragged, slots: int) -> Signatures:
    """Return the minimum of every slot of every set, shape (sets, slots); zeros for an empty set.

    The members are HASH_BITS wide and evenly spread. `slots` is a power of two.
    """
    shift = HASH_BITS - (slots.bit_length() - 1)
    rows = np.repeat(np.arange(len(sets.sizes), dtype=np.int64), sets.sizes)
    places = rows * slots + (sets.values >> shift)
    first = np.ones(len(places), dtype=np.bool_)  # members ascend: the first in a slot is its minimum
    np.not_equal(places[1:], places[:-1], out=first[1:])
    minima = np.zeros(len(sets.sizes) * slots, dtype=np.uint32)
    filled = np.zeros(len(sets.sizes) * slots, dtype=np.bool_)
    minima[places[first]] = (sets.values[first] & 0xFFFFFFFF).astype(np.uint32)
    filled[places[first]] = True
    shape = (len(sets.sizes), slots)
    return _densified(minima.reshape(shape), filled.reshape(shape), sets.sizes > 0)


def _densified(minima: Signatures, filled: npt.NDArray[np.bool_], occupied: npt.NDArray[np.bool_]) -> Signatures:
    """Return the signatures with empty slots borrowing from filled ones; sets without members stay as they are."""
    slots = minima.shape[1]
    rows, empty = np.nonzero(~filled & occupied[:, None])
    for attempt in range(1, _BORROWINGS + slots):
        if not len(rows):
            break
        if attempt <= _BORROWINGS:
            lender = (
                _mix(empty.astype(np.uint64) * np.uint64(_BORROWINGS) + np.uint64(attempt)) % np.uint64(slots)
            ).astype(np.int64)
        else:
            lender = (empty + attempt - _BORROWINGS) % slots
        lends = filled[rows, lender]
        minima[rows[lends], empty[lends]] = minima[rows[lends], lender[lends]]
        rows, empty = rows[~lends], empty[~lends]
    return minima


def rows_per_band(slots: int, threshold: float, recall: float) -> int:
    """Return the most rows a band may have for pairs at the threshold to meet in some band with this probability.

    A pair of similarity s agrees in all r rows of a band with probability s^r, so it meets in one of
    slots/r bands with 1 - (1 - s^r)^(slots/r) (Leskovec, Rajaraman and Ullman, MMDS, 3.4.2).
    """
    for rows in range(slots, 1, -1):
        if 1.0 - (1.0 - threshold**rows) ** (slots // rows) >= recall:
            return rows
    return 1


def band_keys(minima: Signatures, rows: int) -> npt.NDArray[np.uint32]:
    """Return a key for each band of each signature, shape (bands, sets): equal bands have equal keys."""
    bands = minima.shape[1] // rows
    keys: npt.NDArray[np.uint64] = np.zeros((len(minima), bands), dtype=np.uint64)
    for row in range(rows):
        keys = _mix(np.bitwise_xor(keys, minima[:, row : bands * rows : rows], dtype=np.uint64))
    return (keys >> np.uint64(32)).astype(np.uint32).T


def candidate_pairs(keys: npt.NDArray[np.uint32], occupied: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of sets that share the key of a band, each once, left < right, ordered.

    `occupied` are the positions of the sets that have members; the others are like nothing.
    """
    found = np.empty(0, dtype=np.int64)
    for band in keys:
        order = occupied[np.argsort(band[occupied], kind="stable")]
        found = distinct(np.concatenate([found, *_neighbours(band[order], order)]))
    return found >> 32, found & 0xFFFFFFFF


def _neighbours(ordered: npt.NDArray[np.uint32], positions: IntArray) -> list[IntArray]:
    """Return the pairs of positions whose keys, which are ordered, are equal, packed in 64 bits."""
    packed: list[IntArray] = []
    alike = np.arange(len(ordered) - 1)
    step = 1
    while len(alike):
        alike = alike[alike + step < len(ordered)]
        alike = alike[ordered[alike] == ordered[alike + step]]
        left, right = positions[alike], positions[alike + step]
        packed.append(np.minimum(left, right) << 32 | np.maximum(left, right))
        step += 1
    return packed


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return 64 well mixed bits (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))

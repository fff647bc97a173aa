"""The exact join over sets of hashes, by size classes: the ground truth for the minhash pass."""

from __future__ import annotations

import numpy as np

from dedup.detection.kernels.parity_join import TOLERANCE, Bits, PairRange, Pairs, Sketches, bits_for, candidate_pairs
from dedup.detection.kernels.tokens import IntArray, Ragged, Shingles

_WORD_BITS = 64
# The minimum width of a size class: narrower ones would make many small tiles. Few sets are the largest of a class.
_CLASS_WIDTH = 0.9
_USUAL_SIZE = 0.85
# Of texts with 10,000 shingles, one in a hundred has two with the same 32-bit hash, and one in 10^46 has 17 such
# collisions; of texts with 100,000 shingles, one in 10^13 has 17.
COLLISIONS = 16


def hash_sets(shingles: Shingles) -> Ragged:
    """Return the distinct 32-bit hashes of each text. Sorts the shingles in place, so use them first.

    Two shingles of a text may have the same hash, so a set may be smaller than that of the text's shingles, by at most
    COLLISIONS. Use it to find candidates (candidate_pairs_by_size), not to score them.
    """
    hashes = shingles.hashes.view(np.int32)
    if not len(hashes):
        return Ragged(hashes, np.zeros_like(shingles.offsets))
    for members in np.split(hashes, shingles.offsets[1:-1]):
        members.sort()
    first = np.ones(len(hashes), dtype=np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    begins = shingles.offsets[:-1]
    first[begins[begins < len(first)]] = True
    sizes = [int(np.count_nonzero(members)) for members in np.split(first, shingles.offsets[1:-1])]
    return Ragged(hashes.compress(first), np.cumsum([0, *sizes], dtype=np.int64))


def candidate_pairs_by_size(
    sketches: Sketches, days: IntArray, *, day_window: int, threshold: float, collisions: int = 0
) -> Pairs:
    """Return what `candidate_pairs` does, for pairs within the window of days; faster if sizes vary widely.

    No set is similar to one of less than `threshold` times its size. So sets are compared by size class, each class
    with itself and the next smaller one, and with as many bits as its sizes need: a sketch with fewer bits is the
    wide one, folded.

    Members may be hashes of the sets' true members, if no set loses more than `collisions` members to equal hashes.
    Then no pair of the true sets is lost. The hashes of A and B differ in at most as many members as A and B do,
    because each hash on one side only has a true member on that side only. And the bound, which rises with the
    sizes, is computed from sizes with the lost members added.
    """
    sizes = np.where(sketches.sizes > 0, sketches.sizes + collisions, 0)
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    largest = int(sizes.max(initial=0))
    while largest > 0:
        own = _next_class(largest, threshold, collisions)
        chosen = np.flatnonzero((sizes > _next_class(own, threshold, collisions)) & (sizes <= largest))
        words = _folded(sketches.words.take(chosen, axis=1), bits_for(threshold, _USUAL_SIZE * largest) // _WORD_BITS)
        earliest = np.searchsorted(days[chosen], days[chosen] - day_window).astype(np.int64)
        pairs = candidate_pairs(Sketches(words, sizes[chosen]), PairRange(earliest, 0), threshold)
        left, right = chosen[pairs[0]], chosen[pairs[1]]
        first = np.maximum(sizes[left], sizes[right]) > own  # pairs within the smaller class come with that class
        found.append((left[first], right[first]))
        largest = own
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order]


def foldable(bits: int) -> int:
    """Return a number of bits, at most an eighth more than `bits`, that can be halved until few are left."""
    least = 1 << max(0, (bits // _WORD_BITS // 8).bit_length() - 1)
    return -(-bits // (least * _WORD_BITS)) * least * _WORD_BITS


def _next_class(largest: int, threshold: float, collisions: int) -> int:
    """Return the upper bound of the next smaller class: no set above `largest` is similar to one up to this."""
    return max(0, int(min(threshold - TOLERANCE, _CLASS_WIDTH) * largest) - collisions)


def _folded(words: Bits, enough: int) -> Bits:
    """Return the sketches with their bits halved repeatedly while at least `enough` words remain."""
    while len(words) % 2 == 0 and len(words) // 2 >= enough:
        words = words[: len(words) // 2] ^ words[len(words) // 2 :]
    return words

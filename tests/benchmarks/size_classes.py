"""The exact join over sets of hashes, in classes of sizes: what the minhash pass is measured against."""

from __future__ import annotations

import numpy as np

from dedup.kernels.parity_join import TOLERANCE, Bits, PairRange, Pairs, Sketches, bits_for, candidate_pairs
from dedup.kernels.tokens import IntArray, Ragged, Shingles

_WORD_BITS = 64
# Classes of sizes are at least so wide: narrower ones would be many small tiles. Few sets of a class are its largest.
_CLASS_WIDTH = 0.9
_USUAL_SIZE = 0.85
# A text of 10,000 shingles shares a 32-bit hash between two of them in one of a hundred texts, 17 times in one of
# 10^46; one of 100,000 does so in one of 10^13.
COLLISIONS = 16


def hash_sets(shingles: Shingles) -> Ragged:
    """Return the distinct 32-bit hashes of each text. The shingles are sorted in place: use them before.

    Two shingles of a text may share a hash, so that a set is smaller than that of the text's shingles, by at most
    COLLISIONS. It serves to find candidates (candidate_pairs_by_size), not to score them.
    """
    hashes = shingles.hashes.view(np.int32)
    if not len(hashes):
        return Ragged(hashes, np.zeros_like(shingles.offsets))
    for each in np.split(hashes, shingles.offsets[1:-1]):
        each.sort()
    first = np.ones(len(hashes), dtype=np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
    begins = shingles.offsets[:-1]
    first[begins[begins < len(first)]] = True
    sizes = [int(np.count_nonzero(each)) for each in np.split(first, shingles.offsets[1:-1])]
    return Ragged(hashes.compress(first), np.cumsum([0, *sizes], dtype=np.int64))


def candidate_pairs_by_size(
    sketches: Sketches, days: IntArray, *, day_window: int, threshold: float, collisions: int = 0
) -> Pairs:
    """Return what `candidate_pairs` does, for the pairs within the window of days; faster where sizes differ much.

    A set is similar to none of less than `threshold` times its size. So sets are compared in classes of sizes, each
    with itself and the next smaller one, and with as many bits as its sizes want: the sketch of fewer
    bits is the wide one, folded.

    The members may be hashes of what the sets hold, if in no set more than `collisions` members are lost by sharing a
    hash. Then no pair of the sets themselves is lost: hashes of A and B differ in no more places than A and B do,
    because each hash on one side alone has a member there alone; and the bound, which rises with the
    sizes, is taken of sizes with the lost members put back.
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
        first = np.maximum(sizes[left], sizes[right]) > own  # those of the smaller class alone come with that class
        found.append((left[first], right[first]))
        largest = own
    left, right = (np.concatenate(side) for side in zip(*found, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order]


def foldable(bits: int) -> int:
    """Return at least so many bits, and at most an eighth more, that can be halved until few are left."""
    least = 1 << max(0, (bits // _WORD_BITS // 8).bit_length() - 1)
    return -(-bits // (least * _WORD_BITS)) * least * _WORD_BITS


def _next_class(largest: int, threshold: float, collisions: int) -> int:
    """Return a size, at least 0, below all that a set above the largest of a class may be similar to."""
    return max(0, int(min(threshold - TOLERANCE, _CLASS_WIDTH) * largest) - collisions)


def _folded(words: Bits, enough: int) -> Bits:
    """Return the sketches with half the bits, and half again, as long as there are enough words."""
    while len(words) % 2 == 0 and len(words) // 2 >= enough:
        words = words[: len(words) // 2] ^ words[len(words) // 2 :]
    return words

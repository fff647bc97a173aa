"""Pairs of texts of which one holds much of the other, by an inverted index of shingles that few texts have.

Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997. Counting only rare shingles leaves out
boilerplate and forms, and bounds the work: a shingle of n texts makes n(n - 1)/2 pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.kernels.inverted_index import Postings, shared_members
from dedup.kernels.masked_shingles import ShingleSets
from dedup.kernels.parity_join import TOLERANCE
from dedup.kernels.tokens import IntArray

# Shingles per step, to bound memory.
_SORTED_AT_ONCE = 4_000_000
_HASHES = 1 << 32
_LOW_BITS = np.uint64(_HASHES - 1)


class ContainedTexts(NamedTuple):
    """Pairs of texts by their positions, left < right, ordered.

    For each pair, its score in 0..1, the number of uncommon shingles that it shares, and that of the text with fewer.
    `candidates` counts the pairs that share any.
    """

    left: IntArray
    right: IntArray
    scores: npt.NDArray[np.float64]
    shared: IntArray
    shingles: IntArray
    candidates: int


def contained_texts(
    sets: ShingleSets,
    days: IntArray,
    *,
    first_row: int,
    day_window: int,
    most_texts: int,
    threshold: float,
    minimum_shared: int,
) -> Iterator[ContainedTexts]:
    """Yield, in parts, the pairs of texts within the window of days whose score reaches the threshold.

    `days` are day numbers, ascending, one per text. The later text of a pair is at position `first_row` or after it,
    the other at most `day_window` days before (inclusive). A shingle of at most `most_texts` texts is uncommon. The
    score is the share of the uncommon shingles of one text that the other has; of the two shares, the larger. Pairs
    that share fewer than `minimum_shared` are left out. Exact, except for TOLERANCE. Memory: twelve bytes per
    shingle, where a third of them are in several texts.
    """
    postings, sizes = _index(sets, most_texts)
    for part in shared_members(postings, days, day_window=day_window):
        shared, shorter = part.counts, np.minimum(sizes[part.left], sizes[part.right])
        scores = shared / shorter
        reached = (scores >= threshold - TOLERANCE) & (shared >= minimum_shared) & (part.right >= first_row)
        left, right = part.left[reached], part.right[reached]
        yield ContainedTexts(left, right, scores[reached], shared[reached], shorter[reached], len(reached))


def _index(sets: ShingleSets, most_texts: int) -> tuple[Postings, IntArray]:
    """Return the uncommon shingles that several texts have, and for each text the number of its uncommon shingles.

    One range of hashes at a time: all texts' shingles of that range are sorted together.
    """
    texts = np.repeat(np.arange(len(sets.sizes), dtype=np.uint32), sets.sizes)
    sizes = sets.sizes
    parts = [Postings(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))]
    steps = len(sets.values) // _SORTED_AT_ONCE + 1
    for step in range(steps):
        low, high = _HASHES * step // steps, _HASHES * (step + 1) // steps - 1
        chosen = (sets.values >= low) & (sets.values <= high)
        part, common = _postings(sets.values[chosen], texts[chosen], most_texts)
        parts.append(part)
        sizes -= np.bincount(common, minlength=len(sizes))
    return Postings(*map(np.concatenate, zip(*parts, strict=True))), sizes


def _postings(
    hashes: npt.NDArray[np.uint32], texts: npt.NDArray[np.uint32], most_texts: int
) -> tuple[Postings, npt.NDArray[np.int32]]:
    """Return the hashes of two to `most_texts` texts, and the texts of those of more, once for each."""
    keys = hashes.astype(np.uint64) << np.uint64(32) | texts  # one key each, because numbers sort ten times faster
    keys.sort()
    owners = (keys & _LOW_BITS).astype(np.int32)
    keys >>= np.uint64(32)
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(keys), 1), dtype=np.bool_), keys[1:] != keys[:-1]]))
    counts = np.diff(np.append(starts, len(keys)))
    of_each = np.repeat(counts, counts)
    kept = counts[(counts > 1) & (counts <= most_texts)]
    shared = owners[(of_each > 1) & (of_each <= most_texts)]
    followers = np.repeat(np.cumsum(kept), kept) - np.arange(1, len(shared) + 1)
    return Postings(shared, followers.astype(np.int32)), owners[of_each > most_texts]

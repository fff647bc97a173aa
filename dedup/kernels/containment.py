"""Pairs of texts of which one holds much of the other, by an inverted index of shingles that few texts have.

Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997. Counting only rare shingles leaves out
boilerplate and forms, and bounds the work: a shingle of n texts makes n(n - 1)/2 pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.kernels.inverted_index import Postings, shared_counts
from dedup.kernels.masked_shingles import Hashes, ShingleSets
from dedup.kernels.parity_join import TOLERANCE
from dedup.kernels.tokens import IntArray, distinct

# Shingles per step, to bound memory.
_SORTED_AT_ONCE = 4_000_000
HASHES = 1 << 32
_LOW_BITS = np.uint64(HASHES - 1)


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


def common_hashes(hashes: Hashes, most_texts: int) -> Hashes:
    """Return the hashes that occur more than `most_texts` times, ascending and distinct; `hashes` are sorted in place.

    Given the sets of all texts, these are the shingles that are not uncommon.
    """
    hashes.sort()
    return distinct(hashes[most_texts:][hashes[most_texts:] == hashes[: max(len(hashes) - most_texts, 0)]])


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
    that share fewer than `minimum_shared` are left out. Exact, except for TOLERANCE. Memory: eight bytes per
    shingle of news; fewer in an archive of many years, where what is far apart is soon left out.
    """
    postings, sizes = _index(sets, days, day_window=day_window, most_texts=most_texts)
    for part in shared_counts(postings, days, day_window=day_window):
        shared, shorter = part.counts, np.minimum(sizes[part.left], sizes[part.right])
        scores = shared / shorter
        reached = (scores >= threshold - TOLERANCE) & (shared >= minimum_shared) & (part.right >= first_row)
        left, right = part.left[reached], part.right[reached]
        yield ContainedTexts(left, right, scores[reached], shared[reached], shorter[reached], len(reached))


def _index(sets: ShingleSets, days: IntArray, *, day_window: int, most_texts: int) -> tuple[Postings, IntArray]:
    """Return the uncommon shingles that several texts have, and for each text the number of its uncommon shingles.

    One range of hashes at a time: all texts' shingles of that range are sorted together.
    """
    sizes = sets.sizes
    texts = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    parts = [Postings(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))]
    steps = len(sets.values) // _SORTED_AT_ONCE + 1
    for step in range(steps):
        low, high = HASHES * step // steps, HASHES * (step + 1) // steps - 1
        chosen = np.flatnonzero((sets.values >= low) & (sets.values <= high))
        owners, groups = _grouped(sets.values[chosen], texts[chosen])
        counts = np.diff(np.append(groups, len(owners)))
        counts = np.repeat(counts, counts)
        sizes -= np.bincount(owners[counts > most_texts], minlength=len(sizes))
        parts.append(_postings(owners, groups, (counts > 1) & (counts <= most_texts), days, day_window))
    return Postings(*map(np.concatenate, zip(*parts, strict=True))), sizes


def _grouped(hashes: Hashes, texts: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int32], IntArray]:
    """Return the texts ordered by hash and text, and where each hash begins."""
    # One key for both, because numbers are sorted ten times faster than places.
    keys = hashes.astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= texts
    keys.sort()
    owners = (keys & _LOW_BITS).astype(np.int32)
    keys >>= np.uint64(32)
    return owners, np.flatnonzero(np.concatenate([np.ones(min(len(keys), 1), dtype=np.bool_), keys[1:] != keys[:-1]]))


def _postings(
    owners: npt.NDArray[np.int32], groups: IntArray, wanted: npt.NDArray[np.bool_], days: IntArray, day_window: int
) -> Postings:
    """Return the texts of each wanted hash, without those that are far from all the others."""
    begins = np.zeros(len(owners), dtype=np.bool_)
    begins[groups] = True
    owners, begins = owners[wanted], begins[wanted]
    begins[1:] |= np.diff(days[owners]) > day_window  # no pair reaches over such a gap
    counts = np.diff(np.append(np.flatnonzero(begins), len(owners)))
    near = counts[counts > 1]
    kept = owners[np.repeat(counts > 1, counts)]
    followers = np.repeat(np.cumsum(near), near) - np.arange(1, len(kept) + 1)
    return Postings(kept, followers.astype(np.int32))

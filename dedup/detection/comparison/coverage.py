"""How much of one article's phrases another one has, apart from phrases that their newspapers print anyway. Pure.

A phrase is a masked word shingle (kernels/masked_shingles.py): four words, with all numbers equal. It needs no
capitals and no sentence ends, so it works in every script.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels.masked_shingles import Hashes


class Coverage(NamedTuple):
    """Shares of phrases in 0..1. A fresh phrase does not recur in the two newspapers.

    Shares of contained phrases are smoothed (Laplace): with few phrases, they stay near a half, which says nothing.
    The other shares are 0 where there are no phrases.
    """

    contained_smoothed: float  # of the shorter article's phrases: those that the longer one has
    shared: int  # phrases that both have
    recurring_part: float  # of the shorter's: those that recur
    recurring_share: float  # of the shared ones: those that recur
    fresh_contained: float  # of the shorter's fresh ones: those that the longer one has
    fresh_shared: int


def coverage(shorter: Hashes, longer: Hashes, recurs: npt.NDArray[np.bool_]) -> Coverage:
    """Return how much two ascending sets of phrases share, with and without those of the shorter one that recur."""
    shared = among(shorter, longer)
    both, recurring_both = int(np.count_nonzero(shared)), int(np.count_nonzero(shared & recurs))
    fresh_shared, fresh = both - recurring_both, len(shorter) - int(np.count_nonzero(recurs))
    return Coverage(
        contained_smoothed=_smoothed(both, len(shorter)),
        shared=both,
        recurring_part=1 - fresh / len(shorter) if len(shorter) else 0.0,
        recurring_share=recurring_both / both if both else 0.0,
        fresh_contained=_smoothed(fresh_shared, fresh),
        fresh_shared=fresh_shared,
    )


def among(some: Hashes, others: Hashes) -> npt.NDArray[np.bool_]:
    """Return which members of an ascending set are in another one."""
    if not len(others):
        return np.zeros(len(some), dtype=np.bool_)
    # Behind the last one, the last one is looked at, which is smaller.
    return others.take(others.searchsorted(some), mode="clip") == some


def _smoothed(part: int, whole: int) -> float:
    return (part + 1) / (whole + 2)

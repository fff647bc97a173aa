"""Precision, recall and F1 at every threshold of a score: what a pass would find with another lowest score. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dedup.research.metrics import COUNTED
from dedup.research.resampling import Estimate, Floats, estimates, ratio

_STEP = 0.05
# Scores are rounded when they are stored and read: 7/10 reaches the threshold 0.7.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold finds: the pairs called duplicates, and how right that is. None is a share of nothing."""

    threshold: float
    pairs: int
    precision: Estimate | None
    recall: Estimate | None
    f1: Estimate | None


def grid(lowest: float, *own: float) -> list[float]:
    """Return thresholds _STEP apart from the first one that is at least `lowest` up to 1, and those of one's own."""
    steps = range(int(np.ceil(round(lowest / _STEP, 6))), round(1 / _STEP) + 1)
    return sorted({*(round(step * _STEP, 2) for step in steps), *own})


def threshold_curve(
    labels: Sequence[str],
    weights: Sequence[float],
    scores: Sequence[float | None],
    thresholds: Sequence[float],
    *,
    counted: str = COUNTED,
) -> list[Point]:
    """Return precision, recall and F1 if every pair with at least this score is called a duplicate, for each threshold.

    A pair without a score is never called. Weighted; pairs whose label is not among those `counted` are left out. The
    intervals are those of metrics.score().
    """
    kept = [place for place, label in enumerate(labels) if label in counted]
    right = np.array([labels[place] == "D" for place in kept], dtype=np.bool_)
    amounts = np.array([weights[place] for place in kept], dtype=np.float64)
    known = np.array([_number(scores[place]) for place in kept], dtype=np.float64)
    calls = known >= np.asarray(thresholds, dtype=np.float64)[:, None] - _TOLERANCE
    parts = np.concatenate([right[None], calls, calls & right]) * amounts
    found = estimates(parts, _shares)
    count = len(thresholds)
    return [
        _point(threshold, calls[place], right, found[place], found[count + place], found[2 * count + place])
        for place, threshold in enumerate(thresholds)
    ]


def _number(score: float | None) -> float:
    return -1.0 if score is None else score


def _point(
    threshold: float,
    calls: npt.NDArray[np.bool_],
    right: npt.NDArray[np.bool_],
    precision: Estimate,
    recall: Estimate,
    f1: Estimate,
) -> Point:
    called, duplicates = int(calls.sum()), bool(right.any())
    return Point(
        threshold,
        called,
        precision if called else None,
        recall if duplicates else None,
        f1 if duplicates or called else None,
    )


def _shares(sums: Floats) -> Floats:
    """Return precision, recall and F1 of each threshold, from the sums: duplicates, then called, then both."""
    duplicates, (called, true) = sums[:1], np.split(sums[1:], 2)
    precision, recall = ratio(true, called), ratio(true, np.broadcast_to(duplicates, true.shape))
    return np.concatenate([precision, recall, ratio(2 * precision * recall, precision + recall)])

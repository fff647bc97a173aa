"""Whether probabilities are honest: of the pairs called 80% probable, 80% should be duplicates. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dedup.research.resampling import Estimate, Floats, estimates, ratio

# Ten bins of equal width, the last one with 1.0 (Guo and others, On calibration of modern neural networks, 2017).
EDGES = tuple(place / 10 for place in range(11))
_BINS = len(EDGES) - 1


@dataclass(frozen=True, slots=True)
class Bin:
    """The pairs with a probability of at least `low`, and below `high`. The means are None if there are none."""

    low: float
    high: float
    pairs: int
    weight: float
    probability: float | None
    duplicates: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The expected calibration error, the Brier score, and the reliability table behind them."""

    error: Estimate
    brier: Estimate
    bins: tuple[Bin, ...]


def calibration(probabilities: Sequence[float], answers: Sequence[bool], weights: Sequence[float]) -> Calibration:
    """Return how honest the probabilities of duplicates are; `answers` says which pairs are duplicates.

    The expected calibration error is the difference between the mean probability and the share of duplicates in a bin,
    averaged over the bins by their weight. The Brier score is the mean squared difference between probability (0..1)
    and answer (0 or 1). Both are 0 at best, and 0 if there are no pairs.
    """
    guesses = np.asarray(probabilities, dtype=np.float64)
    truths = np.asarray(answers, dtype=np.float64)
    amounts = np.asarray(weights, dtype=np.float64)
    inside = np.searchsorted(EDGES[1:-1], guesses, side="right") == np.arange(_BINS)[:, None]
    rows = [inside * amounts, inside * amounts * guesses, inside * amounts * truths]
    parts = np.concatenate([*rows, [amounts * (guesses - truths) ** 2, amounts]])
    error, brier = estimates(parts, _errors)
    weight, probability, duplicates = np.split(parts[: 3 * _BINS].sum(axis=1), 3)
    bins = tuple(
        Bin(
            EDGES[place],
            EDGES[place + 1],
            int(inside[place].sum()),
            float(weight[place]),
            float(probability[place] / weight[place]) if weight[place] else None,
            float(duplicates[place] / weight[place]) if weight[place] else None,
        )
        for place in range(_BINS)
    )
    return Calibration(error, brier, bins)


def _errors(sums: Floats) -> Floats:
    """Return the expected calibration error and the Brier score from the sums of the rows of calibration()."""
    probability, duplicates = sums[_BINS : 2 * _BINS], sums[2 * _BINS : 3 * _BINS]
    squared, weight = sums[-2:]
    return np.stack([ratio(np.abs(probability - duplicates).sum(axis=0), weight), ratio(squared, weight)])

"""95% intervals by a bootstrap over labelled pairs. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

RESAMPLES = 2_000
_DRAWN_AT_ONCE = 100
SEED = 20_240_601
_BOUNDS = (0.025, 0.975)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95% interval over resamples of the labelled pairs."""

    value: float
    low: float
    high: float


def estimates(parts: Floats, numbers: Callable[[Floats], Floats]) -> list[Estimate]:
    """Return what `numbers` computes from the sums of the rows of `parts`, each number with its interval.

    A column of `parts` is a pair. `numbers` maps sums, one column a resample, to numbers, one row each. The intervals
    come from a bootstrap over pairs with a fixed seed (Efron and Tibshirani, 1993, 13.3).
    """
    values = numbers(parts.sum(axis=1, keepdims=True))[:, 0]
    low, high = np.quantile(numbers(_resampled(parts)), _BOUNDS, axis=1)
    return [Estimate(*map(float, each)) for each in zip(values, low, high, strict=True)]


def ratio(part: Floats, whole: Floats) -> Floats:
    """Return the quotients; 0 for a share of nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _resampled(parts: Floats) -> Floats:
    """Return the sums of the rows over resamples of all pairs, drawn with replacement; one column a resample."""
    pairs = parts.shape[1]
    return parts @ _draws(pairs).T if pairs else np.zeros((len(parts), 1))


# The numbers of one report share their draws. Four kilobytes a pair.
@lru_cache(maxsize=16)
def _draws(pairs: int) -> npt.NDArray[np.uint16]:
    """Return how often each resample has each pair; one row a resample."""
    dice = np.random.default_rng(SEED)
    steps = range(0, RESAMPLES, _DRAWN_AT_ONCE)
    drawn = (dice.multinomial(pairs, np.full(pairs, 1 / pairs), size=_DRAWN_AT_ONCE) for _ in steps)
    return np.concatenate([counts.astype(np.uint16) for counts in drawn])

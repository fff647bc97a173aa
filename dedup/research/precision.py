"""Precision and other shares with their 95% intervals, however the pairs were chosen. Pure.

Of decided pairs: `precision_of`. Of pairs that each represent several: `weighted_precision`. Of a stratified random
sample: `precision` and `recall`. Of labelled pairs, for anything computed from sums: `estimates`, a bootstrap. The most
that can be wrong: `upper_bound`. How well two readers agree, beyond chance: `agreement`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_CONFIDENCE = 0.95
_HALVINGS = 60
# Standard deviations on each side that hold 95% of a normal distribution.
_DEVIATIONS = 1.959963984540054
# The same, as tables of the normal distribution round it.
_NORMAL_95 = 1.959964
RESAMPLES = 2_000
SEED = 20_240_601
_DRAWN_AT_ONCE = 100
_BOUNDS = (0.025, 0.975)

# Fewer readings than these say nothing: the interval of the share agreed would be wider than 40 percentage points.
LEAST_READINGS = 20

# What the first and the second editor answered, and on how many pairs.
Answers = Mapping[tuple[str, str], int]

Floats = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """A number with its 95% interval."""

    value: float
    low: float
    high: float


# As the cells of a row have it.
UNKNOWN = (None, None, None)


# ---- of decided pairs ------------------------------------------------------------------------------


def precision_of(right: int, decided: int) -> Estimate | None:
    """Return the share of the decided pairs that are duplicates, 0..1; None without one."""
    return Estimate(right / decided, *interval(decided, right)) if decided else None


def interval(drawn: float, right: float) -> tuple[float, float]:
    """Return the 95 % interval of the share of which `right` of `drawn` is a sample, within 0..1.

    Unlike a normal approximation, it is not empty if all are right. Weighted samples count as a number of equal ones.

    The interval of Wilson, "Probable inference, the law of succession, and statistical inference" (Journal of the
    American Statistical Association 22, 1927). Raises ValueError unless 0 <= right <= drawn and 0 < drawn.
    """
    if not (0 <= right <= drawn and drawn):
        raise ValueError(f"{right} of {drawn} drawn cannot be right; give 0 to {drawn}, of at least 1")
    square = _DEVIATIONS**2
    centre = (right + square / 2) / (drawn + square)
    width = _DEVIATIONS / (drawn + square) * sqrt(right * (drawn - right) / drawn + square / 4)
    return max(0.0, centre - width), min(1.0, centre + width)


def equal_pairs(weights: Sequence[float]) -> float:
    """Return as how many pairs of equal weight these count.

    As Kish counts: the squared sum over the sum of squares ("Survey Sampling", 1965, 11.7).
    """
    whole = sum(weights)
    return whole * whole / sum(weight * weight for weight in weights)


def weighted_precision(right: float, weights: Sequence[float]) -> Estimate:
    """Return the share that `right` is of all weights, and its 95% interval."""
    share, count = min(right / sum(weights), 1.0), equal_pairs(weights)
    return Estimate(share, *interval(count, share * count))


def upper_bound(drawn: int, wrong: int) -> float:
    """Return the share of errors, 0..1, that is not exceeded in the whole with 95% confidence; 1 without a sample.

    The one-sided bound of Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial" (Biometrika 26, 1934): the share at which a sample has so few errors with a chance of 5%. It is for an
    endless whole, so for a small one it is on the safe side. Raises ValueError unless 0 <= wrong <= drawn.
    """
    if not 0 <= wrong <= drawn:
        raise ValueError(f"{wrong} of {drawn} drawn cannot be wrong; give 0 to {drawn}")
    if wrong == drawn:
        return 1.0
    log_ways = [lgamma(drawn + 1) - lgamma(count + 1) - lgamma(drawn - count + 1) for count in range(wrong + 1)]
    low, high = wrong / drawn, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        # The chance that at most so many of the sample are wrong if this share of the whole is.
        at_most = sum(
            exp(ways + count * log(middle) + (drawn - count) * log(1 - middle)) for count, ways in enumerate(log_ways)
        )
        if at_most > 1 - _CONFIDENCE:
            low = middle
        else:
            high = middle
    return high


# ---- of labelled pairs -------------------------------------------------------------------------------


def estimates(parts: Floats, numbers: Callable[[Floats], Floats]) -> list[Estimate]:
    """Return what `numbers` computes from the sums of the rows of `parts`, each number with its interval.

    A column of `parts` is a pair. `numbers` maps sums, one column a resample, to numbers, one row each. The intervals
    come from a bootstrap over pairs with a fixed seed (Efron and Tibshirani, 1993, 13.3).
    """
    values = numbers(parts.sum(axis=1, keepdims=True))[:, 0]
    pairs = parts.shape[1]
    resampled = parts @ _draws(pairs).T if pairs else np.zeros((len(parts), 1))
    low, high = np.quantile(numbers(resampled), _BOUNDS, axis=1)
    return [Estimate(*map(float, bounds)) for bounds in zip(values, low, high, strict=True)]


def ratio(part: Floats, whole: Floats) -> Floats:
    """Return the quotients; 0 for a share of nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


# The numbers of one report share their draws. Four kilobytes a pair.
@lru_cache(maxsize=16)
def _draws(pairs: int) -> npt.NDArray[np.uint16]:
    """Return how often each resample has each pair; one row a resample."""
    dice = np.random.default_rng(SEED)
    steps = range(0, RESAMPLES, _DRAWN_AT_ONCE)
    drawn = (dice.multinomial(pairs, np.full(pairs, 1 / pairs), size=_DRAWN_AT_ONCE) for _ in steps)
    return np.concatenate([counts.astype(np.uint16) for counts in drawn])


# ---- of a stratified random sample -----------------------------------------------------------------


class Tally(NamedTuple):
    """A stratum: its pairs in the archive, and its labelled pairs by label, D or another one, and by verdict.

    `left_out` is the number of labelled pairs whose label counts neither way.
    """

    pairs: int
    called_duplicates: int  # labelled D, and the verdict is duplicate
    called_others: int
    other_duplicates: int
    others: int
    left_out: int = 0

    @property
    def labelled(self) -> int:
        """The number of labelled pairs."""
        return self.called_duplicates + self.called_others + self.other_duplicates + self.others + self.left_out


def estimated_total(strata: Iterable[tuple[int, int, int]]) -> Estimate:
    """Return how many pairs of the archive have a property: the sum over strata of pairs times share. Never below 0.

    A stratum is given by its pairs in the archive, those labelled, and those of them that have the property; strata
    without a labelled pair are left out. The variance is that of stratified random sampling without replacement
    (Cochran, Sampling Techniques, 3rd edition, 1977, chapter 5): the sum of N² (1 - n / N) p (1 - p) / n. There, p is
    the share with half a pair added on either side (Jeffreys): 0 of 20 does not prove that none has the property.
    """
    value = variance = 0.0
    for pairs, labelled, having in strata:
        if not labelled:
            continue
        value += pairs * having / labelled
        share = (having + 0.5) / (labelled + 1)
        variance += pairs**2 * (1 - labelled / pairs) * share * (1 - share) / labelled
    reach = _NORMAL_95 * sqrt(variance)
    return Estimate(value, max(value - reach, 0.0), value + reach)


def precision(strata: Iterable[Tally]) -> Estimate | None:
    """Return which share of the pairs called duplicates are duplicates; None if no labelled pair is called so."""
    return _ratio(list(strata), (1, 1, 0))


def recall(strata: Iterable[Tally]) -> Estimate | None:
    """Return which share of the duplicates are called so; None if no labelled pair is a duplicate."""
    return _ratio(list(strata), (1, 0, 1))


def _ratio(strata: Sequence[Tally], whole: tuple[int, int, int]) -> Estimate | None:
    """Return which share of a whole are duplicates called so; `whole` says which of the first three counts it has.

    The combined ratio estimate of stratified sampling (Cochran, chapter 6): with R the quotient of the two estimated
    totals, and e = 1 - R for a pair in the part, -R for another one of the whole, and 0 for the rest, its variance is
    the sum over strata of N² (1 - n / N) s² / n, divided by the square of the whole, with s² the variance of e among
    the labelled pairs. There, half a pair of either label is added to those called duplicates, and to the others.
    """
    strata = [tally for tally in strata if tally.labelled]
    sizes = [tally.pairs / tally.labelled for tally in strata]
    part = sum(size * stratum.called_duplicates for size, stratum in zip(sizes, strata, strict=True))
    total = sum(
        size * count * counts
        for size, stratum in zip(sizes, strata, strict=True)
        for count, counts in zip(stratum[1:4], whole, strict=True)
    )
    if not total:
        return None
    share = part / total
    residuals = [(value - share) * counts for value, counts in zip((1, 0, 0), whole, strict=True)]
    variance = sum(_variance(tally, residuals) for tally in strata) / total**2
    reach = _NORMAL_95 * sqrt(variance)
    return Estimate(share, max(share - reach, 0.0), min(share + reach, 1.0))


def _variance(tally: Tally, residuals: Sequence[float]) -> float:
    called = _smoothed(tally.called_duplicates, tally.called_others)
    duplicates, _ = _smoothed(tally.other_duplicates, tally.others)
    counts = (*called, duplicates)
    mean = sum(count * value for count, value in zip(counts, residuals, strict=True)) / tally.labelled
    squares = sum(count * value**2 for count, value in zip(counts, residuals, strict=True)) / tally.labelled
    return tally.pairs**2 * (1 - tally.labelled / tally.pairs) * max(squares - mean**2, 0.0) / tally.labelled


def _smoothed(duplicates: int, others: int) -> tuple[float, float]:
    """Return two counts with the same sum and half a pair added to each before."""
    labelled = duplicates + others
    share = (duplicates + 0.5) / (labelled + 1)
    return labelled * share, labelled * (1 - share)


# ---- of two readers ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two editors gave the same answer to the same pair, each without knowing the other's."""

    readings: int
    agreed: int
    kappa: Estimate | None  # None if there are too few readings, or if both always gave one and the same answer

    @property
    def share(self) -> float:
        """The share of the readings that agree, 0..1; 0 for none."""
        return self.agreed / self.readings if self.readings else 0.0

    @property
    def enough(self) -> bool:
        """Whether there are enough readings to say anything."""
        return self.readings >= LEAST_READINGS


def agreement(answers: Answers) -> Agreement:
    """Return the agreement of first and second answers."""
    readings = sum(answers.values())
    agreed = sum(count for (first, second), count in answers.items() if first == second)
    return Agreement(readings, agreed, kappa(answers) if readings >= LEAST_READINGS else None)


def kappa(answers: Answers) -> Estimate | None:
    """Return Cohen's kappa (Cohen 1960), or None if chance alone agrees always: both gave one and the same answer.

    The interval uses the standard error for a kappa that is not 0, by Fleiss, Cohen and Everitt, "Large sample standard
    errors of kappa and weighted kappa", Psychological Bulletin 72 (1969): with the shares p of the table, its
    margins r and c, the share agreed o and that expected by chance e, it is the square root of
    (sum of p_ii (1 - e - (r_i + c_i)(1 - o))² + (1 - o)² times the sum over i ≠ j of p_ij (c_i + r_j)²
    - (o e - 2 e + o)²) / (n (1 - e)⁴).
    """
    total = sum(answers.values())
    shares = {cell: count / total for cell, count in answers.items() if count}
    rows, columns = defaultdict[str, float](float), defaultdict[str, float](float)
    for (first, second), share in shares.items():
        rows[first] += share
        columns[second] += share
    observed = sum(share for (first, second), share in shares.items() if first == second)
    expected = sum(rows[name] * columns[name] for name in list(rows))
    if total == 0 or expected > 1 - 1e-12:
        return None
    value = (observed - expected) / (1 - expected)
    same = sum(
        share * (1 - expected - (rows[first] + columns[first]) * (1 - observed)) ** 2
        for (first, second), share in shares.items()
        if first == second
    )
    other = sum(
        share * (columns[first] + rows[second]) ** 2 for (first, second), share in shares.items() if first != second
    )
    variance = same + (1 - observed) ** 2 * other - (observed * expected - 2 * expected + observed) ** 2
    reach = _NORMAL_95 * sqrt(max(variance, 0.0) / total) / (1 - expected) ** 2
    return Estimate(value, max(value - reach, -1.0), min(value + reach, 1.0))

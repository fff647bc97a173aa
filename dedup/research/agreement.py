"""How well two editors agree on the same pairs, beyond chance. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

# Fewer readings than these say nothing: the interval of the share agreed would be wider than 40 percentage points.
LEAST_READINGS = 20
_NORMAL_95 = 1.959964

# What the first and the second editor answered, and on how many pairs.
Answers = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with its 95% interval, within -1..1."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two editors gave the same answer to the same pair, each without knowing the other's."""

    readings: int
    agreed: int
    kappa: Kappa | None  # None if there are too few readings, or if both always gave one and the same answer

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


def kappa(answers: Answers) -> Kappa | None:
    """Return Cohen's kappa (Cohen 1960), or None if chance alone agrees always: both gave one and the same answer.

    The interval uses the standard error for a kappa that is not 0, by Fleiss, Cohen and Everitt, "Large sample standard
    errors of kappa and weighted kappa", Psychological Bulletin 72 (1969): with the shares p of the table, its
    margins r and c, the share agreed o and that expected by chance e, it is the square root of
    (sum of p_ii (1 - e - (r_i + c_i)(1 - o))² + (1 - o)² times the sum over i ≠ j of p_ij (c_i + r_j)²
    - (o e - 2 e + o)²) / (n (1 - e)⁴).
    """
    total = sum(answers.values())
    shares = {cell: count / total for cell, count in answers.items() if count}
    rows, columns = _margins(shares)
    observed = sum(share for (first, second), share in shares.items() if first == second)
    expected = sum(rows[name] * columns[name] for name in rows)
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
    return Kappa(value, max(value - reach, -1.0), min(value + reach, 1.0))


def _margins(shares: Mapping[tuple[str, str], float]) -> tuple[dict[str, float], dict[str, float]]:
    """Return how often the first and the second editor gave each answer, as shares; both name every answer."""
    names = {name for cell in shares for name in cell}
    rows, columns = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for (first, second), share in shares.items():
        rows[first] += share
        columns[second] += share
    return rows, columns

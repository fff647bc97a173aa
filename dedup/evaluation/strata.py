"""Strata of pairs: their names, how many pairs to draw from each, and what labelled ones say about all. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

_NORMAL_95 = 1.959964
NOT_PROPOSED = "not proposed"


@dataclass(frozen=True, slots=True)
class Stratum:
    """A stratum as it was drawn: `pairs` in the archive, how many were `asked` for, and how many were `drawn`."""

    name: str
    pairs: int
    asked: int
    drawn: int

    @property
    def weight(self) -> float:
        """How many pairs of the archive each drawn one stands for."""
        return self.pairs / self.drawn


class Cell(NamedTuple):
    """What a stratum has in common; None where the sample does not tell pairs apart by it.

    `band` is the position of the score's band from below, -1 for a pair without a score of the chosen pass.
    """

    band: int | None
    verdict: str | None
    same_newspaper: bool | None
    near: bool | None


def name_of(cell: Cell, bands: Sequence[float], near_days: int, pass_name: str = "") -> str:
    """Return the name of a stratum in words, the same for the same cell: "0.80-0.90 / duplicate / 0-3 days"."""
    parts = []
    if cell.band is not None:
        parts.append(band_name(cell.band, bands, pass_name))
    if cell.verdict is not None:
        parts.append(cell.verdict or "not compared")
    if cell.same_newspaper is not None:
        parts.append("same newspaper" if cell.same_newspaper else "two newspapers")
    if cell.near is not None:
        parts.append(f"0-{near_days} days" if cell.near else f"{near_days + 1}+ days")
    return " / ".join(parts) or "all proposed pairs"


def band_name(band: int, bands: Sequence[float], pass_name: str = "") -> str:
    """Return the name of a band of scores; `bands` are their lower bounds, rising, without that of the lowest."""
    if band < 0:
        return f"no score of {pass_name}"
    edges = ["0.00", *(f"{bound:.2f}" for bound in bands), "1.00"]
    of_pass = f"{pass_name} " if pass_name else ""
    return f"{of_pass}{edges[band]}-{edges[band + 1]}"


def shared_out(total: int, sizes: Sequence[int]) -> list[int]:
    """Return how many to draw from strata of these sizes: `total` in all, as evenly as their sizes allow.

    A stratum that is smaller than its share is drawn whole, and the others share the rest; what cannot be divided goes
    to the first ones. If all have fewer than `total` together, each is drawn whole.
    """
    shares = [0] * len(sizes)
    left = min(total, sum(sizes))
    while left:
        open_ones = [place for place, size in enumerate(sizes) if shares[place] < size]
        each, over = divmod(left, len(open_ones))
        for rank, place in enumerate(open_ones):
            more = min(each + (rank < over), sizes[place] - shares[place])
            shares[place] += more
            left -= more
    return shares


@dataclass(frozen=True, slots=True)
class Total:
    """An estimated number of pairs in the archive with its 95% interval, never below 0."""

    value: float
    low: float
    high: float


def estimated_total(counted: Mapping[str, tuple[int, int, int]]) -> Total:
    """Return how many pairs of all strata have a property, from how many labelled ones have it.

    `counted` has, by stratum, its pairs in the archive, how many of them are labelled, and how many of these have the
    property. The estimate adds up pairs times share. The variance is that of stratified random sampling without
    replacement (Cochran, Sampling Techniques, 3rd edition, 1977, equation 5.13): the sum over strata of
    N² (1 - n / N) p (1 - p) / (n - 1); of a stratum with one labelled pair it is not known and counts as the largest
    possible, N² / 4. Strata without a labelled pair are left out.
    """
    value = variance = 0.0
    for pairs, labelled, having in counted.values():
        if not labelled:
            continue
        share = having / labelled
        value += pairs * share
        spread = share * (1 - share) / (labelled - 1) if labelled > 1 else 0.25
        variance += pairs**2 * (1 - labelled / pairs) * spread
    reach = _NORMAL_95 * sqrt(variance)
    return Total(value, max(value - reach, 0.0), value + reach)

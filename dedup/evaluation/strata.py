"""Strata of pairs: their names, how many pairs to draw from each, and what labelled ones say about all. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

_NORMAL_95 = 1.959964
_TWO = 2  # labelled pairs, for a variance
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
    to the largest ones. If all have fewer than `total` together, each is drawn whole.
    """
    shares = [0] * len(sizes)
    left = min(total, sum(sizes))
    while left:
        open_ones = [place for place, size in enumerate(sizes) if shares[place] < size]
        open_ones.sort(key=lambda place: -sizes[place])
        each = left // len(open_ones)
        for place in open_ones if each else open_ones[:left]:
            more = min(max(each, 1), sizes[place] - shares[place])
            shares[place] += more
            left -= more
    return shares


@dataclass(frozen=True, slots=True)
class Estimated:
    """A number of pairs in the archive, or a share in 0..1, with its 95% interval."""

    value: float
    low: float
    high: float


class Counted(NamedTuple):
    """A stratum: its pairs in the archive, how many are labelled, and how many of these are in a `whole` and a `part`.

    What is in the part is in the whole too.
    """

    pairs: int
    labelled: int
    whole: int
    part: int


def estimated_total(strata: Iterable[Counted]) -> Estimated:
    """Return how many pairs of all strata are in the part: the sum of pairs times share. Never below 0.

    The variance is that of stratified random sampling without replacement (Cochran, Sampling Techniques, 3rd edition,
    1977, chapter 5): the sum over strata of N² (1 - n / N) p (1 - p) / (n - 1). Of a stratum with one labelled pair it
    is not known and counts as the largest possible, N² / 4. Strata without a labelled pair are left out.
    """
    value = variance = 0.0
    for pairs, labelled, _, part in strata:
        if not labelled:
            continue
        share = part / labelled
        value += pairs * share
        spread = share * (1 - share) / (labelled - 1) if labelled > 1 else 0.25
        variance += pairs**2 * (1 - labelled / pairs) * spread
    reach = _NORMAL_95 * sqrt(variance)
    return Estimated(value, max(value - reach, 0.0), value + reach)


def estimated_share(strata: Iterable[Counted]) -> Estimated | None:
    """Return which share of the whole is in the part, of all strata together; None if the whole is empty.

    The combined ratio estimate of stratified sampling (Cochran, chapter 6): with R the quotient of the two estimated
    totals, and e = 1 - R for a pair in the part, -R for another one of the whole, 0 for the rest, its variance is the
    sum over strata of N² (1 - n / N) s² / n, with s² the variance of e among the labelled pairs, divided by the square
    of the whole. A stratum with one labelled pair adds no variance.
    """
    strata = [each for each in strata if each.labelled]
    whole = sum(each.pairs * each.whole / each.labelled for each in strata)
    if not whole:
        return None
    share = sum(each.pairs * each.part / each.labelled for each in strata) / whole
    variance = sum(_residual_variance(each, share) for each in strata) / whole**2
    reach = _NORMAL_95 * sqrt(variance)
    return Estimated(share, max(share - reach, 0.0), min(share + reach, 1.0))


def _residual_variance(each: Counted, share: float) -> float:
    if each.labelled < _TWO:
        return 0.0
    squares = each.part * (1 - share) ** 2 + (each.whole - each.part) * share**2
    mean = (each.part - share * each.whole) / each.labelled
    spread = max(squares - each.labelled * mean**2, 0.0) / (each.labelled - 1)
    return each.pairs**2 * (1 - each.labelled / each.pairs) * spread / each.labelled

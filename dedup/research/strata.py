"""Strata of pairs: their names, how many pairs to draw from each, and what labelled ones say about all. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
        """How many pairs of the archive each drawn one represents."""
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


def estimated_total(strata: Iterable[tuple[int, int, int]]) -> Estimated:
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
    return Estimated(value, max(value - reach, 0.0), value + reach)


def precision(strata: Iterable[Tally]) -> Estimated | None:
    """Return which share of the pairs called duplicates are duplicates; None if no labelled pair is called so."""
    return _ratio(list(strata), (1, 1, 0))


def recall(strata: Iterable[Tally]) -> Estimated | None:
    """Return which share of the duplicates are called so; None if no labelled pair is a duplicate."""
    return _ratio(list(strata), (1, 0, 1))


def _ratio(strata: Sequence[Tally], whole: tuple[int, int, int]) -> Estimated | None:
    """Return which share of a whole are duplicates called so; `whole` says which of the first three counts it has.

    The combined ratio estimate of stratified sampling (Cochran, chapter 6): with R the quotient of the two estimated
    totals, and e = 1 - R for a pair in the part, -R for another one of the whole, and 0 for the rest, its variance is
    the sum over strata of N² (1 - n / N) s² / n, divided by the square of the whole, with s² the variance of e among
    the labelled pairs. There, half a pair of either label is added to those called duplicates, and to the others.
    """
    strata = [tally for tally in strata if tally.labelled]
    sizes = [tally.pairs / tally.labelled for tally in strata]
    part = sum(size * each.called_duplicates for size, each in zip(sizes, strata, strict=True))
    total = sum(
        size * count * counts
        for size, each in zip(sizes, strata, strict=True)
        for count, counts in zip(each[1:4], whole, strict=True)
    )
    if not total:
        return None
    share = part / total
    residuals = [(value - share) * counts for value, counts in zip((1, 0, 0), whole, strict=True)]
    variance = sum(_variance(tally, residuals) for tally in strata) / total**2
    reach = _NORMAL_95 * sqrt(variance)
    return Estimated(share, max(share - reach, 0.0), min(share + reach, 1.0))


def _variance(each: Tally, residuals: Sequence[float]) -> float:
    called = _smoothed(each.called_duplicates, each.called_others)
    duplicates, _ = _smoothed(each.other_duplicates, each.others)
    counts = (*called, duplicates)
    mean = sum(count * value for count, value in zip(counts, residuals, strict=True)) / each.labelled
    squares = sum(count * value**2 for count, value in zip(counts, residuals, strict=True)) / each.labelled
    return each.pairs**2 * (1 - each.labelled / each.pairs) * max(squares - mean**2, 0.0) / each.labelled


def _smoothed(duplicates: int, others: int) -> tuple[float, float]:
    """Return two counts with the same sum and half a pair added to each before."""
    labelled = duplicates + others
    share = (duplicates + 0.5) / (labelled + 1)
    return labelled * share, labelled * (1 - share)

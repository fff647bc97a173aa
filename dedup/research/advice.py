"""Which threshold gives a wanted precision, judged by the pairs that people have decided. Pure.

People decide what they are shown, which is not a random sample of what a pass proposes. So each decided pair represents
the proposed pairs of its cell, which is a band of scores and a verdict (post-stratification: Holt and Smith, "Post
stratification", Journal of the Royal Statistical Society A 142, 1979). What decided and undecided pairs of one cell
differ in is not corrected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dedup.research.bounds import interval

# With fewer decided pairs, an interval of 95% is wider than 15 percentage points even around a precision of 0.95.
LEAST_DECIDED = 30
BANDS = 20
_TOLERANCE = 1e-6

# A band of scores, 0 to BANDS (the last one has the score 1 alone), and a verdict.
Cell = tuple[int, str]


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """A pair that a pass proposes and people have decided: its score by the pass, and whether it is a duplicate."""

    score: float
    verdict: str
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Step:
    """What a threshold gives: the decided pairs from it on, and the precision with its 95% interval.

    `kept`: the share of the duplicates that the pass proposes; None if none was decided. `pairs`: the pairs that it
    would still propose.
    """

    threshold: float
    decided: int
    precision: float | None
    low: float | None
    high: float | None
    kept: float | None
    pairs: int


@dataclass(frozen=True, slots=True)
class Advice:
    """The threshold for a wanted precision, or why there is none; and what every threshold gives.

    `uncovered` is the share of the proposed pairs for which no decided pair stands.
    """

    decided: int
    duplicates: int
    pairs: int
    uncovered: float
    says: str
    advised: Step | None
    steps: tuple[Step, ...]


def band_of(score: float) -> int:
    """Return the band of a score in 0..1."""
    return int(score * BANDS + _TOLERANCE)


def advice(decided: Sequence[DecidedPair], proposed: Mapping[Cell, int], wanted: float) -> Advice:
    """Return the lowest threshold from which on the precision is as wanted, 0..1.

    `proposed` has the number of pairs that the pass proposes by cell, decided ones included. Thresholds are the lower
    ends of the bands. One with fewer than LEAST_DECIDED decided pairs is never advised.
    """
    decisions = Counter(_cell(pair) for pair in decided)
    weights = {cell: max(proposed.get(cell, 0), count) / count for cell, count in decisions.items()}
    total = sum(proposed.values())
    lowest = min((band for band, _ in [*proposed, *decisions]), default=BANDS)
    steps = tuple(_step(band, decided, proposed, weights) for band in range(lowest, BANDS + 1))
    enough = [step for step in steps if step.decided >= LEAST_DECIDED]
    advised = next((each for each in enough if each.precision is not None and each.precision >= wanted), None)
    covered = sum(count for cell, count in proposed.items() if cell in decisions)
    return Advice(
        len(decided),
        sum(pair.duplicate for pair in decided),
        total,
        1 - covered / total if total else 0.0,
        _says(len(decided), enough, advised, wanted),
        advised,
        steps,
    )


def _cell(each: DecidedPair) -> Cell:
    return band_of(each.score), each.verdict


def _step(
    band: int, decided: Sequence[DecidedPair], proposed: Mapping[Cell, int], weights: Mapping[Cell, float]
) -> Step:
    chosen = [pair for pair in decided if band_of(pair.score) >= band]
    amounts = [weights[_cell(each)] for each in chosen]
    right = sum(amount for each, amount in zip(chosen, amounts, strict=True) if each.duplicate)
    duplicates = sum(weights[_cell(pair)] for pair in decided if pair.duplicate)
    precision, low, high = precision_interval(right, amounts) if chosen else (None, None, None)
    pairs = sum(count for (other, _), count in proposed.items() if other >= band)
    kept = right / duplicates if duplicates else None
    return Step(band / BANDS, len(chosen), precision, low, high, None if kept is None else min(kept, 1.0), pairs)


def precision_interval(right: float, weights: Sequence[float]) -> tuple[float, float, float]:
    """Return the share that `right` is of all weights, and its 95% interval.

    It is as wide as for so many pairs of equal weight as Kish counts: the squared sum over the sum of squares ("Survey
    Sampling", 1965, 11.7).
    """
    whole = sum(weights)
    share = min(right / whole, 1.0)
    count = whole * whole / sum(weight * weight for weight in weights)
    return share, *interval(count, share * count)


def _says(decided: int, enough: Sequence[Step], advised: Step | None, wanted: float) -> str:
    if not enough:
        return f"too few decisions: {decided:,} of the {LEAST_DECIDED} needed"
    if advised is None:
        best = max(enough, key=lambda each: each.precision or 0.0)
        return f"none reaches {wanted:.0%}; best {best.precision or 0:.0%} from {best.threshold:.2f}"
    if advised is enough[0] and advised.decided == decided:
        return f"all its scores reach {wanted:.0%}"
    return f"from {advised.threshold:.2f} on"

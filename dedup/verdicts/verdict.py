"""What two articles are to each other, and how probable that is. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dedup.comparison.compare import Comparison
from dedup.types import VerdictKind
from dedup.verdicts.features import features_of
from dedup.verdicts.model import Probabilities, VerdictModel, default_model
from dedup.verdicts.reasons import reasons_for


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a pair is, with the probability of that and of a duplicate, and the reasons, the weightiest first."""

    kind: VerdictKind
    probability: float
    duplicate_probability: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    """A pair, by its place among those asked about, of which two models say different kinds."""

    place: int
    old: VerdictKind
    new: VerdictKind
    old_duplicate_probability: float
    new_duplicate_probability: float


@dataclass(frozen=True, slots=True)
class VerdictChanges:
    """What another model would change: pairs by old and new kind, and those that change, the largest change first."""

    counts: Mapping[tuple[VerdictKind, VerdictKind], int]
    changed: tuple[ChangedVerdict, ...]


def judgement_of(comparison: Comparison, model: VerdictModel | None = None) -> Judgement:
    """Return the judgement on a pair; by the model that comes with the program if none is given."""
    model = model or default_model()
    probabilities = model.probabilities(features_of(comparison))
    kind, probability = _kind(probabilities, model.threshold)
    return Judgement(kind, probability, probabilities.duplicate, tuple(reasons_for(comparison)))


def verdict_changes(old: VerdictModel, new: VerdictModel, rows: Sequence[Sequence[float]]) -> VerdictChanges:
    """Return how verdicts on pairs with these features would change if `new` took the place of `old`."""
    counts: Counter[tuple[VerdictKind, VerdictKind]] = Counter()
    changed: list[ChangedVerdict] = []
    for place, row in enumerate(rows):
        before, after = old.probabilities(row), new.probabilities(row)
        kinds = _kind(before, old.threshold)[0], _kind(after, new.threshold)[0]
        counts[kinds] += 1
        if kinds[0] != kinds[1]:
            changed.append(ChangedVerdict(place, *kinds, before.duplicate, after.duplicate))
    changed.sort(key=lambda each: -abs(each.new_duplicate_probability - each.old_duplicate_probability))
    return VerdictChanges(dict(counts), tuple(changed))


def _kind(probabilities: Probabilities, threshold: float) -> tuple[VerdictKind, float]:
    """Return the kind: a duplicate from the threshold on, below it the most probable of the others."""
    if probabilities.duplicate >= threshold:
        return VerdictKind.DUPLICATE, probabilities.duplicate
    others = (VerdictKind.VERSION, VerdictKind.TEMPLATE, VerdictKind.SIMILAR)
    kind = max(others, key=lambda each: getattr(probabilities, each.value))
    return kind, getattr(probabilities, kind.value)

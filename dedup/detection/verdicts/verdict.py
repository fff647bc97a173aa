"""The verdict on a pair and its probability. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dedup.detection.comparison.compare import Comparison
from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.features import features_of
from dedup.detection.verdicts.model import Probabilities, VerdictModel, default_model
from dedup.detection.verdicts.reasons import UNLIKE, reasons_for

# A duplicate joins a cluster from this probability on. Of the labelled pairs called duplicates with a lower one, half
# are versions or templates; of the others, one in ten.
JOINS_FROM = 0.8


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a pair, its probability and that of a duplicate, and the reasons, the most important first."""

    kind: VerdictKind
    probability: float
    duplicate_probability: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    """A pair on which two models give different verdicts, by its position among the pairs compared."""

    place: int
    old: VerdictKind
    new: VerdictKind
    old_duplicate_probability: float
    new_duplicate_probability: float


@dataclass(frozen=True, slots=True)
class VerdictChanges:
    """What another model would change: the number of pairs by old and new verdict, and the pairs that change."""

    counts: Mapping[tuple[VerdictKind, VerdictKind], int]
    changed: tuple[ChangedVerdict, ...]


def is_certain(judgement: Judgement, comparison: Comparison) -> bool:
    """Return whether a pair is a duplicate that joins its articles without an editor.

    In a young or small newspaper, where little is known, probabilities are lower for copies too: there every duplicate
    joins.
    """
    doubtful = comparison.series_known and judgement.duplicate_probability < JOINS_FROM
    return judgement.kind is VerdictKind.DUPLICATE and not doubtful


def judgement_of(comparison: Comparison, model: VerdictModel | None = None) -> Judgement:
    """Return the judgement on a pair, by the model that ships with the program if none is given."""
    model = model or default_model()
    features = features_of(comparison)
    probabilities = model.probabilities(features)
    kind, probability = kind_of(probabilities, model.threshold)
    reasons = reasons_for(comparison)
    if model.unlike(features, probabilities.duplicate):
        reasons.append(UNLIKE)
    return Judgement(kind, probability, probabilities.duplicate, tuple(reasons))


def verdict_changes(old: VerdictModel, new: VerdictModel, rows: Sequence[Sequence[float]]) -> VerdictChanges:
    """Return how verdicts on pairs with these features would change if `new` replaced `old`; largest change first."""
    counts: Counter[tuple[VerdictKind, VerdictKind]] = Counter()
    changed: list[ChangedVerdict] = []
    for place, row in enumerate(rows):
        before, after = old.probabilities(row), new.probabilities(row)
        kinds = kind_of(before, old.threshold)[0], kind_of(after, new.threshold)[0]
        counts[kinds] += 1
        if kinds[0] != kinds[1]:
            changed.append(ChangedVerdict(place, *kinds, before.duplicate, after.duplicate))
    changed.sort(key=lambda change: -abs(change.new_duplicate_probability - change.old_duplicate_probability))
    return VerdictChanges(dict(counts), tuple(changed))


def kind_of(probabilities: Probabilities, threshold: float) -> tuple[VerdictKind, float]:
    """Return the verdict and its probability: duplicate from the threshold on, else the most probable other kind."""
    if probabilities.duplicate >= threshold:
        return VerdictKind.DUPLICATE, probabilities.duplicate
    others = (VerdictKind.VERSION, VerdictKind.TEMPLATE, VerdictKind.SIMILAR)
    kind = max(others, key=lambda other: getattr(probabilities, other.value))
    return kind, getattr(probabilities, kind.value)

"""The verdict on a pair and its probability. Pure."""

from dataclasses import dataclass, replace

from dedup.detection.comparison.compare import Comparison
from dedup.detection.types import Relation, VerdictKind
from dedup.detection.verdicts.features import features_of, identity_of
from dedup.detection.verdicts.model import Probabilities, VerdictModel, default_model
from dedup.detection.verdicts.reasons import DOUBTFUL, IDENTITIES, reasons_for
from dedup.detection.verdicts.relations import Measured, measured
from dedup.detection.verdicts.same_as import JOINS_FROM


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a pair, its probability and that of a duplicate, and the reasons, the most important first.

    `measured`: what the two articles are to each other.
    """

    kind: VerdictKind
    probability: float
    duplicate_probability: float
    reasons: tuple[str, ...]
    measured: Measured

    def overruled(self, kind: VerdictKind, reason: str) -> "Judgement":
        """Return the judgement if a rule, not the model, decides that the pair is of this kind."""
        found = replace(self.measured, relation=Relation(kind), probability=1.0)
        return Judgement(kind, 1.0, 0.0, (reason, *(old for old in self.reasons if old != DOUBTFUL)), found)


def judgement_of(comparison: Comparison, model: VerdictModel | None = None) -> Judgement:
    """Return the judgement on a pair, by the model that ships with the program if none is given."""
    model = model or default_model()
    features = features_of(comparison)
    probabilities = model.probabilities(features)
    reasons = reasons_for(comparison)
    if said := IDENTITIES.get(identity_of(comparison)):
        reasons.insert(1, said)
    kind, probability = kind_of(probabilities, model.threshold)
    if kind is VerdictKind.DUPLICATE and probability < JOINS_FROM:
        reasons.append(DOUBTFUL)
    found = measured(comparison, probabilities, kind)
    return Judgement(kind, probability, probabilities.duplicate, tuple(reasons), found)


def kind_of(probabilities: Probabilities, threshold: float) -> tuple[VerdictKind, float]:
    """Return the verdict and its probability: duplicate from the threshold on, else the most probable other kind."""
    if probabilities.duplicate >= threshold:
        return VerdictKind.DUPLICATE, probabilities.duplicate
    others = (VerdictKind.VERSION, VerdictKind.TEMPLATE, VerdictKind.SIMILAR)
    kind = max(others, key=lambda other: getattr(probabilities, other.value))
    return kind, getattr(probabilities, kind.value)

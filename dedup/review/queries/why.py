"""Why a pair has its verdict: the model's sum, calculated again for the articles as they are now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dedup.detection.passes.exact import ExactPass
from dedup.detection.runs.judging import JudgedNow, judge_now
from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.contributions import Step, steps_of
from dedup.detection.verdicts.model import Probabilities
from dedup.detection.verdicts.shares import Share, shares_of
from dedup.detection.verdicts.verdict import kind_of
from dedup.models import Pair

# Stored and calculated probabilities that differ by no more are the same.
_SAME = 0.005
_ASKED = {
    "duplicate": "Are they duplicates?",
    "template": "If not: is it one form with other facts?",
    "version": "If neither: are they versions of one article?",
}
# Of the questions after the first one, those that decide about a verdict.
_DECIDING = {
    VerdictKind.DUPLICATE: ("duplicate",),
    VerdictKind.TEMPLATE: ("duplicate", "template"),
    VerdictKind.VERSION: ("duplicate", "template", "version"),
    VerdictKind.SIMILAR: ("duplicate", "template", "version"),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A step of a waterfall and its bar, from `x` on and `width` wide, on a scale of 0..100."""

    step: Step
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The sum behind the answer to one question. `half`: where on the scale of the bars the chance is one half."""

    title: str
    bars: list[Bar]
    half: str
    points: float
    probability: float


@dataclass(frozen=True)
class Why:
    """What the page says about a verdict. Empty `waterfalls`: it cannot be calculated before the next run."""

    differs: bool = False  # from what is stored
    by_rule: str = ""  # why the model was not asked
    threshold: float = 0.5
    shares: list[Share] = field(default_factory=list)
    waterfalls: list[Waterfall] = field(default_factory=list)


def why(pair: Pair) -> Why:
    """Return what a pair's verdict rests on, as the next run would judge it."""
    exact = pair.evidence.filter(pass_name=ExactPass.name, stale=False).first()
    now = judge_now(pair.left_id, pair.right_id, leftover=exact.details.get("leftover", 0) if exact else 0)
    if now is None:
        return Why()
    probabilities = now.model.probabilities(now.features)
    by_model = kind_of(probabilities, now.model.threshold)
    judged = (now.judgement.kind, now.judgement.probability)
    return Why(
        differs=_differs(pair, now),
        by_rule="" if judged == by_model else now.judgement.reasons[0],
        threshold=now.model.threshold,
        shares=_shares(probabilities),
        waterfalls=list(_waterfalls(now, by_model[0])),
    )


def _differs(pair: Pair, now: JudgedNow) -> bool:
    stored = (pair.probability or 0.0, pair.duplicate_probability or 0.0)
    calculated = (now.judgement.probability, now.judgement.duplicate_probability)
    apart = max(abs(one - other) for one, other in zip(stored, calculated, strict=True))
    return bool(pair.verdict) and (pair.verdict != now.judgement.kind or apart > _SAME)


def _shares(probabilities: Probabilities) -> list[Share]:
    labels = {kind.value: kind.value for kind in VerdictKind}
    return shares_of(labels, [getattr(probabilities, name) for name in labels])


def _waterfalls(now: JudgedNow, kind: VerdictKind) -> Iterator[Waterfall]:
    for name in _DECIDING[kind]:
        asked = now.model.questions[name]
        yield _waterfall(_ASKED[name], steps_of(asked, now.features), asked.probability(now.features))


def _waterfall(title: str, steps: Sequence[Step], probability: float) -> Waterfall:
    reached = [0.0, *(step.after for step in steps)]
    low, high = min(reached) - 0.5, max(reached) + 0.5

    def place(points: float) -> float:
        return 100 * (points - low) / (high - low)

    def bar(step: Step) -> Bar:
        start, end = sorted((place(step.before), place(step.after)))
        return Bar(step, f"{start:.2f}", f"{end - start:.2f}")

    return Waterfall(title, [bar(step) for step in steps], f"{place(0):.2f}", steps[-1].after, probability)

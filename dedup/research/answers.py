"""The numbers of a report, from the verdicts that labelled pairs got. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.model import LABELS
from dedup.research.calibration import Calibration, calibration
from dedup.research.confusion import NOT_PROPOSED, confusion
from dedup.research.metrics import COUNTED, score
from dedup.research.resampling import Estimate

# The default window of most passes. Pairs further apart are rarer and harder to find.
NEAR_DAYS = 3
MEASURES = (
    ("precision", "Precision"),
    ("recall", "Recall"),
    ("f1", "F1"),
    ("templates_called_duplicates", "T called duplicate"),
)
ALL_LABELS = "".join(LABELS)

Numbers = dict[str, float | int | list[float] | None]


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict on a labelled pair and its probability of a duplicate; both are None if no pass proposed the pair."""

    label: str
    weight: float
    days: int
    verdict: str | None = None
    probability: float | None = None


def numbers_of(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return all numbers on the verdicts: shares in 0..1, None for a share of nothing, and 95% intervals."""
    labels, weights = [answer.label for answer in answers], [answer.weight for answer in answers]
    duplicates = [answer.verdict == VerdictKind.DUPLICATE for answer in answers]
    versions = [answer.verdict == VerdictKind.VERSION for answer in answers]
    return {
        "verdict": score_numbers(labels, weights, duplicates),
        "versions_as_negatives": score_numbers(labels, weights, duplicates, counted=ALL_LABELS),
        "version_verdict": _version_numbers(labels, weights, versions),
        "confusion": _confusion_numbers(answers),
        "calibration": {
            "versions_left_out": _calibration_numbers([answer for answer in answers if answer.label in COUNTED]),
            "versions_as_negatives": _calibration_numbers(answers),
        },
    }


def score_numbers(
    labels: Sequence[str], weights: Sequence[float], calls: Sequence[bool], *, counted: str = COUNTED
) -> Numbers:
    """Return precision, recall, F1 and the share of templates called duplicates, each with its interval."""
    kept = [(label, call) for label, call in zip(labels, calls, strict=True) if label in counted]
    duplicates = sum(label == "D" for label, _ in kept)
    templates = sum(label == "T" for label, _ in kept)
    called = sum(call for _, call in kept)
    measured = score(labels, weights, calls, counted=counted)
    found = (measured.precision, measured.recall, measured.f1, measured.templates)
    wholes = (called, duplicates, duplicates or called, templates)
    result: Numbers = {"pairs": len(kept), "duplicates": duplicates, "called": called}
    for (name, _), whole, estimate in zip(MEASURES, wholes, found, strict=True):
        result.update(with_interval(name, estimate, known=bool(whole)))
    return result


def _version_numbers(labels: Sequence[str], weights: Sequence[float], calls: Sequence[bool]) -> Numbers:
    """Return precision, recall and F1 of the version verdict: V is positive, all other labels are negative."""
    versions, called = labels.count("V"), sum(calls)
    measured = score(labels, weights, calls, positive="V", counted=ALL_LABELS)
    return {
        "pairs": len(labels),
        "versions": versions,
        "called": called,
        **with_interval("precision", measured.precision, known=called > 0),
        **with_interval("recall", measured.recall, known=versions > 0),
        **with_interval("f1", measured.f1, known=versions + called > 0),
    }


def _confusion_numbers(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return, for each label, its pairs, their weight, and the shares of it that got each verdict or none."""
    labels, weights = [answer.label for answer in answers], [answer.weight for answer in answers]
    found = confusion(labels, [answer.verdict or NOT_PROPOSED for answer in answers], weights)
    result: dict[str, Any] = {}
    for label, cells in found.items():
        pairs = labels.count(label)
        weight = sum(answer.weight for answer in answers if answer.label == label)
        result[label] = {"pairs": pairs, "weight": round(weight, 4)}
        for outcome, cell in cells.items():
            result[label][outcome] = {"pairs": cell.pairs, **with_interval("share", cell.share, known=pairs > 0)}
    return result


def _calibration_numbers(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return how honest the probabilities of proposed pairs are, weighted and not; the others have none."""
    proposed = [answer for answer in answers if answer.probability is not None]
    probabilities = [each.probability or 0.0 for each in proposed]
    truths = [each.label == "D" for each in proposed]
    return {
        "pairs": len(proposed),
        "weighted": _reliability(calibration(probabilities, truths, [each.weight for each in proposed])),
        "unweighted": _reliability(calibration(probabilities, truths, [1.0] * len(proposed))),
    }


def _reliability(measured: Calibration) -> dict[str, Any]:
    known = any(each.pairs for each in measured.bins)
    return {
        **with_interval("ece", measured.error, known=known),
        **with_interval("brier", measured.brier, known=known),
        "bins": [
            {
                "from": each.low,
                "to": each.high,
                "pairs": each.pairs,
                "weight": round(each.weight, 4),
                "mean_probability": _rounded(each.probability),
                "duplicates": _rounded(each.duplicates),
            }
            for each in measured.bins
        ],
    }


def with_interval(name: str, estimate: Estimate | None, *, known: bool = True) -> Numbers:
    """Return a number and its interval; None for both if there is nothing that it is a share of."""
    if estimate is None or not known:
        return {name: None, f"{name}_interval": None}
    return {
        name: round(estimate.value, 4),
        f"{name}_interval": [round(estimate.low, 4), round(estimate.high, 4)],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)

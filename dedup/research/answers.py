"""The numbers of a report, from the verdicts that labelled pairs got and the scores that passes give them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.model import LABELS
from dedup.research.metrics import COUNTED, score
from dedup.research.precision import Estimate, Floats, estimates, ratio

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


NOT_PROPOSED = "not_proposed"
OUTCOMES = (*(str(kind) for kind in VerdictKind), NOT_PROPOSED)


@dataclass(frozen=True, slots=True)
class Cell:
    """The pairs of a label with one outcome, and their share of the label's weight."""

    pairs: int
    share: Estimate


def confusion(labels: Sequence[str], outcomes: Sequence[str], weights: Sequence[float]) -> dict[str, dict[str, Cell]]:
    """Return, for each label (LABELS), its pairs by outcome (OUTCOMES). The shares of a label without pairs are 0."""
    amounts = np.asarray(weights, dtype=np.float64)
    labelled = np.array([[label == each for label in labels] for each in LABELS], dtype=np.bool_)
    judged = np.array([[outcome == each for outcome in outcomes] for each in OUTCOMES], dtype=np.bool_)
    both = labelled[:, None, :] & judged[None, :, :]
    shares = iter(estimates((both * amounts).reshape(len(LABELS) * len(OUTCOMES), len(amounts)), _shares_of_labels))
    return {
        label: {outcome: Cell(int(both[row, column].sum()), next(shares)) for column, outcome in enumerate(OUTCOMES)}
        for row, label in enumerate(LABELS)
    }


def _shares_of_labels(sums: Floats) -> Floats:
    """Return each cell's share of its label, from the sums of all cells."""
    cells = sums.reshape(len(LABELS), len(OUTCOMES), -1)
    wholes = np.broadcast_to(cells.sum(axis=1, keepdims=True), cells.shape)
    return ratio(cells, wholes).reshape(sums.shape)


# Ten bins of equal width, the last one with 1.0 (Guo and others, On calibration of modern neural networks, 2017).
EDGES = tuple(place / 10 for place in range(11))
_BINS = len(EDGES) - 1


@dataclass(frozen=True, slots=True)
class Bin:
    """The pairs with a probability of at least `low`, and below `high`. The means are None if there are none."""

    low: float
    high: float
    pairs: int
    weight: float
    probability: float | None
    duplicates: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The expected calibration error, the Brier score, and the reliability table behind them."""

    error: Estimate
    brier: Estimate
    bins: tuple[Bin, ...]


def calibration(probabilities: Sequence[float], answers: Sequence[bool], weights: Sequence[float]) -> Calibration:
    """Return how honest the probabilities of duplicates are; `answers` says which pairs are duplicates.

    The expected calibration error is the difference between the mean probability and the share of duplicates in a bin,
    averaged over the bins by their weight. The Brier score is the mean squared difference between probability (0..1)
    and answer (0 or 1). Both are 0 at best, and 0 if there are no pairs.
    """
    guesses = np.asarray(probabilities, dtype=np.float64)
    truths = np.asarray(answers, dtype=np.float64)
    amounts = np.asarray(weights, dtype=np.float64)
    inside = np.searchsorted(EDGES[1:-1], guesses, side="right") == np.arange(_BINS)[:, None]
    rows = [inside * amounts, inside * amounts * guesses, inside * amounts * truths]
    parts = np.concatenate([*rows, [amounts * (guesses - truths) ** 2, amounts]])
    error, brier = estimates(parts, _errors)
    weight, probability, duplicates = np.split(parts[: 3 * _BINS].sum(axis=1), 3)
    bins = tuple(
        Bin(
            EDGES[place],
            EDGES[place + 1],
            int(inside[place].sum()),
            float(weight[place]),
            float(probability[place] / weight[place]) if weight[place] else None,
            float(duplicates[place] / weight[place]) if weight[place] else None,
        )
        for place in range(_BINS)
    )
    return Calibration(error, brier, bins)


def _errors(sums: Floats) -> Floats:
    """Return the expected calibration error and the Brier score from the sums of the rows of calibration()."""
    probability, duplicates = sums[_BINS : 2 * _BINS], sums[2 * _BINS : 3 * _BINS]
    squared, weight = sums[-2:]
    return np.stack([ratio(np.abs(probability - duplicates).sum(axis=0), weight), ratio(squared, weight)])


_STEP = 0.05
# Scores are rounded when they are stored and read: 7/10 reaches the threshold 0.7.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold finds: the pairs called duplicates, and how right that is. None is a share of nothing."""

    threshold: float
    pairs: int
    precision: Estimate | None
    recall: Estimate | None
    f1: Estimate | None


def grid(lowest: float, *own: float) -> list[float]:
    """Return thresholds _STEP apart from the first one that is at least `lowest` up to 1, and those of one's own."""
    steps = range(int(np.ceil(round(lowest / _STEP, 6))), round(1 / _STEP) + 1)
    return sorted({*(round(step * _STEP, 2) for step in steps), *own})


def threshold_curve(
    labels: Sequence[str],
    weights: Sequence[float],
    scores: Sequence[float | None],
    thresholds: Sequence[float],
    *,
    counted: str = COUNTED,
) -> list[Point]:
    """Return precision, recall and F1 if every pair with at least this score is called a duplicate, for each threshold.

    A pair without a score is never called. Weighted; pairs whose label is not among those `counted` are left out. The
    intervals are those of metrics.score().
    """
    kept = [place for place, label in enumerate(labels) if label in counted]
    right = np.array([labels[place] == "D" for place in kept], dtype=np.bool_)
    amounts = np.array([weights[place] for place in kept], dtype=np.float64)
    known = np.array([_number(scores[place]) for place in kept], dtype=np.float64)
    calls = known >= np.asarray(thresholds, dtype=np.float64)[:, None] - _TOLERANCE
    parts = np.concatenate([right[None], calls, calls & right]) * amounts
    found = estimates(parts, _shares_of_thresholds)
    count = len(thresholds)
    return [
        _point(threshold, calls[place], right, found[place], found[count + place], found[2 * count + place])
        for place, threshold in enumerate(thresholds)
    ]


def _number(score: float | None) -> float:
    return -1.0 if score is None else score


def _point(
    threshold: float,
    calls: npt.NDArray[np.bool_],
    right: npt.NDArray[np.bool_],
    precision: Estimate,
    recall: Estimate,
    f1: Estimate,
) -> Point:
    called, duplicates = int(calls.sum()), bool(right.any())
    return Point(
        threshold,
        called,
        precision if called else None,
        recall if duplicates else None,
        f1 if duplicates or called else None,
    )


def _shares_of_thresholds(sums: Floats) -> Floats:
    """Return precision, recall and F1 of each threshold, from the sums: duplicates, then called, then both."""
    duplicates, (called, true) = sums[:1], np.split(sums[1:], 2)
    precision, recall = ratio(true, called), ratio(true, np.broadcast_to(duplicates, true.shape))
    return np.concatenate([precision, recall, ratio(2 * precision * recall, precision + recall)])

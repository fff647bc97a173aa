"""How well verdicts and scores agree with labelled pairs: the numbers of a report, with their intervals. Pure."""

import datetime
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.model import LABELS, fit
from dedup.research.precision import Estimate, Floats, estimates, ratio

# D is positive, T, E and N are negative; V is left out unless it is asked for.
COUNTED = "DTEN"

Indices = npt.NDArray[np.int64]
# The default window of most passes. Pairs further apart are rarer and harder to find.
NEAR_DAYS = 3
MEASURES = (
    ("precision", "Precision"),
    ("recall", "Recall"),
    ("f1", "F1"),
    ("templates_called_duplicates", "T called duplicate"),
)
ALL_LABELS = "".join(LABELS)
# What is looked for, by its label.
_POSITIVES = {"D": "duplicates", "V": "versions"}

NOT_PROPOSED = "not_proposed"
OUTCOMES = (*(str(kind) for kind in VerdictKind), NOT_PROPOSED)
# Ten bins of equal width, the last one with 1.0 (Guo and others, On calibration of modern neural networks, 2017).
EDGES = tuple(place / 10 for place in range(11))
_BINS = len(EDGES) - 1
_STEP = 0.05
# Scores are rounded when they are stored and read: 7/10 reaches the threshold 0.7.
_TOLERANCE = 1e-9

NumbersByName = dict[str, float | int | list[float] | None]


# ---- scores -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A labelled pair: its articles by any ids, the later one's day, its label, and how many pairs it represents."""

    articles: tuple[str, str]
    date: datetime.date
    label: str
    weight: float


def point_score(labels: Sequence[str], weights: Sequence[float], called: Sequence[bool]) -> tuple[float, float, float]:
    """Return the precision, recall and F1 that score_numbers() rounds, without intervals; 0 for a share of nothing."""
    sums = _parts(labels, weights, called, "D", COUNTED).sum(axis=1, keepdims=True)
    precision, recall, f1, _ = map(float, _shares(sums)[:, 0])
    return precision, recall, f1


def _parts(
    labels: Sequence[str], weights: Sequence[float], called: Sequence[bool], positive: str, counted: str
) -> Floats:
    """Return the rows that _shares explains, one column a counted pair."""
    places = [place for place, label in enumerate(labels) if label in counted]
    answers = np.asarray(labels)[places] if places else np.empty(0, dtype=np.str_)
    amounts = np.asarray(weights, dtype=np.float64)[places]
    calls = np.asarray(called, dtype=np.bool_)[places]
    right, template = answers == positive, answers == "T"
    return np.stack([right, calls, right & calls, template, template & calls]) * amounts


def _shares(totals: Floats) -> Floats:
    """Return precision, recall, F1 and templates called, from rows: duplicates, called, both, templates, both."""
    duplicates, called, true, templates, false = totals
    return np.stack([*precision_recall_f1(duplicates, called, true), ratio(false, templates)])


def precision_recall_f1(duplicates: Floats, called: Floats, true: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the measures from weights: of the duplicates, of the pairs called so, and of those that are both."""
    precision, recall = ratio(true, called), ratio(true, duplicates)
    return precision, recall, ratio(2 * precision * recall, precision + recall)


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict on a labelled pair and its probability of a duplicate; both are None if no pass proposed the pair.

    `features` are what another model needs to answer. `asked` is False if no pass proposed the pair or a rule judged
    it: then its answer is the same by every model.
    """

    label: str
    weight: float
    days: int
    verdict: str | None = None
    probability: float | None = None
    features: tuple[float, ...] | None = None
    asked: bool = False


def numbers_of(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return all numbers on the verdicts: shares in 0..1, None for a share of nothing, and 95% intervals."""
    labels, weights = [answer.label for answer in answers], [answer.weight for answer in answers]
    duplicates = [answer.verdict == VerdictKind.DUPLICATE for answer in answers]
    versions = [answer.verdict == VerdictKind.VERSION for answer in answers]
    return {
        "verdict": score_numbers(labels, weights, duplicates),
        "versions_as_negatives": score_numbers(labels, weights, duplicates, counted=ALL_LABELS),
        "version_verdict": score_numbers(labels, weights, versions, positive="V", counted=ALL_LABELS),
        "confusion": confusion(answers),
        "calibration": {
            "versions_left_out": _calibration_numbers([answer for answer in answers if answer.label in COUNTED]),
            "versions_as_negatives": _calibration_numbers(answers),
        },
    }


def score_numbers(
    labels: Sequence[str],
    weights: Sequence[float],
    calls: Sequence[bool],
    *,
    positive: str = "D",
    counted: str = COUNTED,
) -> NumbersByName:
    """Return precision, recall and F1, each with its interval; for duplicates, also the share of templates called so.

    Weighted; `calls` says which pairs were called duplicates. Pairs whose label is not among those `counted` are left
    out. A pair that was never proposed counts as not called. To score the version verdict, `positive` is V and `calls`
    says which pairs were called versions.
    """
    kept = [(label, call) for label, call in zip(labels, calls, strict=True) if label in counted]
    positives = sum(label == positive for label, _ in kept)
    templates = sum(label == "T" for label, _ in kept)
    called = sum(call for _, call in kept)
    wholes = (called, positives, positives or called, templates)
    found = zip(MEASURES, wholes, estimates(_parts(labels, weights, calls, positive, counted), _shares), strict=True)
    result: NumbersByName = {"pairs": len(kept), _POSITIVES[positive]: positives, "called": called}
    for (name, _), whole, estimate in found if positive == "D" else islice(found, 3):
        result.update(with_interval(name, estimate, known=bool(whole)))
    return result


def with_interval(name: str, estimate: Estimate | None, *, known: bool = True) -> NumbersByName:
    """Return a number and its interval; None for both if there is nothing that it is a share of."""
    if estimate is None or not known:
        return {name: None, f"{name}_interval": None}
    return {name: round(estimate.value, 4), f"{name}_interval": [round(estimate.low, 4), round(estimate.high, 4)]}


# ---- confusion ---------------------------------------------------------------------------------------


def confusion(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return, for each label, its pairs, their weight, and the shares of it that got each verdict or none."""
    amounts = np.array([answer.weight for answer in answers], dtype=np.float64)
    labelled = np.array([[answer.label == label for answer in answers] for label in LABELS], dtype=np.bool_)
    judged = np.array(
        [[(answer.verdict or NOT_PROPOSED) == outcome for answer in answers] for outcome in OUTCOMES], dtype=np.bool_
    )
    both = labelled[:, None, :] & judged[None, :, :]
    shares = iter(estimates((both * amounts).reshape(len(LABELS) * len(OUTCOMES), len(amounts)), _shares_of_labels))
    return {
        label: {
            "pairs": (pairs := int(labelled[row].sum())),
            "weight": round(sum(answer.weight for answer in answers if answer.label == label), 4),
        }
        | {
            outcome: {"pairs": int(both[row, column].sum()), **with_interval("share", next(shares), known=pairs > 0)}
            for column, outcome in enumerate(OUTCOMES)
        }
        for row, label in enumerate(LABELS)
    }


def _shares_of_labels(sums: Floats) -> Floats:
    """Return each cell's share of its label, from the sums of all cells."""
    cells = sums.reshape(len(LABELS), len(OUTCOMES), -1)
    wholes = np.broadcast_to(cells.sum(axis=1, keepdims=True), cells.shape)
    return ratio(cells, wholes).reshape(sums.shape)


# ---- calibration -------------------------------------------------------------------------------------


def _calibration_numbers(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return how honest the probabilities of proposed pairs are, weighted and not; the others have none."""
    proposed = [answer for answer in answers if answer.probability is not None]
    return {
        "pairs": len(proposed),
        "weighted": calibration(proposed),
        "unweighted": calibration([replace(answer, weight=1.0) for answer in proposed]),
    }


def calibration(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return whether probabilities are honest: of the pairs called 80% probable, 80% should be duplicates.

    The expected calibration error is the difference between the mean probability and the share of duplicates in a bin,
    averaged over the bins by their weight. The Brier score is the mean squared difference between probability (0..1)
    and answer (0 or 1). Both are 0 at best, and None if there are no pairs.
    """
    guesses = np.array([answer.probability for answer in answers], dtype=np.float64)
    truths = np.array([answer.label == "D" for answer in answers], dtype=np.float64)
    amounts = np.array([answer.weight for answer in answers], dtype=np.float64)
    inside = np.searchsorted(EDGES[1:-1], guesses, side="right") == np.arange(_BINS)[:, None]
    rows = [inside * amounts, inside * amounts * guesses, inside * amounts * truths]
    parts = np.concatenate([*rows, [amounts * (guesses - truths) ** 2, amounts]])
    error, brier = estimates(parts, _errors)
    weight, probability, duplicates = np.split(parts[: 3 * _BINS].sum(axis=1), 3)
    return {
        **with_interval("ece", error, known=bool(answers)),
        **with_interval("brier", brier, known=bool(answers)),
        "bins": [
            {
                "from": EDGES[place],
                "to": EDGES[place + 1],
                "pairs": int(inside[place].sum()),
                "weight": round(float(weight[place]), 4),
                "mean_probability": _mean(probability[place], weight[place]),
                "duplicates": _mean(duplicates[place], weight[place]),
            }
            for place in range(_BINS)
        ],
    }


def _mean(total: float, weight: float) -> float | None:
    return round(float(total / weight), 4) if weight else None


def _errors(sums: Floats) -> Floats:
    """Return the expected calibration error and the Brier score from the sums of the rows of calibration()."""
    probability, duplicates = sums[_BINS : 2 * _BINS], sums[2 * _BINS : 3 * _BINS]
    squared, weight = sums[-2:]
    return np.stack([ratio(np.abs(probability - duplicates).sum(axis=0), weight), ratio(squared, weight)])


# ---- thresholds --------------------------------------------------------------------------------------


def grid(lowest: float, *own: float) -> list[float]:
    """Return thresholds _STEP apart from the first one that is at least `lowest` up to 1, and those of one's own."""
    steps = range(int(np.ceil(round(lowest / _STEP, 6))), round(1 / _STEP) + 1)
    return sorted({*(round(step * _STEP, 2) for step in steps), *own})


def threshold_curve(
    labels: Sequence[str], weights: Sequence[float], scores: Sequence[float | None], thresholds: Sequence[float]
) -> list[dict[str, Any]]:
    """Return precision, recall and F1 if every pair with at least this score is called a duplicate, for each threshold.

    A pair without a score is never called. Weighted; pairs whose label is not COUNTED are left out. The intervals are
    those of score_numbers().
    """
    kept = [place for place, label in enumerate(labels) if label in COUNTED]
    right = np.array([labels[place] == "D" for place in kept], dtype=np.bool_)
    amounts = np.array([weights[place] for place in kept], dtype=np.float64)
    known = np.array([-1.0 if (value := scores[place]) is None else value for place in kept], dtype=np.float64)
    calls = known >= np.asarray(thresholds, dtype=np.float64)[:, None] - _TOLERANCE
    found = estimates(np.concatenate([right[None], calls, calls & right]) * amounts, _shares_of_thresholds)
    count, duplicates = len(thresholds), bool(right.any())
    return [
        {
            "threshold": threshold,
            "called": (called := int(calls[place].sum())),
            **with_interval("precision", found[place], known=called > 0),
            **with_interval("recall", found[count + place], known=duplicates),
            **with_interval("f1", found[2 * count + place], known=duplicates or called > 0),
        }
        for place, threshold in enumerate(thresholds)
    ]


def _shares_of_thresholds(sums: Floats) -> Floats:
    """Return precision, recall and F1 of each threshold, from the sums: duplicates, then called, then both."""
    duplicates, (called, true) = sums[:1], np.split(sums[1:], 2)
    return np.concatenate(precision_recall_f1(np.broadcast_to(duplicates, true.shape), called, true))


# ---- cross-validation that leaves dates out ------------------------------------------------------------


def date_folds(pairs: Sequence[LabelledPair], count: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield training and test places for `count` blocks of dates with about the same number of pairs each.

    Each block is the test set once. A pair that shares an article with the test set is not used for training. Folds
    without training pairs are skipped.
    """
    order = np.array(sorted(range(len(pairs)), key=lambda place: pairs[place].date), dtype=np.int64)
    starts = _starts([pairs[place].date for place in order], count)
    for fold in range(count):
        test = order[starts[fold] : starts[fold + 1]]
        tested = {article for place in test for article in pairs[place].articles}
        rest = np.concatenate([order[: starts[fold]], order[starts[fold + 1] :]])
        train = np.array([place for place in rest if not tested & set(pairs[place].articles)], dtype=np.int64)
        if len(train) and len(test):
            yield train, test


def _starts(days: Sequence[datetime.date], count: int) -> list[int]:
    """Return where `count` blocks of about equal size start among ascending days, and the end; no day is split."""
    bounds = [len(days) * block // count for block in range(1, count)]
    return [0, *(bisect_left(days, days[bound]) for bound in bounds), len(days)] if days else [0] * (count + 1)


def cross_validate(
    pairs: Sequence[LabelledPair], rows: Sequence[Sequence[float]], *, folds: int = 6
) -> dict[int, float]:
    """Return, for each tested place, the duplicate probability given by a model that did not see its dates."""
    found: dict[int, float] = {}
    for train, test in date_folds(pairs, folds):
        known = [pairs[place] for place in train]
        model = fit([rows[place] for place in train], [pair.label for pair in known], [pair.weight for pair in known])
        found |= {place: model.probabilities(rows[place]).duplicate for place in test.tolist()}
    return found

"""How good verdicts are: weighted precision and recall with intervals; cross-validation that leaves dates out. Pure."""

from __future__ import annotations

import datetime
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dedup.detection.verdicts.model import VerdictModel, fit
from dedup.research.precision import Estimate, Floats, estimates, ratio

# D is positive, T, E and N are negative; V is left out unless it is asked for.
COUNTED = "DTEN"

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A labelled pair: its articles by any ids, the later one's day, its label, and how many pairs it represents."""

    articles: tuple[str, str]
    date: datetime.date
    label: str
    weight: float


@dataclass(frozen=True, slots=True)
class Score:
    """How well the pairs called duplicates agree with the labels, weighted. `templates`: the share of T called so."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    templates: Estimate


def score(
    labels: Sequence[str],
    weights: Sequence[float],
    called: Sequence[bool],
    *,
    positive: str = "D",
    counted: str = COUNTED,
) -> Score:
    """Return the score of verdicts; `called` says which pairs were called duplicates.

    Pairs whose label is not among those `counted` are left out. A pair that was never proposed counts as not called. A
    share of nothing is 0. To score the version verdict, `positive` is V and `called` says which pairs were called
    versions.
    """
    return Score(*estimates(_parts(labels, weights, called, positive, counted), _shares))


def point_score(labels: Sequence[str], weights: Sequence[float], called: Sequence[bool]) -> tuple[float, float, float]:
    """Return the precision, recall and F1 of score(), without intervals."""
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


def date_folds(
    pairs: Sequence[LabelledPair], count: int, *, forward: bool = False
) -> Iterator[tuple[Indices, Indices]]:
    """Yield training and test places for `count` blocks of dates with about the same number of pairs each.

    Each block is the test set once; `forward` trains on earlier blocks only, and tests the later half of the blocks.
    A pair that shares an article with the test set is not used for training. Folds without training pairs are skipped.
    """
    order = np.array(sorted(range(len(pairs)), key=lambda place: pairs[place].date), dtype=np.int64)
    starts = _starts([pairs[place].date for place in order], count)
    for fold in range(count // 2 if forward else 0, count):
        test = order[starts[fold] : starts[fold + 1]]
        tested = {article for place in test for article in pairs[place].articles}
        rest = order[: starts[fold]] if forward else np.concatenate([order[: starts[fold]], order[starts[fold + 1] :]])
        train = np.array([place for place in rest if not tested & set(pairs[place].articles)], dtype=np.int64)
        if len(train) and len(test):
            yield train, test


def _starts(days: Sequence[datetime.date], count: int) -> list[int]:
    """Return where `count` blocks of about equal size start among ascending days, and the end; no day is split."""
    bounds = [len(days) * block // count for block in range(1, count)]
    return [0, *(bisect_left(days, days[bound]) for bound in bounds), len(days)] if days else [0] * (count + 1)


def cross_validate(
    pairs: Sequence[LabelledPair], rows: Sequence[Sequence[float]], *, folds: int = 6, forward: bool = False
) -> dict[int, float]:
    """Return, for each tested place, the duplicate probability given by a model that did not see its dates."""
    found: dict[int, float] = {}
    for train, test in date_folds(pairs, folds, forward=forward):
        model = _fitted(pairs, rows, train)
        for place in test.tolist():
            found[place] = model.probabilities(rows[place]).duplicate
    return found


def _fitted(pairs: Sequence[LabelledPair], rows: Sequence[Sequence[float]], places: Indices) -> VerdictModel:
    chosen = places.tolist()
    return fit([rows[at] for at in chosen], [pairs[at].label for at in chosen], [pairs[at].weight for at in chosen])

"""How good verdicts are: weighted precision and recall with intervals; cross-validation that leaves dates out. Pure."""

from __future__ import annotations

import datetime
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dedup.verdicts.model import VerdictModel, fit

# Labels that count: D is positive, the others negative; V is left out.
_COUNTED = frozenset("DTEN")
_RESAMPLES = 2_000
_RESAMPLED_AT_ONCE = 100
_SEED = 20_240_601
_BOUNDS = (0.025, 0.975)

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A labelled pair: its articles by any ids, the later one's day, its label, and how many pairs it represents."""

    articles: tuple[str, str]
    date: datetime.date
    label: str
    weight: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval over resamples of the labelled pairs."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Score:
    """How well the pairs called duplicates agree with the labels, weighted. `templates`: the share of T called so."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    templates: Estimate


def score(labels: Sequence[str], weights: Sequence[float], called: Sequence[bool]) -> Score:
    """Return the score of verdicts; `called` says which pairs were called duplicates, V pairs are left out.

    A pair that was never proposed counts as not called. A share of nothing is 0. The intervals come from a bootstrap
    over pairs with a fixed seed (Efron and Tibshirani, 1993, 13.3).
    """
    counted = [place for place, label in enumerate(labels) if label in _COUNTED]
    answers = np.asarray(labels)[counted]
    amounts = np.asarray(weights, dtype=np.float64)[counted]
    positives = np.asarray(called, dtype=np.bool_)[counted]
    columns = np.stack(
        [answers == "D", positives, (answers == "D") & positives, answers == "T", (answers == "T") & positives]
    )
    parts = columns * amounts
    low, high = np.quantile(_shares(_resampled(parts)), _BOUNDS, axis=1)
    values = _shares(parts.sum(axis=1, keepdims=True))[:, 0]
    return Score(*(Estimate(*map(float, each)) for each in zip(values, low, high, strict=True)))


def _resampled(parts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of the rows over resamples of all pairs, drawn with replacement; one column a resample."""
    pairs = parts.shape[1]
    if not pairs:
        return np.zeros((len(parts), 1))
    dice = np.random.default_rng(_SEED)
    # In parts, which bounds the memory to a hundred numbers a pair.
    steps = range(0, _RESAMPLES, _RESAMPLED_AT_ONCE)
    drawn = (dice.multinomial(pairs, np.full(pairs, 1 / pairs), size=_RESAMPLED_AT_ONCE) for _ in steps)
    return np.concatenate([parts @ counts.T for counts in drawn], axis=1)


def _shares(totals: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return precision, recall, F1 and templates called, from rows: duplicates, called, both, templates, both."""
    duplicates, called, true, templates, false = totals
    precision, recall = _ratio(true, called), _ratio(true, duplicates)
    return np.stack([precision, recall, _ratio(2 * precision * recall, precision + recall), _ratio(false, templates)])


def _ratio(part: npt.NDArray[np.float64], whole: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


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

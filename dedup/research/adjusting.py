"""Adjusts a model to some decisions, and no further than they prove that it helps. Pure.

A few decisions say little, and editors do not decide a random sample. So a model is adjusted in two steps, first by two
numbers, then by all of them. Each step must show on decisions held out from it that it helps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from dedup.detection.verdicts.model import Logistic, ModelError, VerdictModel, fit
from dedup.research.answers import COUNTED
from dedup.research.precision import Floats

# The labels that say yes to a question, and those that say yes or no. For duplicates, versions are neither.
_YES = {"duplicate": "D", "template": "T", "version": "V"}
_ASKED = {"duplicate": COUNTED, "template": "TVEN", "version": "VEN"}
# Platt scaling (Platt, Probabilistic outputs for support vector machines, 1999), drawn towards no change: the normal
# distributions from which the shift and the scale are supposed to come. Chosen on three labelled collections.
_SHIFT_DEVIATION = 1.0
_SCALE_DEVIATION = 0.25
_LEAST_SCALE = 0.1
_STEPS = 50
_TOLERANCE = 1e-9
# Fewer pairs than these adjust the first two numbers alone. Where a hundred pairs adjusted all, the mean gain was the
# same, but one draw in twenty lost much on one of the three collections.
_ENOUGH_FOR_ALL = 200
# Held-out pairs must gain by this many standard errors: 95% sure, one-sided.
_SURE = 1.645
_FOLDS = 5
# With fewer duplicates, or fewer other pairs, the parts of the cross-validation do not have one each.
LEAST_OF_EACH = _FOLDS
_SEED = 20_260_301
_SMALLEST = 1e-9

Places = npt.NDArray[np.int64]


class Extent(StrEnum):
    """How far a model was adjusted."""

    NOTHING = "nothing"
    SCALE = "shift and scale"
    ALL = "all coefficients"


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The model, and how much of the question that was adjusted differs from the prior's."""

    model: VerdictModel
    extent: Extent


@dataclass(frozen=True, slots=True)
class _Pairs:
    question: str
    rows: Floats
    labels: npt.NDArray[np.str_]
    weights: Floats

    def at(self, places: Places) -> _Pairs:
        return _Pairs(self.question, self.rows[places], self.labels[places], self.weights[places])

    @property
    def counted(self) -> Places:
        """Return the places of the pairs whose label says yes or no."""
        return np.flatnonzero(np.isin(self.labels, list(_ASKED[self.question])))

    @property
    def answers(self) -> npt.NDArray[np.bool_]:
        """Return whether each label says yes."""
        return self.labels == _YES[self.question]


Step = Callable[[VerdictModel, _Pairs], VerdictModel]


def adjusted(
    prior: VerdictModel,
    rows: Sequence[Sequence[float]],
    labels: Sequence[str],
    weights: Sequence[float],
    question: str = "duplicate",
) -> Adjusted:
    """Return the prior with one of its questions adjusted to labelled pairs; deterministic.

    The first step shifts and scales what the prior computes, the second one changes every coefficient (fit). A step is
    taken if it lowers the loss of held-out pairs significantly, compared with the step before. Weights count in the
    second step alone, which needs two hundred pairs. Raises ModelError unless there is a yes and a no.
    """
    pairs = _Pairs(
        question, np.asarray(rows, dtype=np.float64), np.asarray(labels), np.asarray(weights, dtype=np.float64)
    )
    steps = ((Extent.SCALE, _scaled), (Extent.ALL, _refitted))
    best, losses = Adjusted(prior, Extent.NOTHING), _losses(prior, pairs.at(pairs.counted))
    for extent, step in steps if len(pairs.counted) >= _ENOUGH_FOR_ALL else steps[:1]:
        model = step(prior, pairs)
        held_out = _held_out_losses(step, prior, pairs)
        gains = losses - held_out
        # By more than chance.
        if len(gains) > 1 and gains.mean() > _SURE * gains.std(ddof=1) / np.sqrt(len(gains)):
            best, losses = Adjusted(model, extent), held_out
    return best


def _held_out_losses(step: Step, prior: VerdictModel, pairs: _Pairs) -> Floats:
    """Return the loss of each counted pair by a model that was adjusted without it."""
    counted = pairs.counted
    found = np.zeros(len(pairs.labels))
    order = np.random.default_rng(_SEED).permutation(counted)
    for fold in range(_FOLDS):
        test = np.sort(order[fold::_FOLDS])
        # Pairs that do not count are always among the training ones.
        train = np.setdiff1d(np.arange(len(pairs.labels)), test)
        try:
            model = step(prior, pairs.at(train))
        except ModelError:  # all of the others have the same answer
            model = prior
        found[test] = _losses(model, pairs.at(test))
    return found[counted]


def _losses(model: VerdictModel, pairs: _Pairs) -> Floats:
    """Return minus the logarithm of the probability that the model gives to each pair's answer."""
    right = np.abs(_chances(_totals(model, pairs)) - ~pairs.answers)
    return -np.log(np.maximum(right, _SMALLEST))


def _totals(model: VerdictModel, pairs: _Pairs) -> Floats:
    asked = model.questions[pairs.question]
    return asked.intercept + pairs.rows @ np.asarray(asked.coefficients)


def _chances(totals: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(totals, -500, 500))), dtype=np.float64)


# ---- steps -----------------------------------------------------------------------------------------


def _scaled(prior: VerdictModel, pairs: _Pairs) -> VerdictModel:
    """Return the prior with shift + scale · total in place of each total; Newton's method on a convex loss."""
    counted = pairs.at(pairs.counted)
    answers, totals = counted.answers, _totals(prior, counted)
    if answers.all() or not answers.any():
        raise ModelError(f"adjusting needs at least one {pairs.question} and one pair that is not; decide more pairs")
    columns = np.stack([np.ones_like(totals), totals])
    centre, tightness = np.array([0.0, 1.0]), np.array([_SHIFT_DEVIATION, _SCALE_DEVIATION]) ** -2.0
    found = centre.copy()
    for _ in range(_STEPS):
        chances = _chances(found @ columns)
        gradient = columns @ (chances - answers) + tightness * (found - centre)
        curvature = (columns * (chances * (1 - chances))) @ columns.T + np.diag(tightness)
        # Half a unit at a time, so that a step never lands where all chances are 0 or 1.
        step = np.clip(np.linalg.solve(curvature, gradient), -0.5, 0.5)
        found = found - step
        found[1] = max(found[1], _LEAST_SCALE)
        if np.abs(step).max() < _TOLERANCE:
            break
    shift, scale = map(float, found)
    return _with(prior, pairs.question, prior.questions[pairs.question].times(scale, shift))


def _refitted(prior: VerdictModel, pairs: _Pairs) -> VerdictModel:
    """Return the prior after both steps."""
    start = _scaled(prior, pairs)
    model = fit(pairs.rows.tolist(), pairs.labels.tolist(), pairs.weights.tolist(), prior=start)
    return _with(prior, pairs.question, model.questions[pairs.question])


def _with(prior: VerdictModel, question: str, asked: Logistic) -> VerdictModel:
    return replace(prior, questions={**prior.questions, question: asked})

"""The learning curve: what some decisions on a new corpus do to a model that was fitted on others. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.model import ModelError, VerdictModel
from dedup.research.adjusting import LEAST_OF_EACH, Extent, adjusted
from dedup.research.answers import Answer
from dedup.research.cross import Corpora, Sample, answers_by, fitted_on
from dedup.research.metrics import COUNTED, point_score

SIZES = (0, 20, 50, 100, 200)
DRAWS = 10
# Enough pairs must be left to judge.
_MOST_DRAWN = 0.75


@dataclass(frozen=True, slots=True)
class _Draw:
    """Precision, recall and F1 on the pairs that were not drawn, by the model before and after the decisions."""

    before: tuple[float, float, float]
    after: tuple[float, float, float]
    extent: Extent


def learning_curve(corpora: Corpora) -> dict[str, list[dict[str, Any]]]:
    """Return, for each corpus, how well a model of all other corpora does after 0, 20, 50, 100 and 200 decisions.

    The decisions are drawn from the corpus's labelled pairs that some pass proposed, DRAWS times with fixed seeds: a D
    is confirmed, a T, E or N rejected, and nothing else is known of it. The rest of its labelled pairs are judged,
    weighted; V is left out. Sizes that leave too few pairs are missing. Corpora without others are left out.
    """
    curves: dict[str, list[dict[str, Any]]] = {}
    for name, samples in corpora.items():
        try:
            prior = fitted_on([others for each, others in corpora.items() if each != name])
        except ModelError:
            continue
        curves[name] = _curve(prior, samples)
    return curves


def _curve(prior: VerdictModel, samples: Sequence[Sample]) -> list[dict[str, Any]]:
    open_pairs = [
        place
        for place, each in enumerate(samples)
        if each.asked and each.features is not None and each.answer.label in COUNTED
    ]
    sizes = [size for size in SIZES if size <= len(open_pairs) * _MOST_DRAWN]
    return [
        _point(size, [_drawn(prior, samples, open_pairs, size, seed) for seed in range(DRAWS if size else 1)])
        for size in sizes
    ]


def _drawn(prior: VerdictModel, samples: Sequence[Sample], places: Sequence[int], size: int, seed: int) -> _Draw:
    drawn = set(random.Random(f"{size} {seed}").sample(places, size))  # noqa: S311 - repeatable, not secret
    rest = [each for place, each in enumerate(samples) if place not in drawn]
    model, extent = decided(prior, [samples[place] for place in sorted(drawn)])
    return _Draw(_scored(answers_by(prior, rest)), _scored(answers_by(model, rest)), extent)


def decided(prior: VerdictModel, samples: Sequence[Sample]) -> tuple[VerdictModel, Extent]:
    """Return the prior adjusted to decisions on these pairs; unchanged if they are too few, as in fit_verdicts."""
    labels = ["D" if sample.answer.label == "D" else "N" for sample in samples]
    if min(labels.count("D"), labels.count("N")) < LEAST_OF_EACH:
        return prior, Extent.NOTHING
    found = adjusted(prior, [sample.features or () for sample in samples], labels, [1.0] * len(samples))
    return found.model, found.extent


def _scored(answers: Sequence[Answer]) -> tuple[float, float, float]:
    called = [answer.verdict == VerdictKind.DUPLICATE for answer in answers]
    return point_score([answer.label for answer in answers], [answer.weight for answer in answers], called)


def _point(size: int, draws: Sequence[_Draw]) -> dict[str, Any]:
    before, after = (np.array([getattr(draw, when) for draw in draws]) for when in ("before", "after"))
    change = after[:, 2] - before[:, 2]
    return {
        "decisions": size,
        "draws": len(draws),
        **{name: _spread(after[:, place]) for place, name in enumerate(("precision", "recall", "f1"))},
        "f1_without": _spread(before[:, 2]),
        "f1_change": _spread(change),
        "worse": int((change < 0).sum()),
        "adjusted": {str(extent): sum(draw.extent == extent for draw in draws) for extent in Extent},
    }


def _spread(values: Any) -> dict[str, float]:
    """Return the mean over the draws, their standard deviation, and the smallest and largest of them."""
    numbers = {"mean": values.mean(), "deviation": values.std(), "least": values.min(), "most": values.max()}
    return {name: round(float(value), 4) for name, value in numbers.items()}

"""Models fitted on some corpora and judged on others: the measure of what holds on texts nobody tuned to. Pure."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np

from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.model import ModelError, VerdictModel, fit
from dedup.detection.verdicts.verdict import kind_of
from dedup.research.adjusting import LEAST_OF_EACH, Extent, adjusted
from dedup.research.answers import COUNTED, NEAR_DAYS, Answer, numbers_of, point_score


class FittedOn(StrEnum):
    """Which corpora's labels a model of the table was fitted on."""

    IN_USE = "in use"
    OTHERS = "all others"
    ONE = "one other"
    ALL = "all, with its own"


Corpora = Mapping[str, Sequence[Answer]]


def fitted_on(corpora: Sequence[Sequence[Answer]]) -> VerdictModel:
    """Return the model fitted on all labelled pairs of some corpora, proposed or not. Raises ModelError."""
    known = [sample for samples in corpora for sample in samples if sample.features is not None]
    return fit(
        [sample.features or () for sample in known],
        [sample.label for sample in known],
        [sample.weight for sample in known],
    )


def answers_by(model: VerdictModel, samples: Sequence[Answer]) -> list[Answer]:
    """Return the answers that a model gives."""
    answers = list(samples)
    for place, sample in enumerate(samples):
        if sample.asked and sample.features is not None:
            probabilities = model.probabilities(sample.features)
            kind, _ = kind_of(probabilities, model.threshold)
            answers[place] = replace(sample, verdict=str(kind), probability=probabilities.duplicate)
    return answers


def cross_table(corpora: Corpora) -> dict[str, list[dict[str, Any]]]:
    """Return, for each corpus, the numbers of each model that judges it: that in use, and those of _trained_for."""
    names = list(corpora)
    wanted = dict.fromkeys(sources for name in names for _, sources in _trained_for(name, names))
    models: dict[tuple[str, ...], VerdictModel | ModelError] = {}
    for sources in wanted:
        try:
            models[sources] = fitted_on([corpora[source] for source in sources])
        except ModelError as error:
            models[sources] = error
    return {
        name: [
            _row(FittedOn.IN_USE, (), samples),
            *(_judged(kind, sources, models[sources], samples) for kind, sources in _trained_for(name, names)),
        ]
        for name, samples in corpora.items()
    }


def _trained_for(name: str, names: Sequence[str]) -> Iterator[tuple[FittedOn, tuple[str, ...]]]:
    """Yield the corpora that models are fitted on: all others, each other one alone, and, for comparison, all."""
    others = tuple(other for other in names if other != name)
    if others:
        yield FittedOn.OTHERS, others
    if len(others) > 1:
        yield from ((FittedOn.ONE, (other,)) for other in others)
    yield FittedOn.ALL, tuple(names)


def _judged(
    kind: FittedOn, sources: tuple[str, ...], model: VerdictModel | ModelError, samples: Sequence[Answer]
) -> dict[str, Any]:
    if isinstance(model, ModelError):
        reason = str(model)
        return {"model": str(kind), "fitted_on": list(sources), "reason": reason, "all": None, "within_3_days": None}
    return _row(kind, sources, answers_by(model, samples))


def _row(kind: FittedOn, sources: tuple[str, ...], answers: Sequence[Answer]) -> dict[str, Any]:
    near = [answer for answer in answers if answer.days <= NEAR_DAYS]
    return {
        "model": str(kind),
        "fitted_on": list(sources),
        "reason": None,
        "all": numbers_of(answers),
        "within_3_days": numbers_of(near),
    }


SIZES = (0, 20, 50, 100, 200)
DRAWS = 10
# Enough pairs must be left to judge.
_MOST_DRAWN = 0.75


# Precision, recall and F1 on the pairs that were not drawn, by the model before and after the decisions; and how far it
# was adjusted.
_Shares = tuple[float, float, float]
_Draw = tuple[_Shares, _Shares, Extent]


def learning_curve(corpora: Corpora) -> dict[str, list[dict[str, Any]]]:
    """Return, for each corpus, how well a model of all other corpora does after 0, 20, 50, 100 and 200 decisions.

    The decisions are drawn from the corpus's labelled pairs that some pass proposed, DRAWS times with fixed seeds: a D
    is confirmed, a T, E or N rejected, and nothing else is known of it. The rest of its labelled pairs are judged,
    weighted; V is left out. Sizes that leave too few pairs are missing. Corpora without others are left out.
    """
    curves: dict[str, list[dict[str, Any]]] = {}
    for name, samples in corpora.items():
        try:
            prior = fitted_on([others for other, others in corpora.items() if other != name])
        except ModelError:
            continue
        curves[name] = _curve(prior, samples)
    return curves


def _curve(prior: VerdictModel, samples: Sequence[Answer]) -> list[dict[str, Any]]:
    open_pairs = [
        place
        for place, sample in enumerate(samples)
        if sample.asked and sample.features is not None and sample.label in COUNTED
    ]
    sizes = [size for size in SIZES if size <= len(open_pairs) * _MOST_DRAWN]
    return [
        _point(size, [_drawn(prior, samples, open_pairs, size, seed) for seed in range(DRAWS if size else 1)])
        for size in sizes
    ]


def _drawn(prior: VerdictModel, samples: Sequence[Answer], places: Sequence[int], size: int, seed: int) -> _Draw:
    drawn = set(random.Random(f"{size} {seed}").sample(places, size))  # noqa: S311 - repeatable, not secret
    rest = [sample for place, sample in enumerate(samples) if place not in drawn]
    decided = [samples[place] for place in sorted(drawn)]
    labels = ["D" if sample.label == "D" else "N" for sample in decided]
    model, extent = prior, Extent.NOTHING
    # Too few decisions change nothing, as in fit_verdicts.
    if min(labels.count("D"), labels.count("N")) >= LEAST_OF_EACH:
        found = adjusted(prior, [sample.features or () for sample in decided], labels, [1.0] * len(decided))
        model, extent = found.model, found.extent
    return _scored(answers_by(prior, rest)), _scored(answers_by(model, rest)), extent


def _scored(answers: Sequence[Answer]) -> _Shares:
    called = [answer.verdict == VerdictKind.DUPLICATE for answer in answers]
    return point_score([answer.label for answer in answers], [answer.weight for answer in answers], called)


def _point(size: int, draws: Sequence[_Draw]) -> dict[str, Any]:
    *scores, extents = zip(*draws, strict=True)
    before, after = map(np.array, scores)
    change = after[:, 2] - before[:, 2]
    return {
        "decisions": size,
        "draws": len(draws),
        **{name: _spread(after[:, place]) for place, name in enumerate(("precision", "recall", "f1"))},
        "f1_without": _spread(before[:, 2]),
        "f1_change": _spread(change),
        "worse": int((change < 0).sum()),
        "adjusted": {str(extent): extents.count(extent) for extent in Extent},
    }


def _spread(values: Any) -> dict[str, float]:
    """Return the mean over the draws, their standard deviation, and the smallest and largest of them."""
    numbers = {"mean": values.mean(), "deviation": values.std(), "least": values.min(), "most": values.max()}
    return {name: round(float(value), 4) for name, value in numbers.items()}

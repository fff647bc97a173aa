"""Models fitted on some corpora and judged on another: the measure of what holds on texts nobody tuned to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dedup.detection.verdicts.model import ModelError, VerdictModel, fit
from dedup.detection.verdicts.verdict import kind_of
from dedup.research.answers import NEAR_DAYS, Answer, numbers_of


class FittedOn(StrEnum):
    """Which corpora's labels a model of the table was fitted on."""

    IN_USE = "in use"
    OTHERS = "all others"
    ONE = "one other"
    ALL = "all, with its own"


@dataclass(frozen=True, slots=True)
class Sample:
    """A labelled pair of a corpus: the answer of the model in use, and what another model needs to answer.

    `asked` is False if no pass proposed the pair or a rule judged it: then its answer is the same by every model.
    """

    answer: Answer
    features: tuple[float, ...] | None
    asked: bool


Corpora = Mapping[str, Sequence[Sample]]


def fitted_on(corpora: Sequence[Sequence[Sample]]) -> VerdictModel:
    """Return the model fitted on all labelled pairs of some corpora, proposed or not. Raises ModelError."""
    known = [each for samples in corpora for each in samples if each.features is not None]
    return fit(
        [each.features or () for each in known],
        [each.answer.label for each in known],
        [each.answer.weight for each in known],
    )


def answers_by(model: VerdictModel, samples: Sequence[Sample]) -> list[Answer]:
    """Return the answers that a model gives."""
    return [_answer_by(model, sample) for sample in samples]


def _answer_by(model: VerdictModel, sample: Sample) -> Answer:
    if not sample.asked or sample.features is None:
        return sample.answer
    probabilities = model.probabilities(sample.features)
    kind, _ = kind_of(probabilities, model.threshold)
    return replace(sample.answer, verdict=str(kind), probability=probabilities.duplicate)


def cross_table(corpora: Corpora) -> dict[str, list[dict[str, Any]]]:
    """Return, for each corpus, the numbers of each model that judges it: that in use, and those of _trained_for."""
    names = list(corpora)
    wanted = dict.fromkeys(sources for name in names for _, sources in _trained_for(name, names))
    models = {sources: _fitted([corpora[source] for source in sources]) for sources in wanted}
    return {
        name: [
            _row(FittedOn.IN_USE, (), [sample.answer for sample in samples]),
            *(_judged(kind, sources, models[sources], samples) for kind, sources in _trained_for(name, names)),
        ]
        for name, samples in corpora.items()
    }


def _trained_for(name: str, names: Sequence[str]) -> Iterator[tuple[FittedOn, tuple[str, ...]]]:
    """Yield the corpora that models are fitted on: all others, each other one alone, and, for comparison, all."""
    others = tuple(each for each in names if each != name)
    if others:
        yield FittedOn.OTHERS, others
    if len(others) > 1:
        yield from ((FittedOn.ONE, (other,)) for other in others)
    yield FittedOn.ALL, tuple(names)


def _fitted(corpora: Sequence[Sequence[Sample]]) -> VerdictModel | ModelError:
    try:
        return fitted_on(corpora)
    except ModelError as error:
        return error


def _judged(
    kind: FittedOn, sources: tuple[str, ...], model: VerdictModel | ModelError, samples: Sequence[Sample]
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

"""Models adjusted to decisions: as far as these prove that it helps, and no further."""

import math
import random
from dataclasses import replace

import pytest

from dedup.detection.verdicts.features import FEATURE_NAMES
from dedup.detection.verdicts.model import Logistic, ModelError, VerdictModel, default_model
from dedup.research.adjusting import Extent, adjusted
from tests.dedup.research.made_up_rows import FIRST, SECOND, row


def prior_with(intercept: float, slope: float) -> VerdictModel:
    """Return a model that judges duplicates by one feature."""
    coefficients = tuple(slope if place == FIRST else 0.0 for place in range(len(FEATURE_NAMES)))
    return VerdictModel({**default_model().questions, "duplicate": Logistic(intercept, coefficients)}, threshold=0.4)


def decisions(
    count: int, *, intercept: float, slope: float, second: float = 0.0, seed: int = 7
) -> tuple[list[tuple[float, ...]], list[str], list[float]]:
    """Return random pairs, decided with the probability that a model with these coefficients gives."""
    dice = random.Random(seed)
    rows = [row(dice.random(), dice.random()) for _ in range(count)]
    chances = [
        1 / (1 + math.exp(-(intercept + slope * found_row[FIRST] + second * (found_row[SECOND] - 0.5))))
        for found_row in rows
    ]
    return rows, ["D" if dice.random() < chance else "N" for chance in chances], [1.0] * count


def test_decisions_as_the_prior_gives_them_seldom_change_anything() -> None:
    prior = prior_with(-5.0, 10.0)
    found = [adjusted(prior, *decisions(40, intercept=-5.0, slope=10.0, seed=seed)) for seed in range(40)]
    kept = [outcome for outcome in found if outcome.extent is Extent.NOTHING]
    assert len(kept) >= 35
    assert all(outcome.model == prior for outcome in kept)


def test_a_prior_that_is_too_strict_is_shifted() -> None:
    prior = prior_with(-8.0, 10.0)
    found = adjusted(prior, *decisions(50, intercept=-4.0, slope=10.0))
    asked = found.model.questions["duplicate"]
    assert found.extent is Extent.SCALE
    assert (asked.coefficients[SECOND], found.model.threshold) == (0.0, 0.4)
    assert prior.questions["duplicate"].probability(row(0.6, 0.5)) == pytest.approx(0.119, abs=0.001)
    assert asked.probability(row(0.6, 0.5)) > 0.5
    assert asked.probability(row(0.1, 0.5)) < 0.15
    for name in ("template", "version"):
        assert found.model.questions[name] == prior.questions[name]


def test_few_decisions_move_the_shift_less_than_many() -> None:
    prior = prior_with(-8.0, 10.0)
    moved = [
        adjusted(prior, *decisions(count, intercept=-4.0, slope=10.0))
        .model.questions["duplicate"]
        .probability(row(0.6, 0.5))
        for count in (20, 90)
    ]
    assert 0.119 < moved[0] < moved[1]


def test_other_coefficients_need_two_hundred_decisions() -> None:
    prior = prior_with(-5.0, 10.0)
    many = decisions(200, intercept=-1.0, slope=2.0, second=12.0)
    found = adjusted(prior, *many)
    assert found.extent is Extent.ALL
    assert found.model.questions["duplicate"].coefficients[SECOND] > 2
    few = adjusted(prior, *decisions(199, intercept=-1.0, slope=2.0, second=12.0))
    assert few.extent is not Extent.ALL
    assert few.model.questions["duplicate"].coefficients[SECOND] == 0.0


def test_versions_are_neither_yes_nor_no() -> None:
    prior = prior_with(-8.0, 10.0)
    rows, labels, weights = decisions(50, intercept=-4.0, slope=10.0)
    alone = adjusted(prior, rows, labels, weights)
    assert adjusted(prior, [*rows, row(0.9, 0.5)], [*labels, "V"], [*weights, 1.0]) == alone


def test_one_answer_teaches_nothing() -> None:
    with pytest.raises(ModelError, match="at least one duplicate and one pair that is not; decide more pairs"):
        adjusted(prior_with(-5.0, 10.0), [row(0.9, 0.5)] * 10, ["D"] * 10, [1.0] * 10)


def test_answers_about_templates_adjust_that_question_alone() -> None:
    coefficients = tuple(10.0 if place == FIRST else 0.0 for place in range(len(FEATURE_NAMES)))
    prior = replace(default_model(), questions={**default_model().questions, "template": Logistic(-8.0, coefficients)})
    rows, labels, weights = decisions(80, intercept=-4.0, slope=10.0)
    answers = ["T" if label == "D" else "V" for label in labels]
    found = adjusted(prior, [*rows, row(0.9, 0.5)], [*answers, "D"], [*weights, 1.0], "template")
    assert found.extent is Extent.SCALE
    assert found.model.questions["template"].probability(row(0.6, 0.5)) > 0.5
    assert {name for name, asked in found.model.questions.items() if asked != prior.questions[name]} == {"template"}
    with pytest.raises(ModelError, match="at least one version"):
        adjusted(prior, rows, answers, weights, "version")

"""The sum behind a probability, in steps."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from dedup.detection.verdicts.contributions import GROUPS, MODERATION, START, steps_of
from dedup.detection.verdicts.features import FEATURE_NAMES
from dedup.detection.verdicts.model import QUESTIONS, chance_of, default_model


def test_every_feature_is_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(FEATURE_NAMES)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_steps_add_up_to_the_probability_that_the_model_gives(question: str) -> None:
    choose = random.Random(4)
    asked = default_model().questions[question]
    for _ in range(200):
        features = [choose.choice([0.0, 1.0, choose.random()]) for _ in FEATURE_NAMES]
        steps = steps_of(asked, features)

        assert math.isclose(sum(step.points for step in steps), steps[-1].after, abs_tol=1e-9)
        assert abs(steps[-1].after - asked.moderated(features)) <= 0.00501
        assert abs(steps[-1].chance - asked.probability(features)) < 0.0013
        assert [step.before for step in steps[1:]] == [step.after for step in steps[:-1]]
        assert all(abs(step.points) >= 0.01 for step in steps[1:])
        # Each group has, to a hundredth, its coefficients times its values.
        exact = {
            label: sum(
                asked.coefficients[FEATURE_NAMES.index(name)] * features[FEATURE_NAMES.index(name)] for name in names
            )
            for label, names in GROUPS.items()
        }
        assert all(abs(step.points - exact[step.label]) < 0.01 for step in steps if step.label in exact)
        assert {step.label for step in steps} - exact.keys() <= {START, MODERATION}


def test_the_order_of_the_steps() -> None:
    asked = replace(default_model().questions["duplicate"], covariance=())
    coefficients = dict(zip(FEATURE_NAMES, asked.coefficients, strict=True))
    features = [{"days apart": 0.5, "same headline": 1.0}.get(name, 0.0) for name in FEATURE_NAMES]

    assert [(step.label, step.points) for step in steps_of(asked, features)] == [
        (START, pytest.approx(asked.intercept, abs=0.01)),
        ("Days apart", pytest.approx(coefficients["days apart"] / 2, abs=0.01)),
        ("Headlines", pytest.approx(coefficients["same headline"], abs=0.01)),
    ]
    assert chance_of(0) == 0.5

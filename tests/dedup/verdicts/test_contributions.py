"""What editors see of a probability: the sum behind it, in steps, and percentages that add up to 100."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.detection.verdicts.features import FEATURE_NAMES, FEATURE_PLACES, IDENTITY, SAME_TEASER
from dedup.detection.verdicts.model import QUESTIONS, chance_of, default_model
from dedup.detection.verdicts.reasons import GROUPS, START, SURE, Share, percentage, percentages, shares_of, steps_of


def test_every_feature_is_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(FEATURE_NAMES)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_steps_add_up_to_the_probability_that_the_model_gives(question: str) -> None:
    choose = random.Random(4)
    model = default_model()
    asked = model.questions[question]
    for _ in range(200):
        features = [choose.choice([0.0, 1.0, choose.random()]) for _ in FEATURE_NAMES]
        features[FEATURE_PLACES[IDENTITY]] = choose.choice([0.0, SAME_TEASER])
        steps = steps_of(model, question, features)

        assert math.isclose(sum(step.points for step in steps), steps[-1].after, abs_tol=1e-9)
        assert abs(steps[-1].after - model.total(question, features)) <= 0.00501
        assert abs(steps[-1].chance - chance_of(model.total(question, features))) < 0.0013
        assert [step.before for step in steps[1:]] == [step.after for step in steps[:-1]]
        assert all(abs(step.points) >= 0.01 for step in steps[1:])
        # Each group has, to a hundredth, its coefficients times its values.
        exact = {
            label: sum(
                asked.coefficients[FEATURE_NAMES.index(name)] * features[FEATURE_NAMES.index(name)] for name in names
            )
            for label, names in GROUPS.items()
            if label != SURE
        }
        assert all(abs(step.points - exact[step.label]) < 0.01 for step in steps if step.label in exact)
        assert {step.label for step in steps} - exact.keys() <= {START, SURE}


def test_the_order_of_the_steps() -> None:
    asked = default_model().questions["duplicate"]
    coefficients = dict(zip(FEATURE_NAMES, asked.coefficients, strict=True))
    features = [{"days apart": 0.5, "same headline": 1.0}.get(name, 0.0) for name in FEATURE_NAMES]

    assert [(step.label, step.points) for step in steps_of(default_model(), "duplicate", features)] == [
        (START, pytest.approx(asked.intercept, abs=0.01)),
        ("Days apart", pytest.approx(coefficients["days apart"] / 2, abs=0.01)),
        ("Headlines", pytest.approx(coefficients["same headline"], abs=0.01)),
    ]
    assert chance_of(0) == 0.5


@pytest.mark.parametrize(
    ("probabilities", "written"),
    [
        ([0.496, 0.45, 0.054], ["49%", "45%", "6%"]),
        ([0.494, 0.454, 0.049, 0.003], ["49%", "45%", "5%", "under 1%"]),
        ([0.5, 0.495, 0.005], ["50%", "49%", "under 1%"]),
        ([0.9999, 0.0001], ["99%", "under 1%"]),
        ([1.0, 0.0, 0.0], ["100%", "0%", "0%"]),
        ([0.29, 0.71], ["29%", "71%"]),
    ],
)
def test_percentages_add_up(probabilities: list[float], written: list[str]) -> None:
    assert percentages(probabilities) == written


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=4).filter(any))
def test_whatever_they_are(weights: list[int]) -> None:
    probabilities = [weight / sum(weights) for weight in weights]
    written = percentages(probabilities)
    whole = sum(int(text[:-1]) for text in written if text != "under 1%")

    small = written.count("under 1%")
    assert 100 - small <= whole <= 100 - bool(small)
    assert written[0] == percentage(probabilities[0])
    for probability, text in zip(probabilities, written, strict=True):
        assert text == "under 1%" or abs(int(text[:-1]) - probability * 100) < 3


def test_the_parts_of_a_bar_touch_and_what_is_impossible_is_left_out() -> None:
    assert shares_of({"a": "duplicate", "b": "version", "c": "other"}, [0.25, 0.0, 0.75]) == [
        Share("a", "duplicate", "25%", "0.00", "25.00"),
        Share("c", "other", "75%", "25.00", "75.00"),
    ]

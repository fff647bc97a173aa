"""The model behind the verdicts: how it is stored, fitted and refused, and how sure it is."""

import json
import random

import numpy as np
import pytest

from dedup.detection.verdicts.features import FEATURE_NAMES, FEATURES
from dedup.detection.verdicts.model import (
    QUESTIONS,
    Logistic,
    ModelError,
    VerdictModel,
    default_model,
    dump_model,
    fit,
    load_model,
)

STORED = dump_model(default_model())


def random_rows(count: int) -> tuple[list[tuple[float, ...]], list[str]]:
    """Return rows of features in which contained articles are duplicates and replaced numbers make templates."""
    dice = random.Random(4)
    contained, replaced = (
        FEATURE_NAMES.index("fresh phrases contained"),
        FEATURE_NAMES.index("numbers replaced in the same newspaper"),
    )
    rows, labels = [], []
    for _ in range(count):
        row = [dice.random() for _ in FEATURE_NAMES]
        row[FEATURE_NAMES.index("phrases contained")] = row[contained]
        row[FEATURE_NAMES.index("series unknown")] = 0.0
        rows.append(tuple(row))
        labels.append(
            "T" if row[replaced] > 0.7 else "D" if row[contained] > 0.5 else "V" if row[contained] > 0.3 else "E"
        )
    return rows, labels


def test_the_shipped_model_is_readable_and_complete() -> None:
    model = default_model()
    assert load_model(dump_model(model)) == model
    assert model.version
    assert set(model.learnt_from) == set("DVTEN")
    for name in QUESTIONS:
        for feature, value in zip(FEATURES, model.questions[name].coefficients, strict=True):
            sign = feature.sign(name)
            assert value == 0 if sign is None else value * sign >= 0, (name, feature.name)


@pytest.mark.parametrize(
    ("coefficient", "feature", "variance", "plain", "moderated", "unlike"),
    [
        (1.0, 1.0, 3.0, 0.8808, 0.7950, False),
        (1.0, 2.0, 9.0, 0.9526, 0.8036, True),
        (10.0, 2.0, 9.0, 1.0, 0.9999, False),  # there is nothing to say of a probability that stays next to 1
    ],
)
def test_the_probability_of_an_unlike_pair_is_drawn_towards_one_half(
    coefficient, feature, variance, plain, moderated, unlike
) -> None:
    rest = (0.0,) * (len(FEATURES) - 1)
    asked = Logistic(1.0, (coefficient, *rest), covariance=((1.0,), (0.0, 2.0)), places=(0,))
    model = VerdictModel({**default_model().questions, "duplicate": asked})
    row = (feature, *rest)
    assert asked.variance(row) == variance
    assert asked.plain_probability(row) == pytest.approx(plain, abs=0.0001)
    probability = model.probabilities(row).duplicate
    assert probability == pytest.approx(moderated, abs=0.0001)
    assert model.unlike(row, probability) == unlike


def test_a_fitted_covariance_is_stored_with_the_model() -> None:
    rows, labels = random_rows(300)
    model = fit(rows, labels, [1.0] * 300)
    again = load_model(dump_model(model)).questions["duplicate"]
    assert again.variance(rows[0]) == pytest.approx(model.questions["duplicate"].variance(rows[0]), rel=0.01)


def test_the_covariance_is_that_of_fitted_models_over_resamples() -> None:
    """The spread of the totals that 12 resamples give is about the one that the covariance of a single fit promises."""
    rows, labels = random_rows(400)
    dice = random.Random(11)
    totals = []
    for _ in range(12):
        drawn = [dice.randrange(400) for _ in range(400)]
        asked = fit([rows[place] for place in drawn], [labels[place] for place in drawn], [1.0] * 400).questions[
            "duplicate"
        ]
        totals.append([asked.intercept + np.dot(asked.coefficients, row) for row in rows[:40]])
    promised = np.mean([fit(rows, labels, [1.0] * 400).questions["duplicate"].variance(row) for row in rows[:40]])
    assert 0.3 < np.mean(np.var(totals, axis=0)) / promised < 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", r"not a verdict model \(KeyError\('format'\)\); fit it again"),
        ("[", "not a verdict model"),
        ('{"format": 7}', r"format 7, not 1; fit"),
        (STORED.replace("days apart", "nights apart"), r"\(days apart, nights apart\); fit"),
        (
            STORED.replace('"covariance": [', '"covariance": ["1 2",', 1),
            r"'duplicate' does not fit its \d+ coefficients",
        ),
    ],
    ids=["empty", "no JSON", "format", "features", "covariance"],
)
def test_a_model_that_cannot_be_used_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load_model(text)


def test_a_stored_model_may_name_removed_features_without_weight() -> None:
    document = json.loads(STORED)
    for question in document["questions"].values():
        question["coefficients"] |= {"words kept": 0.0, "numbers replaced on another day": 0.0}
    assert load_model(json.dumps(document)) == default_model()

    document["questions"]["template"]["coefficients"]["numbers replaced on another day"] = 0.02
    message = r"features for 'template' .*\(numbers replaced on another day\); fit"
    with pytest.raises(ModelError, match=message):
        load_model(json.dumps(document))


def test_fitting_finds_the_features_behind_the_labels_and_keeps_the_signs() -> None:
    rows, labels = random_rows(600)
    model = fit(rows, labels, [1.0] * 600)
    assert model.learnt_from == {label: labels.count(label) for label in "DVTEN"}
    duplicate = dict(zip(FEATURE_NAMES, model.questions["duplicate"].coefficients, strict=True))
    assert duplicate["fresh phrases contained"] > 5
    assert duplicate["numbers replaced in the same newspaper"] < -5
    assert all(
        value * (feature.duplicate or 0) >= 0 for value, feature in zip(duplicate.values(), FEATURES, strict=True)
    )
    assert duplicate["words kept"] == 0
    called = [model.probabilities(row).duplicate >= 0.5 for row in rows]
    right = [answer == (label == "D") for answer, label in zip(called, labels, strict=True) if label != "V"]
    assert sum(right) / len(right) > 0.9
    assert fit(rows, labels, [1.0] * 600) == model


def test_decisions_with_only_two_answers_are_enough_to_fit() -> None:
    rows, labels = random_rows(60)
    model = fit(rows, ["D" if label == "D" else "N" for label in labels], [1.0] * 60)
    assert model.questions["template"] == default_model().questions["template"]


def test_a_few_decisions_move_a_prior_model_a_little() -> None:
    rows, labels = random_rows(8)
    labels = ["D" if label == "D" else "N" for label in labels]
    before, drawn, alone = (
        np.array(model.questions["duplicate"].coefficients)
        for model in (default_model(), fit(rows, labels, [1.0] * 8, default_model()), fit(rows, labels, [1.0] * 8))
    )
    assert np.linalg.norm(drawn - before) < np.linalg.norm(alone - before)


@pytest.mark.parametrize(
    ("labels", "weights", "message"),
    [
        (["D", "T"], [1.0], "2 rows, 2 labels and 1 weights; give as many of each"),
        (["D", "X"], [1.0, 1.0], r"unknown labels: X; .* D, V, T, E, N"),
        (["D", "T"], [1.0, 0.0], r"weight 0\.0 .* above 0; .* leave it out"),
        (["D", "V"], [1.0, 1.0], "at least one duplicate .*; label more pairs"),
    ],
)
def test_bad_training_data_is_refused(labels: list[str], weights: list[float], message: str) -> None:
    rows, _ = random_rows(2)
    with pytest.raises(ModelError, match=message):
        fit(rows, labels, weights)

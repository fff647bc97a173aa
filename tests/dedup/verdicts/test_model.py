"""The model behind the verdicts: how it is stored, fitted and refused."""

import json
import random

import numpy as np
import pytest

from dedup.detection.verdicts.features import FEATURE_NAMES, FEATURES, IDENTITY
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
    contained, replaced = FEATURE_NAMES.index("fresh phrases contained"), FEATURE_NAMES.index("numbers replaced")
    rows, labels = [], []
    for _ in range(count):
        row = [dice.random() for _ in FEATURE_NAMES]
        row[FEATURE_NAMES.index("phrases contained")] = row[contained]
        row[FEATURE_NAMES.index("series unknown")] = row[FEATURE_NAMES.index(IDENTITY)] = 0.0
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
            sign = getattr(feature, name)
            assert value == 0 if sign is None else value * sign >= 0, (name, feature.name)


@pytest.mark.parametrize(
    ("chance", "identity", "duplicate"), [(-9.0, 2.0, 0.8808), (3.0, 2.0, 0.9526), (-9.0, 0.0, 0.0001)]
)
def test_identity_makes_a_duplicate_and_lowers_no_probability(chance: float, identity: float, duplicate: float) -> None:
    never = Logistic(chance, (0.0,) * len(FEATURES))
    model = VerdictModel(dict.fromkeys(QUESTIONS, never))
    found = model.probabilities([identity * (name == IDENTITY) for name in FEATURE_NAMES])
    assert found.duplicate == pytest.approx(duplicate, abs=0.0001)
    assert found.template == pytest.approx((1 - found.duplicate) * never.probability(()), abs=0.0001)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", r"not a verdict model \(KeyError\('format'\)\); fit it again"),
        ("[", "not a verdict model"),
        ('{"format": 7}', r"format 7, not 1; fit"),
        (STORED.replace("days apart", "nights apart"), r"\(days apart, nights apart\); fit"),
    ],
    ids=["empty", "no JSON", "format", "features"],
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
    assert duplicate["numbers replaced"] < -5
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

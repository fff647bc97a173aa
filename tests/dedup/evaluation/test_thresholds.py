"""Precision, recall and F1 by threshold: against counts one by one, and on cases counted by hand."""

from __future__ import annotations

import random

import pytest

from dedup.research.answers import grid, threshold_curve
from dedup.research.metrics import score


def test_each_threshold_counts_the_pairs_from_that_score_on() -> None:
    labels, weights = "DDTNVD", [3.0, 1.0, 2.0, 4.0, 9.0, 1.0]
    scores = [0.9, 0.5, 0.7, None, 1.0, None]
    low, middle, high = threshold_curve(labels, weights, scores, [0.5, 0.7, 0.95])
    assert (low.pairs, low.precision.value, low.recall.value) == (3, pytest.approx(4 / 6), pytest.approx(4 / 5))
    assert low.f1.value == pytest.approx(8 / 11)
    assert (middle.pairs, middle.precision.value, middle.recall.value) == (
        2,
        pytest.approx(3 / 5),
        pytest.approx(3 / 5),
    )
    assert (high.pairs, high.precision, high.recall.value, high.f1.value) == (0, None, 0.0, 0.0)
    assert threshold_curve("TV", [1, 1], [0.9, 0.9], [0.5])[0].recall is None
    (nothing,) = threshold_curve("", [], [], [0.5])
    assert (nothing.pairs, nothing.precision, nothing.recall, nothing.f1) == (0, None, None, None)


def test_a_score_that_is_the_threshold_reaches_it_however_it_was_rounded() -> None:
    (point,) = threshold_curve("D", [1], [0.7 - 1e-12], [0.7])
    assert point.pairs == 1


@pytest.mark.parametrize("seed", [11, 12])
def test_a_curve_has_the_numbers_and_intervals_of_one_score_after_another(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    labels = dice.choices("DVTEN", k=60)
    weights = [dice.choice((1.0, 2.5, 40.0)) for _ in labels]
    scores = [dice.choice((None, round(dice.random(), 3))) for _ in labels]
    thresholds = grid(0.3, 0.42)
    for threshold, point in zip(thresholds, threshold_curve(labels, weights, scores, thresholds), strict=True):
        alone = score(labels, weights, [each is not None and each >= threshold for each in scores])
        for found, expected in ((point.precision, alone.precision), (point.recall, alone.recall), (point.f1, alone.f1)):
            assert found is None or (found.value, found.low, found.high) == pytest.approx(
                (expected.value, expected.low, expected.high)
            )


def test_thresholds_are_five_hundredths_apart_with_ones_own_among_them() -> None:
    assert grid(0.75, 0.82) == [0.75, 0.8, 0.82, 0.85, 0.9, 0.95, 1.0]
    assert grid(1.0, 1.0) == [1.0]
    assert grid(0.3)[:2] == [0.3, 0.35]

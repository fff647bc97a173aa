"""Calibration, against numbers that were worked out by hand."""

from __future__ import annotations

import random

import pytest

from dedup.research.answers import Bin, calibration
from dedup.research.precision import Estimate


def test_errors_and_bins_are_those_worked_out_by_hand() -> None:
    found = calibration([0.05, 0.05, 0.95, 0.85], [False, True, True, True], [3.0, 1.0, 2.0, 2.0])
    # Bins: |0.05 - 1/4| · 4/8 + |0.85 - 1| · 2/8 + |0.95 - 1| · 2/8
    assert found.error.value == pytest.approx(0.15)
    # (3 · 0.05² + 0.95² + 2 · 0.05² + 2 · 0.15²) / 8
    assert found.brier.value == pytest.approx(0.12)
    assert found.bins[0] == Bin(0.0, 0.1, 2, 4.0, pytest.approx(0.05), pytest.approx(0.25))
    assert found.bins[8] == Bin(0.8, 0.9, 1, 2.0, pytest.approx(0.85), 1.0)
    assert found.bins[9] == Bin(0.9, 1.0, 1, 2.0, pytest.approx(0.95), 1.0)
    assert found.bins[4] == Bin(0.4, 0.5, 0, 0.0, None, None)


def test_a_bin_has_its_lower_bound_and_the_last_one_both() -> None:
    found = calibration([0.0, 0.1, 0.3, 0.7, 1.0], [True] * 5, [1.0] * 5)
    assert [each.pairs for each in found.bins] == [1, 1, 0, 1, 0, 0, 0, 1, 0, 1]


def test_the_share_of_duplicates_is_the_best_probability() -> None:
    dice = random.Random(5)
    probabilities = [dice.choice((0.15, 0.65, 0.95)) for _ in range(6_000)]
    answers = [dice.random() < probability for probability in probabilities]
    honest = calibration(probabilities, answers, [1.0] * 6_000)
    boastful = calibration([min(1.0, each + 0.1) for each in probabilities], answers, [1.0] * 6_000)
    assert honest.error.value < 0.02
    assert 0.06 < boastful.error.low < boastful.error.value < boastful.error.high < 0.11
    assert honest.brier.value < boastful.brier.value


def test_no_pairs_have_no_error() -> None:
    found = calibration([], [], [])
    assert found.error == found.brier == Estimate(0.0, 0.0, 0.0)
    assert {each.pairs for each in found.bins} == {0}

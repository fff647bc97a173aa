"""Threshold advice: on cases counted by hand, and against a plain count over all decided pairs."""

import random
from collections import Counter

import pytest

from dedup.research.advice import DecidedPair, advice, band_of
from dedup.research.precision import weighted_precision


def decided(score: float, right: int, wrong: int, verdict: str = "duplicate") -> list[DecidedPair]:
    return [DecidedPair(score, verdict, place < right) for place in range(right + wrong)]


def test_too_few_decisions_are_named_and_nothing_is_advised() -> None:
    found = advice(decided(0.82, 7, 0), {(16, "duplicate"): 100}, 0.95)
    assert (found.says, found.advised, found.pairs) == ("too few decisions: 7 of the 30 needed", None, 100)
    nothing = advice([], {}, 0.95)
    assert (nothing.says, nothing.uncovered) == ("too few decisions: 0 of the 30 needed", 0.0)


def test_the_lowest_score_that_is_right_often_enough_is_advised() -> None:
    pairs = [*decided(0.61, 10, 10), *decided(0.7, 18, 2), *decided(0.93, 40, 0)]
    proposed = {(12, "duplicate"): 20, (14, "duplicate"): 20, (18, "duplicate"): 40}
    found = advice(pairs, proposed, 0.95)
    step = found.advised
    assert step is not None
    assert (found.says, step.threshold, step.decided, step.pairs) == ("from 0.65 on", 0.65, 60, 60)
    assert (step.precision, step.kept) == (pytest.approx(58 / 60), pytest.approx(58 / 68))
    assert (found.decided, found.duplicates, found.uncovered) == (80, 68, 0.0)
    assert advice(pairs, proposed, 0.8).says == "all its scores reach 80%"
    assert advice(decided(0.7, 18, 22), {}, 0.95).says == "none reaches 95%; best 45% from 0.70"


def test_a_decided_pair_stands_for_the_proposed_pairs_of_its_score_and_verdict() -> None:
    # Editors decided all of the 20 doubtful pairs, half of which are wrong, and only a tenth of the clear ones.
    pairs = [*decided(0.7, 10, 10, "template"), *decided(0.7, 20, 0)]
    found = advice(pairs, {(14, "template"): 20, (14, "duplicate"): 200, (15, "duplicate"): 20}, 0.9)
    step = next(step for step in found.steps if step.threshold == 0.7)
    assert step.precision == pytest.approx(210 / 220)
    assert found.uncovered == pytest.approx(20 / 240)
    # Twenty pairs of weight 1 and twenty of weight 10 are worth 24 of one weight.
    _, low, high = weighted_precision(210, [1.0] * 20 + [10.0] * 20)
    assert (step.low, step.high) == (low, high)
    assert (low, high) == (pytest.approx(0.792, abs=0.001), pytest.approx(0.991, abs=0.001))


def test_the_interval_is_that_of_wilson_for_equal_weights() -> None:
    # Newcombe 1998 (Statistics in Medicine 17, 857), table I, method 3.
    assert weighted_precision(81, [1.0] * 263) == pytest.approx((81 / 263, 0.2553, 0.3662), abs=5e-5)
    assert weighted_precision(0, [1.0] * 20) == pytest.approx((0.0, 0.0, 0.1611), abs=5e-5)
    assert weighted_precision(30, [1.0] * 30) == pytest.approx((1.0, 0.8865, 1.0), abs=1e-4)
    assert weighted_precision(60, [2.0] * 30) == weighted_precision(30, [1.0] * 30)


@pytest.mark.parametrize("seed", [31, 32, 33])
def test_with_all_pairs_decided_every_step_is_a_plain_count(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    pairs = [
        DecidedPair(round(dice.uniform(0.4, 1.0), 3), dice.choice(("duplicate", "version")), dice.random() < 0.7)
        for _ in range(200)
    ]
    found = advice(pairs, Counter((band_of(pair.score), pair.verdict) for pair in pairs), 0.9)
    assert found.uncovered == 0
    for step in found.steps:
        above = [pair for pair in pairs if pair.score >= step.threshold - 1e-9]
        right = sum(pair.duplicate for pair in above)
        assert (step.decided, step.pairs) == (len(above), len(above))
        assert step.precision == (pytest.approx(right / len(above)) if above else None)
        assert step.kept == pytest.approx(right / sum(pair.duplicate for pair in pairs))

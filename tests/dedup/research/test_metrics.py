"""Weighted scores with their intervals, and folds that leave dates out."""

import datetime
import random

import numpy as np
import pytest

from dedup.detection.verdicts.features import FEATURE_NAMES
from dedup.research.answers import Estimate, LabelledPair, cross_validate, date_folds, score
from tests.dedup.research.made_up_rows import FIRST

MONDAY = datetime.date(2026, 3, 2)


def pairs_of(*rows: tuple[str, int, str]) -> list[LabelledPair]:
    """Return pairs of rows of both articles' letters, the day and the label."""
    return [
        LabelledPair((articles[0], articles[1]), MONDAY + datetime.timedelta(days=day), label, 1.0)
        for articles, day, label in rows
    ]


def test_scores_are_weighted_and_versions_left_out() -> None:
    found = score(
        ["D", "D", "T", "T", "E", "N", "V"],
        [3.0, 1.0, 1.0, 9.0, 2.0, 5.0, 100.0],
        [True, False, True, False, False, False, True],
    )
    assert found.precision.value == pytest.approx(3 / 4)
    assert found.recall.value == pytest.approx(3 / 4)
    assert found.f1.value == pytest.approx(3 / 4)
    assert found.templates.value == pytest.approx(1 / 10)


def test_intervals_hold_the_value_and_narrow_with_more_pairs() -> None:
    few = score(["D", "D", "D", "T"] * 5, [1.0] * 20, [True, True, False, True] * 5).recall
    many = score(["D", "D", "D", "T"] * 50, [1.0] * 200, [True, True, False, True] * 50).recall
    assert few.value == many.value == pytest.approx(2 / 3)
    assert few.low < many.low < 2 / 3 < many.high < few.high
    assert many.high - many.low == pytest.approx(4 * (2 / 9 / 150) ** 0.5, rel=0.2)


def test_the_same_labels_give_the_same_intervals() -> None:
    labels, called = ["D", "T", "D", "E"], [True, True, False, False]
    assert score(labels, [1.0] * 4, called) == score(labels, [1.0] * 4, called)


@pytest.mark.parametrize("labels", [[], ["V"], ["T"]])
def test_a_share_of_nothing_is_nothing(labels: list[str]) -> None:
    found = score(labels, [1.0] * len(labels), [False] * len(labels))
    assert found.precision == found.recall == found.f1 == found.templates == Estimate(0.0, 0.0, 0.0)


def folds(pairs: list[LabelledPair], count: int) -> list[tuple[list[int], list[int]]]:
    return [(sorted(train.tolist()), sorted(test.tolist())) for train, test in date_folds(pairs, count)]


def test_each_block_of_days_is_tested_once() -> None:
    pairs = pairs_of(("ab", 3, "D"), ("cd", 0, "T"), ("ef", 1, "D"), ("gh", 2, "N"))
    assert folds(pairs, 2) == [([0, 3], [1, 2]), ([1, 2], [0, 3])]


def test_a_day_is_not_divided() -> None:
    pairs = pairs_of(("ab", 0, "D"), ("cd", 1, "T"), ("ef", 1, "D"), ("gh", 1, "N"))
    assert folds(pairs, 2) == [([1, 2, 3], [0]), ([0], [1, 2, 3])]


def test_an_article_is_never_in_training_and_test() -> None:
    pairs = pairs_of(("ab", 0, "D"), ("cd", 0, "T"), ("be", 1, "D"), ("gh", 1, "N"))
    assert folds(pairs, 2) == [([3], [0, 1]), ([1], [2, 3])]


def test_no_pairs_make_no_folds() -> None:
    assert folds([], 3) == []


def test_random_folds_keep_the_rules() -> None:
    dice = random.Random(9)
    pairs = [
        LabelledPair(
            (str(dice.randrange(60)), str(60 + dice.randrange(60))),
            MONDAY + datetime.timedelta(dice.randrange(30)),
            "D",
            1,
        )
        for _ in range(80)
    ]
    tested: list[int] = []
    for train, test in date_folds(pairs, 5):
        tested += test.tolist()
        assert not {pairs[at].date for at in train} & {pairs[at].date for at in test}
        assert not {article for at in train for article in pairs[at].articles} & {
            article for at in test for article in pairs[at].articles
        }
    assert sorted(tested) == list(range(80))


def test_cross_validation_learns_what_holds_on_all_days() -> None:
    dice = np.random.default_rng(3)
    rows = dice.random((120, len(FEATURE_NAMES)))
    pairs = pairs_of(
        *(
            (f"{chr(1000 + at)}{chr(2000 + at)}", at // 4, "D" if row[FIRST] > 0.5 else "E")
            for at, row in enumerate(rows)
        )
    )
    found = cross_validate(pairs, rows.tolist(), folds=4)
    assert sorted(found) == list(range(120))
    right = [(probability >= 0.5) == (pairs[at].label == "D") for at, probability in found.items()]
    assert sum(right) > 100

"""The numbers of labelled pairs: confusion, calibration and thresholds, against numbers worked out by hand."""

import datetime
import random
from dataclasses import replace

import numpy as np
import pytest

from dedup.detection.verdicts.features import FEATURE_NAMES, IDENTITY
from dedup.research import answers
from tests.dedup.research.made_up_rows import FIRST


def test_the_shares_of_a_confusion_are_those_of_each_label_by_weight() -> None:
    outcomes = ["duplicate", "duplicate", None, "version", "duplicate", "template"]
    weights = [3.0, 1.0, 4.0, 7.0, 1.0, 9.0]
    found = answers.confusion([answers.Answer(*row) for row in zip("DDDVTT", weights, [0] * 6, outcomes, strict=True)])
    assert answers.OUTCOMES == ("duplicate", "version", "template", "similar", "not_proposed")
    assert {label: [cells[outcome]["pairs"] for outcome in answers.OUTCOMES] for label, cells in found.items()} == {
        "D": [2, 0, 0, 0, 1],
        "V": [0, 1, 0, 0, 0],
        "T": [1, 0, 1, 0, 0],
        "E": [0, 0, 0, 0, 0],
        "N": [0, 0, 0, 0, 0],
    }
    shares = {label: [cells[outcome]["share"] for outcome in answers.OUTCOMES] for label, cells in found.items()}
    assert (shares["D"], shares["T"]) == ([0.5, 0, 0, 0, 0.5], [0.1, 0, 0.9, 0, 0])
    assert found["N"]["similar"] == {"pairs": 0, "share": None, "share_interval": None}


def guesses(*rows: tuple[float, bool, float]) -> list[answers.Answer]:
    """Return pairs of rows of the probability, whether it is a duplicate, and the weight."""
    return [answers.Answer("D" if right else "N", weight, 0, "similar", guess) for guess, right, weight in rows]


def test_errors_and_bins_are_those_worked_out_by_hand() -> None:
    found = answers.calibration(guesses((0.05, False, 3), (0.05, True, 1), (0.95, True, 2), (0.85, True, 2)))
    # Bins: |0.05 - 1/4| · 4/8 + |0.85 - 1| · 2/8 + |0.95 - 1| · 2/8
    assert found["ece"] == 0.15
    # (3 · 0.05² + 0.95² + 2 · 0.05² + 2 · 0.15²) / 8
    assert found["brier"] == 0.12
    bins = [tuple(row.values()) for row in found["bins"]]
    assert [bins[place] for place in (0, 4, 8, 9)] == [
        (0.0, 0.1, 2, 4.0, 0.05, 0.25),
        (0.4, 0.5, 0, 0.0, None, None),
        (0.8, 0.9, 1, 2.0, 0.85, 1.0),
        (0.9, 1.0, 1, 2.0, 0.95, 1.0),
    ]


def test_a_bin_has_its_lower_bound_and_the_last_one_both() -> None:
    found = answers.calibration(guesses(*((guess, True, 1.0) for guess in (0.0, 0.1, 0.3, 0.7, 1.0))))
    assert [row["pairs"] for row in found["bins"]] == [1, 1, 0, 1, 0, 0, 0, 1, 0, 1]


def test_the_share_of_duplicates_is_the_best_probability() -> None:
    dice = random.Random(5)
    probabilities = [dice.choice((0.15, 0.65, 0.95)) for _ in range(6_000)]
    honest = guesses(*((guess, dice.random() < guess, 1.0) for guess in probabilities))
    boastful = [replace(pair, probability=min(1.0, (pair.probability or 0) + 0.1)) for pair in honest]
    found, worse = answers.calibration(honest), answers.calibration(boastful)
    assert found["ece"] < 0.02
    assert 0.06 < worse["ece_interval"][0] < worse["ece"] < worse["ece_interval"][1] < 0.11
    assert found["brier"] < worse["brier"]


def test_no_pairs_have_no_error() -> None:
    found = answers.calibration([])
    assert (found["ece"], found["brier"], {row["pairs"] for row in found["bins"]}) == (None, None, {0})


def test_each_threshold_counts_the_pairs_from_that_score_on() -> None:
    scores = [0.9, 0.5, 0.7, None, 1.0, None]
    points = answers.threshold_curve("DDTNVD", [3.0, 1.0, 2.0, 4.0, 9.0, 1.0], scores, [0.5, 0.7, 0.95])
    assert [[point[name] for name in ("called", "precision", "recall", "f1")] for point in points] == [
        [3, 0.6667, 0.8, 0.7273],
        [2, 0.6, 0.6, 0.6],
        [0, None, 0.0, 0.0],
    ]
    assert answers.threshold_curve("TV", [1, 1], [0.9, 0.9], [0.5])[0]["recall"] is None
    (nothing,) = answers.threshold_curve("", [], [], [0.5])
    assert [nothing[name] for name in ("called", "precision", "recall", "f1")] == [0, None, None, None]
    # A score that is the threshold reaches it, however it was rounded.
    assert answers.threshold_curve("D", [1], [0.7 - 1e-12], [0.7])[0]["called"] == 1


@pytest.mark.parametrize("seed", [11, 12])
def test_a_curve_has_the_numbers_and_intervals_of_one_score_after_another(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    labels = dice.choices("DVTEN", k=60)
    weights = [dice.choice((1.0, 2.5, 40.0)) for _ in labels]
    scores = [dice.choice((None, round(dice.random(), 3))) for _ in labels]
    for point in answers.threshold_curve(labels, weights, scores, answers.grid(0.3, 0.42)):
        calls = [found is not None and found >= point["threshold"] for found in scores]
        alone = answers.score_numbers(labels, weights, calls)
        for name in ("called", "precision", "recall", "f1", "precision_interval", "recall_interval", "f1_interval"):
            assert point[name] == pytest.approx(alone[name], abs=1.1e-4)


def test_thresholds_are_five_hundredths_apart_with_ones_own_among_them() -> None:
    assert answers.grid(0.75, 0.82) == [0.75, 0.8, 0.82, 0.85, 0.9, 0.95, 1.0]
    assert answers.grid(1.0, 1.0) == [1.0]
    assert answers.grid(0.3)[:2] == [0.3, 0.35]


# ---- scores, and folds that leave dates out ----------------------------------------------------------

MONDAY = datetime.date(2026, 3, 2)


def pairs_of(*rows: tuple[str, int, str]) -> list[answers.LabelledPair]:
    """Return pairs of rows of both articles' letters, the day and the label."""
    return [
        answers.LabelledPair((articles[0], articles[1]), MONDAY + datetime.timedelta(days=day), label, 1.0)
        for articles, day, label in rows
    ]


def test_scores_are_weighted_and_versions_left_out() -> None:
    called = [True, False, True, False, False, False, True]
    found = answers.score_numbers(list("DDTTENV"), [3.0, 1.0, 1.0, 9.0, 2.0, 5.0, 100.0], called)
    assert [found[name] for name in ("precision", "recall", "f1")] == [0.75] * 3
    assert found["templates_called_duplicates"] == 0.1


def test_intervals_hold_the_value_and_narrow_with_more_pairs() -> None:
    few = answers.score_numbers(list("DDDT") * 5, [1.0] * 20, [True, True, False, True] * 5)
    many = answers.score_numbers(list("DDDT") * 50, [1.0] * 200, [True, True, False, True] * 50)
    assert few["recall"] == many["recall"] == 0.6667
    (least, most), (low, high) = few["recall_interval"], many["recall_interval"]
    assert least < low < 2 / 3 < high < most
    assert high - low == pytest.approx(4 * (2 / 9 / 150) ** 0.5, rel=0.2)


@pytest.mark.parametrize("labels", [[], ["V"], ["T"]])
def test_a_share_of_nothing_is_nothing(labels: list[str]) -> None:
    found = answers.score_numbers(labels, [1.0] * len(labels), [False] * len(labels))
    assert [found[name] for name in ("precision", "recall", "f1")] == [None] * 3
    assert answers.point_score(labels, [1.0] * len(labels), [False] * len(labels)) == (0, 0, 0)


def folds(pairs: list[answers.LabelledPair], count: int) -> list[tuple[list[int], list[int]]]:
    return [(sorted(train.tolist()), sorted(test.tolist())) for train, test in answers.date_folds(pairs, count)]


@pytest.mark.parametrize(
    ("articles", "days", "expected"),
    [
        (("ab", "cd", "ef", "gh"), (3, 0, 1, 2), [([0, 3], [1, 2]), ([1, 2], [0, 3])]),
        # a day is not divided
        (("ab", "cd", "ef", "gh"), (0, 1, 1, 1), [([1, 2, 3], [0]), ([0], [1, 2, 3])]),
        # an article is never in training and test
        (("ab", "cd", "be", "gh"), (0, 0, 1, 1), [([3], [0, 1]), ([1], [2, 3])]),
        ((), (), []),
    ],
)
def test_each_block_of_days_is_tested_once(articles: tuple[str, ...], days: tuple[int, ...], expected: list) -> None:
    assert folds(pairs_of(*zip(articles, days, "DTDN", strict=False)), 2) == expected


def test_random_folds_keep_the_rules() -> None:
    dice = random.Random(9)
    pairs = [
        answers.LabelledPair(
            (str(dice.randrange(60)), str(60 + dice.randrange(60))),
            MONDAY + datetime.timedelta(dice.randrange(30)),
            "D",
            1,
        )
        for _ in range(80)
    ]
    tested: list[int] = []
    for train, test in answers.date_folds(pairs, 5):
        tested += test.tolist()
        assert not {pairs[at].date for at in train} & {pairs[at].date for at in test}
        assert not {article for at in train for article in pairs[at].articles} & {
            article for at in test for article in pairs[at].articles
        }
    assert sorted(tested) == list(range(80))


def test_cross_validation_learns_what_holds_on_all_days() -> None:
    dice = np.random.default_rng(3)
    rows = dice.random((120, len(FEATURE_NAMES)))
    rows[:, FEATURE_NAMES.index(IDENTITY)] = 0
    pairs = pairs_of(
        *(
            (f"{chr(1000 + at)}{chr(2000 + at)}", at // 4, "D" if row[FIRST] > 0.5 else "E")
            for at, row in enumerate(rows)
        )
    )
    found = answers.cross_validate(pairs, rows.tolist(), folds=4)
    assert sorted(found) == list(range(120))
    right = [(probability >= 0.5) == (pairs[at].label == "D") for at, probability in found.items()]
    assert sum(right) > 100

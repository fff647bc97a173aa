"""The join for dense groups, checked against brute force: what it leaves out, and that it breaks no group apart."""

from itertools import product

import numpy as np
import pytest

from dedup.detection.kernels import dense_join
from dedup.detection.kernels.parity_join import DayRange
from tests.dedup.kernels.test_parity_join import UNIVERSE, brute_force, ragged

THRESHOLD = 0.6
DAYS = ((1, 0), (4, 3), (12, 1), (12, 3))  # so many, and the window

Scores = dict[tuple[int, int], float]


def families(seed: int, count: int = 150) -> list[set[int]]:
    """Return sets of which most are copies of one of four sets, some of them changed, in no order."""
    print(f"seed {seed}")
    dice = np.random.default_rng(seed)
    originals = [dice.choice(UNIVERSE, 60, replace=False) for _ in range(4)]
    sets = []
    for _ in range(count):
        own = dice.choice(UNIVERSE, 60, replace=False)
        if dice.random() < 0.75:
            changed = dice.choice([0, 0, 1, 3, 10, 20])
            own = np.concatenate([dice.permutation(originals[dice.integers(4)])[changed:], own[:changed]])
        sets.append(set(own.tolist()))
    return sets


def days_of(seed: int, sets: int, spread: int) -> list[int]:
    return sorted(np.random.default_rng(seed).integers(0, spread, sets).tolist())


def joined(
    sets: list[set[int]],
    days: list[int],
    day_window: int,
    density: dense_join.Density,
    first_row: int = 0,
    fresh: list[bool] | None = None,
) -> tuple[Scores, dict[int, int]]:
    """Return the pairs with their scores, and the hubs with the number of their neighbours."""
    asked = DayRange(np.array(days), first_row, day_window, None if fresh is None else np.array(fresh))
    found = dense_join.similar_pairs(ragged(sets), asked, threshold=THRESHOLD, universe=UNIVERSE, density=density)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    hubs = dict(zip(found.hubs.tolist(), found.neighbours.tolist(), strict=True))
    return dict(zip(pairs, found.scores.tolist(), strict=True)), hubs


def every_pair(sets: list[set[int]], days: list[int], day_window: int) -> Scores:
    near = brute_force(sets, THRESHOLD).items()
    return {pair: score for pair, score in near if days[pair[1]] - days[pair[0]] <= day_window}


def near_by_day(pairs: Scores, days: list[int], place: int, day: int) -> int:
    """Return how many sets of the days up to one are near a set."""
    return sum(place in pair for pair in pairs if days[pair[1]] <= day)


def components(pairs: Scores, sets: int, least: float) -> list[int]:
    """Return for each set the first one that pairs of at least this score connect it with."""
    first = list(range(sets))
    before: list[int] = []
    while before != first:
        before = list(first)
        for (left, right), score in pairs.items():
            if score >= least:
                first[left] = first[right] = min(first[left], first[right])
    return first


@pytest.mark.parametrize(
    ("seed", "spread", "day_window", "density"),
    [
        (seed, *days, dense_join.Density(*bounds))
        for seed, (days, bounds) in enumerate(product(DAYS, product((3, 8, 20), (1, 3))))
    ],
)
def test_dense_groups_keep_what_they_need_wherever_a_block_begins(seed, spread, day_window, density) -> None:
    sets = families(seed)
    days = days_of(seed, len(sets), spread)
    every = every_pair(sets, days, day_window)
    found, hubs = joined(sets, days, day_window, density)
    # Every pair with a set that is no hub is found.
    assert found.items() <= every.items()
    for left, right in every.keys() - found.keys():
        for side in (left, right):
            assert near_by_day(every, days, side, days[right]) > density.dense_from
            assert density.dense_from < hubs[side] <= near_by_day(every, days, side, days[-1])
    # A group stays connected at every score.
    for least in (0.6, 0.7, 0.8, 0.9, 0.95, 1.0):
        assert components(found, len(sets), least) == components(every, len(sets), least)
    first_row = days.index(days[len(days) // 2])
    begin = next(row for row, day in enumerate(days) if day >= days[first_row] - 2 * day_window)
    part, _ = joined(sets[begin:], days[begin:], day_window, density, first_row - begin)
    assert {(left + begin, right + begin) for left, right in part} == {pair for pair in found if pair[1] >= first_row}


def test_equal_sets_of_a_dense_group_are_paired_with_the_first_alone() -> None:
    sets = [{1, 2, 3}] * 40 + [{1, 2, 3, 4}] * 40
    found, hubs = joined(sets, [0] * 80, 0, dense_join.Density(10, 2))
    assert found == {(0, copy): 1.0 for copy in range(1, 40)} | {(40, copy): 1.0 for copy in range(41, 80)} | {
        (0, 40): 0.75
    }
    assert hubs.keys() == set(range(80))


def test_the_pairs_of_a_dense_group_grow_with_its_sets_not_with_their_square() -> None:
    dice = np.random.default_rng(3)
    first = dice.choice(UNIVERSE, 80, replace=False)
    sets = [set(dice.permutation(first)[5:].tolist()) | {int(dice.integers(UNIVERSE))} for _ in range(2_000)]
    found, hubs = joined(sets, [0] * len(sets), 0, dense_join.Density(50, 2))
    assert len(hubs) == len(sets)
    assert len(found) <= 3 * len(sets)
    assert set(components(found, len(sets), THRESHOLD)) == {0}
    # The nearest of all is nearly always among those kept.
    best = dict.fromkeys(range(60), 0.0)
    for one in best:
        best[one] = max(len(sets[one] & other) / len(sets[one] | other) for other in sets if other is not sets[one])
    kept = {article: max(score for pair, score in found.items() if article in pair) for article in best}
    assert sum(best[article] - kept[article] for article in best) / len(best) < 0.02


def test_fresh_sets_bring_back_the_pairs_of_a_dense_group_but_no_other_pairs() -> None:
    sets = [{1, 2, 3}] * 30 + [{7, 8, 9}] * 2 + [{7, 8, 9, 10}]
    fresh = [row in {29, 32} for row in range(len(sets))]
    found, _ = joined(sets, [0] * len(sets), 0, dense_join.Density(10, 2), fresh=fresh)
    assert found == {(0, copy): 1.0 for copy in range(1, 30)} | {(30, 32): 0.75, (31, 32): 0.75}

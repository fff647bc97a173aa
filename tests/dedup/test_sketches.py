"""The exact set-similarity join, held against brute force."""

import numpy as np
import pytest

from dedup import sketches
from dedup.shingles import Ragged

UNIVERSE = 4096


def ragged(sets: list[set[int]]) -> Ragged:
    values = [sorted(each) for each in sets]
    return Ragged(
        np.array([member for each in values for member in each], dtype=np.int32),
        np.cumsum([0, *map(len, values)]).astype(np.int64),
    )


def related_sets(seed: int, *, families: int = 12, size: int = 60) -> list[set[int]]:
    """Return sets of every degree of likeness: each family shrinks away from its first set."""
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    sets: list[set[int]] = [set(), set(), {7}]
    for _ in range(families):
        first = random.integers(0, UNIVERSE, random.integers(1, size)).tolist()
        sets += [set(first), set(first[1:]) or {1}]  # a copy, and one with a member less
        for changed in range(0, len(first) + 1, max(1, len(first) // 8)):
            sets.append(set(first[changed:]) | set(random.integers(0, UNIVERSE, changed).tolist()))
    return sets


def brute_force(sets: list[set[int]], threshold: float) -> dict[tuple[int, int], float]:
    scores = {
        (left, right): len(sets[left] & sets[right]) / len(sets[left] | sets[right])
        for left in range(len(sets))
        for right in range(left + 1, len(sets))
        if sets[left] and sets[right]
    }
    return {pair: score for pair, score in scores.items() if score >= threshold}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("bits", [64, 1024])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.6, 0.75, 0.9, 1.0])
def test_no_pair_is_lost_and_scores_are_exact(seed: int, bits: int, threshold: float) -> None:
    sets = related_sets(seed)
    rows = ragged(sets)
    sketched = sketches.sketch(rows, sketches.deal_buckets(rows.head(20), UNIVERSE, bits), bits)
    everything = slice(0, len(sets))
    left, right = sketches.similar_rows(sketched, everything, everything, threshold)
    scores = sketches.jaccard(rows, left, right, UNIVERSE)
    exact = {
        (int(one), int(other)): float(score)
        for one, other, score in zip(left, right, scores, strict=True)
        if score >= threshold
    }
    assert exact == brute_force(sets, threshold)


def test_the_sketch_rules_out_most_of_what_is_unlike() -> None:
    random = np.random.default_rng(5)
    rows = ragged([set(random.integers(0, UNIVERSE, 300).tolist()) for _ in range(200)])
    bits = sketches.bits_for(0.6, 300)
    sketched = sketches.sketch(rows, sketches.deal_buckets(rows, UNIVERSE, bits), bits)
    left, right = sketches.similar_rows(sketched, slice(0, 200), slice(0, 200), 0.6)
    assert (left.tolist(), right.tolist()) == ([], [])


def test_rows_meet_columns_only_to_their_right() -> None:
    rows = ragged([{1, 2, 3}] * 5)
    sketched = sketches.sketch(rows, sketches.deal_buckets(rows, UNIVERSE, 64), 64)
    left, right = sketches.similar_rows(sketched, slice(1, 3), slice(1, 5), 0.9)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4)]


def test_rows_and_columns_of_many_tiles_meet_as_those_of_one() -> None:
    rows = ragged(related_sets(9, families=200, size=40))
    assert len(rows.sizes) > 1024 + 8
    sketched = sketches.sketch(rows, sketches.deal_buckets(rows.head(50), UNIVERSE, 128), 128)
    left, right = sketches.similar_rows(sketched, slice(0, len(rows.sizes)), slice(0, len(rows.sizes)), 0.8)
    one_by_one = [
        (row, int(column))
        for row in range(len(rows.sizes))
        for column in sketches.similar_rows(sketched, slice(row, row + 1), slice(row + 1, len(rows.sizes)), 0.8)[1]
    ]
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == one_by_one


def test_more_bits_for_lower_thresholds_and_larger_sets_within_bounds() -> None:
    assert [sketches.bits_for(threshold, 480) for threshold in (0.5, 0.6, 0.7, 0.8, 0.9)] == [960, 640, 448, 384, 192]
    assert sketches.bits_for(0.5, 3) == 64
    assert sketches.bits_for(0.5, 1e6) == 4096


def test_frequent_members_are_dealt_to_different_buckets() -> None:
    sample = ragged([{10, 20, 30}, {10, 20, 40}, {10, 20}])
    dealt = sketches.deal_buckets(sample, UNIVERSE, 64)
    assert dealt[[10, 20, 30, 40]].tolist() == [0, 1, 2, 3]
    assert dealt.max() < 64

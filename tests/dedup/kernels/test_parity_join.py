"""The exact set-similarity join, checked against brute force."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.detection.kernels import parity_join
from dedup.detection.kernels.tokens import Ragged

UNIVERSE = 4096


def ragged(sets: list[set[int]]) -> Ragged:
    return Ragged.of([np.array(sorted(members), dtype=np.int32) for members in sets], np.int32)


def same_day(sets: int) -> parity_join.DayRange:
    return parity_join.DayRange(np.zeros(sets, dtype=np.int64), first_row=0, day_window=0)


def related_sets(seed: int, *, families: int = 12, size: int = 60) -> list[set[int]]:
    """Return sets of every degree of similarity: each family moves away from its first set."""
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


def listed(tiles: Iterable[parity_join.Pairs]) -> list[tuple[int, int]]:
    return sorted(pair for left, right in tiles for pair in zip(left.tolist(), right.tolist(), strict=True))


def all_candidates(sets: list[set[int]], threshold: float, bits: int) -> list[tuple[int, int]]:
    """Return the pairs that pass sketches of this many bits, if all sets are of one day."""
    rows = ragged(sets)
    sketched = parity_join.sketch(rows, parity_join.deal_buckets(rows.part(0, 20), bits), bits)
    reach = parity_join.PairRange(np.zeros(len(sets), dtype=np.int64), first_row=0)
    return listed(parity_join.candidate_tiles(sketched, reach, threshold))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("bits", [64, 192, 1024])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.6, 0.75, 0.9, 1.0])
def test_no_pair_is_lost_and_scores_are_exact(seed: int, bits: int, threshold: float) -> None:
    sets = related_sets(seed)
    pairs = all_candidates(sets, threshold, bits)
    left, right = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    scores = parity_join.jaccard(ragged(sets), left, right, UNIVERSE)
    exact = {pair: float(score) for pair, score in zip(pairs, scores, strict=True) if score >= threshold}
    assert exact == brute_force(sets, threshold)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_pairs_within_the_window_are_those_of_brute_force(data: st.DataObject) -> None:
    members = st.sets(st.integers(0, 11), max_size=8)
    articles = data.draw(st.lists(st.tuples(st.integers(0, 6), members), max_size=60))
    days = sorted(day for day, _ in articles)
    sets = [values for _, values in articles]
    day_window = data.draw(st.integers(0, 8))
    first_row = data.draw(st.integers(0, len(sets)))
    fresh = data.draw(st.none() | st.lists(st.booleans(), min_size=len(sets), max_size=len(sets)))
    threshold = data.draw(st.sampled_from([0.3, 0.5, 0.6, 0.75, 1.0]))
    some = None if fresh is None else np.array(fresh, dtype=np.bool_)
    asked = parity_join.DayRange(np.array(days, dtype=np.int64), first_row, day_window, some)
    with pytest.MonkeyPatch.context() as patch:
        # Tiles so small that a few sets cross the edges of many.
        patch.setattr(parity_join, "_TILE_SETS", 16)
        patch.setattr(parity_join, "_TILE_SHIFTS", 3)
        pairs = parity_join.similar_pairs(ragged(sets), asked, threshold=threshold, universe=UNIVERSE)
    keys = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert keys == sorted(set(keys))
    assert pairs.candidates >= len(keys)
    assert dict(zip(keys, pairs.scores.tolist(), strict=True)) == {
        (left, right): score
        for (left, right), score in brute_force(sets, threshold).items()
        if right >= first_row
        and days[right] - days[left] <= day_window
        and (fresh is None or fresh[left] or fresh[right])
    }


def test_empty_sets_are_not_even_candidates() -> None:
    assert all_candidates([set(), {5}, set(), {5}, set()], 0.5, 64) == [(1, 3)]


def test_very_large_sets_are_found_and_small_ones_as_well() -> None:
    universe = 60_000
    large = np.arange(50_000)
    sets = [{1, 2, 3}, set(large.tolist()), set((large + 5_000).tolist()), {2, 3}]
    pairs = parity_join.similar_pairs(ragged(sets), same_day(4), threshold=0.5, universe=universe)
    assert list(zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)) == [
        (0, 3, 2 / 3),
        (1, 2, 45_000 / 55_000),
    ]


@pytest.mark.parametrize(("words", "differing"), [(words, place) for words in range(1, 6) for place in range(words)])
def test_differing_bits_are_counted_in_every_word(words: int, differing: int) -> None:
    # Sets of ten members may differ in two bits at 0.9, one for each rounded up; here it is three, and two.
    sketched = parity_join.Sketches(np.zeros((words, 3), dtype=np.uint64), np.array([10, 10, 10], dtype=np.int64))
    sketched.words[differing] = [0, 0b10101, 0b10001]
    reach = parity_join.PairRange(np.zeros(3, dtype=np.int64), first_row=0)
    assert listed(parity_join.candidate_tiles(sketched, reach, 0.9)) == [(0, 2), (1, 2)]


def test_the_sketches_rule_out_most_dissimilar_pairs() -> None:
    random = np.random.default_rng(5)
    sets = [set(random.integers(0, UNIVERSE, 300).tolist()) for _ in range(200)]
    assert len(all_candidates(sets, 0.6, parity_join.bits_for(0.6, 300))) < 5  # of 19,900 pairs


def test_pairs_that_pass_the_sketches_are_counted() -> None:
    # One word of 64 bits lets pass what differs in too few of them: one pair reaches the threshold here, more pass.
    sets = [{1, 2, 3}, {1, 2, 3}, {1, 2, 4}]
    pairs = parity_join.similar_pairs(ragged(sets), same_day(3), threshold=0.51, universe=UNIVERSE)
    assert (pairs.left.tolist(), pairs.right.tolist(), pairs.candidates) == ([0], [1], 3)


def test_lower_thresholds_and_larger_sets_get_more_bits_within_bounds() -> None:
    bits = [parity_join.bits_for(threshold, 480) for threshold in (0.5, 0.6, 0.7, 0.8, 0.9)]
    assert bits == [896, 640, 448, 320, 192]
    assert parity_join.bits_for(0.5, 3) == 64
    assert parity_join.bits_for(0.5, 1e6) == 4096


def test_frequent_members_are_dealt_to_different_buckets() -> None:
    sample = ragged([{10, 20, 30}, {10, 20, 40}, {10, 20}])
    dealt = parity_join.deal_buckets(sample, 64)
    buckets = dealt[parity_join._slots_of(np.array([10, 20, 30, 40]))].tolist()
    assert sorted(buckets[:2]) == [0, 1]
    assert sorted(buckets[2:]) == [2, 3]
    assert np.bincount(dealt).tolist() == [1024] * 64


@pytest.mark.parametrize(("most", "gives_up"), [(8, True), (9, False)])
def test_it_gives_up_where_a_set_has_too_many_similar_ones_on_its_day_and_before(most: int, gives_up: bool) -> None:
    sets = [{1, 2, 3, 4, 5}] * 10
    days = parity_join.DayRange(np.array([0] * 4 + [1] * 6, dtype=np.int64), first_row=0, day_window=1)
    pairs = parity_join.similar_pairs(ragged(sets), days, threshold=0.9, universe=UNIVERSE, most_neighbours=most)
    assert (pairs is None) is gives_up


def test_similar_sets_of_later_days_make_no_set_a_hub() -> None:
    days = parity_join.DayRange(np.arange(10, dtype=np.int64), first_row=0, day_window=3)
    pairs = parity_join.similar_pairs(
        ragged([{1, 2, 3}] * 10), days, threshold=0.9, universe=UNIVERSE, most_neighbours=3
    )
    assert len(pairs.left) == 3 * 7 + 3


def test_a_finer_sketch_rules_out_no_similar_pair() -> None:
    sets = related_sets(11)
    rows = ragged(sets)
    left, right = np.triu_indices(len(sets), 1)
    kept = {}
    for finer in (1, 8):
        passing = parity_join.may_reach(parity_join.sketched(rows, 0.5, finer=finer), left, right, 0.5)
        kept[finer] = set(zip(left[passing].tolist(), right[passing].tolist(), strict=True))
    true = brute_force(sets, 0.5).keys()
    assert true <= kept[8] < kept[1]

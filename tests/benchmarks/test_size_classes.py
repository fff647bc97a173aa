"""The exact join by size classes, checked against brute force."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import contestants
from dedup.detection.kernels import parity_join
from dedup.detection.kernels.tokens import Ragged, character_shingles
from tests.dedup.kernels.test_parity_join import brute_force, ragged, related_sets


@given(st.lists(st.text("abcdé ", max_size=60), max_size=6), st.sampled_from([2, 5]))
def test_sets_of_hashes_have_a_member_for_each_distinct_shingle(texts: list[str], size: int) -> None:
    sets = contestants.hash_sets(character_shingles(texts, size))
    expected = [len({text[place : place + size] for place in range(max(1, len(text) - size + 1))}) for text in texts]
    assert sets.sizes.tolist() == [count if text else 0 for count, text in zip(expected, texts, strict=True)]
    for start, stop in pairwise(sets.offsets):
        members = sets.values[start:stop].tolist()
        assert members == sorted(set(members))


@given(data=st.data(), threshold=st.sampled_from([0.3, 0.5, 0.75, 0.9, 1.0]), bits=st.sampled_from([64, 256, 1024]))
def test_candidates_by_size_lose_no_pair_of_the_window(data: st.DataObject, threshold: float, bits: int) -> None:
    sets = related_sets(data.draw(st.integers(0, 1000)), families=4, size=data.draw(st.sampled_from([10, 200])))
    days = sorted(data.draw(st.lists(st.integers(0, 9), min_size=len(sets), max_size=len(sets))))
    day_window = data.draw(st.integers(0, 9))
    candidates = by_size(ragged(sets), days, day_window, threshold, bits)
    expected = {pair for pair in brute_force(sets, threshold) if days[pair[1]] - days[pair[0]] <= day_window}
    assert expected <= set(candidates)
    assert all(left < right and days[right] - days[left] <= day_window for left, right in candidates)
    assert candidates == sorted(set(candidates))


@given(
    seed=st.integers(0, 1000), threshold=st.sampled_from([0.3, 0.5, 0.75, 0.9, 1.0]), universe=st.integers(300, 4000)
)
def test_candidates_by_size_lose_no_pair_to_shared_hashes(seed: int, threshold: float, universe: int) -> None:
    sets = related_sets(seed, families=4, size=100)
    hashed = [{member % universe for member in members} for members in sets]
    lost = max(len(members) - len(few) for members, few in zip(sets, hashed, strict=True))
    candidates = by_size(ragged(hashed), [0] * len(sets), 0, threshold, 512, collisions=lost)
    assert brute_force(sets, threshold).keys() <= set(candidates)


def test_a_pair_that_collisions_bring_below_the_threshold_is_found_if_they_are_allowed_for() -> None:
    # 60 of 80 are shared; 0 to 30, which both hold, have one hash: 30 of 50.
    hashed = ragged([set(range(30, 80)), set(range(30, 60))])
    assert by_size(hashed, [0, 0], 0, 0.75, 1024) == []
    assert by_size(hashed, [0, 0], 0, 0.75, 1024, collisions=30) == [(0, 1)]


@pytest.mark.parametrize(("bits", "foldable"), [(64, 64), (704, 704), (1088, 1152), (3392, 3584), (4096, 4096)])
def test_many_bits_are_rounded_up_to_a_foldable_number(bits: int, foldable: int) -> None:
    assert contestants.foldable(bits) == foldable


def by_size(
    sets: Ragged, days: list[int], day_window: int, threshold: float, bits: int, *, collisions: int = 0
) -> list[tuple[int, int]]:
    sketched = parity_join.sketch(sets, parity_join.deal_buckets(sets.part(0, 20), bits), bits)
    left, right = contestants.candidate_pairs_by_size(
        sketched, np.array(days, dtype=np.int64), day_window=day_window, threshold=threshold, collisions=collisions
    )
    return list(zip(left.tolist(), right.tolist(), strict=True))

"""The containment join, checked against brute force."""

import time
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.detection.kernels import inverted_index
from dedup.detection.kernels.inverted_index import ScoredPairs, contained_texts
from dedup.detection.kernels.masked_shingles import ShingleSets
from dedup.detection.kernels.parity_join import DayRange

LAST = 2**32 - 1
# Few members, so that texts share them, and the first and last of all.
MEMBERS = st.sampled_from([0, 1, 2, 3, 4, 5, 2**31, 2**31 + 1, LAST - 1, LAST])
COMMON = frozenset([0, 4, LAST])
TEXTS = st.lists(st.tuples(st.integers(1, 12), st.frozensets(MEMBERS)), max_size=14)

Found = dict[tuple[int, int], tuple[float, int, int]]


def joined(
    sets: list[frozenset[int]], days: list[int], *, first_row: int, day_window: int, threshold: float, **options
) -> Found:
    ragged = ShingleSets.of([np.array(sorted(members), dtype=np.uint32) for members in sets], np.uint32)
    asked = DayRange(np.array(days, dtype=np.int64), first_row, day_window)
    return scores_of([part.reaching(threshold) for part in contained_texts(ragged, asked, **options)])


def scores_of(parts: list[ScoredPairs]) -> Found:
    """Return score, members shared and members of each pair, after checking that pairs are ordered and distinct."""
    found = {
        (left, right): (score, shared, shingles)
        for part in parts
        for left, right, score, shared, shingles in zip(*(column.tolist() for column in part[:5]), strict=True)
    }
    assert len(found) == sum(len(part.left) for part in parts) <= sum(part.candidates for part in parts)
    assert list(found) == sorted(found)
    return found


def brute_force(
    sets: list[frozenset[int]],
    days: list[int],
    *,
    first_row: int,
    day_window: int,
    most_texts: int,
    threshold: float,
    minimum_shared: int,
) -> Found:
    counts = Counter(member for members in sets for member in members)
    rare = [{member for member in members if counts[member] <= most_texts} for members in sets]
    found = {}
    for left, right in combinations(range(len(sets)), 2):
        shared, shorter = len(rare[left] & rare[right]), min(len(rare[left]), len(rare[right]))
        near = days[right] - days[left] <= day_window and right >= first_row
        if near and shared >= minimum_shared and shared / shorter >= threshold - 1e-6:
            found[left, right] = (shared / shorter, shared, shorter)
    return found


@pytest.mark.parametrize("at_once", [1, 7, 4_000_000])
@given(texts=TEXTS, numbers=st.tuples(st.integers(0, 14), st.integers(0, 12), st.integers(2, 14), st.integers(1, 4)))
@settings(max_examples=100)
def test_pairs_scores_and_counts_are_those_of_brute_force(at_once, texts, numbers) -> None:
    texts.sort(key=lambda text: text[0])
    days, sets = [day for day, _ in texts], [members for _, members in texts]
    first_row, day_window, most, least = numbers
    options = {"first_row": first_row, "day_window": day_window, "most_texts": most, "minimum_shared": least}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inverted_index, "_PAIRED_AT_ONCE", at_once)
        patch.setattr(inverted_index, "_AT_ONCE", 9 * at_once)
        patch.setattr(inverted_index, "_PART", 3 * at_once)
        patch.setattr(inverted_index, "_RANGE", 2 * at_once)
        for threshold in (0.05, 0.3, 1.0):
            exact = brute_force(sets, days, threshold=threshold, **options)
            assert joined(sets, days, threshold=threshold, **options) == exact
        # Only what is common among more texts counts as common.
        options["most_texts"] = len(texts)
        exact = brute_force([members - COMMON for members in sets], days, threshold=0.3, **options)
        known = np.array(sorted(COMMON | {7}), dtype=np.uint32)
        assert joined(sets, days, threshold=0.3, common=known, **options) == exact


def test_ten_thousand_nearly_equal_texts_make_no_million_pairs() -> None:
    common = np.arange(400, dtype=np.uint32)
    # Each differs from all others in three members, and shares ten with nineteen of them.
    own = [
        np.append(1_000 + 10 * (number // 20) + np.arange(10), 10**6 + 3 * number + np.arange(3))
        for number in range(10_000)
    ]
    values = np.concatenate([np.append(common, members.astype(np.uint32)) for members in own])
    sets = ShingleSets(values, np.arange(10_001, dtype=np.int64) * 413)
    days = np.zeros(10_000, dtype=np.int64)
    started = time.process_time()
    asked = DayRange(days, 0, day_window=30)
    parts = list(contained_texts(sets, asked, most_texts=20, minimum_shared=1))
    assert sum(part.candidates for part in parts) == 500 * 20 * 19 // 2 == sum(len(part.left) for part in parts)
    assert time.process_time() - started < 5

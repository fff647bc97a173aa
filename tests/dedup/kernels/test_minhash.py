"""Shingles, signatures, bands and candidates, checked against brute force."""

import tracemalloc
from itertools import combinations, pairwise

import numpy as np
import pytest

from dedup.detection.kernels import minhash
from dedup.detection.kernels.tokens import Ragged, character_shingle_sets, character_shingles

Pairs = list[tuple[int, int]]


def hashed(sets: list[set[int]]) -> Ragged:
    """Return sets of numbers as the shingles of texts."""
    return Ragged.of([np.array(list(members), dtype=np.uint32) for members in sets], np.uint32)


def sets_at(similarity: float, size: int, count: int, seed: int) -> list[set[int]]:
    """Return sets of `size` numbers, each followed by one that has this share of it."""
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    sets: list[set[int]] = []
    for _ in range(count):
        members = random.choice(10**9, size, replace=False).tolist()
        sets += [set(members), set(members[: max(1, round(size * similarity))])]
    return sets


@pytest.mark.parametrize("slots", [16, 256, 1024])
def test_compiled_signatures_have_the_same_bits(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    monkeypatch.setattr(minhash, "_FEW", -1)
    random = np.random.default_rng(slots)
    # Sets with and without empty slots, with repeated members, the largest hashes, and one without members.
    sizes = np.array([0, 1, 2, 16, 0, 300, 4_000, *random.integers(1, 900, 60), 0])
    members = random.integers(0, 1 << 32, sizes.sum(), dtype=np.uint32)
    members[5:90] = members[4]
    members[-300:-200] = 0xFFFFFFFF
    shingles = Ragged(members, np.cumsum([0, *sizes], dtype=np.int64))
    assert np.array_equal(minhash.signatures(shingles, slots), minhash.numpy_signatures(shingles, slots))
    assert minhash.signatures(Ragged(members[:0], np.zeros(1, dtype=np.int64)), slots).shape == (0, slots)


def test_compiled_code_is_loaded_for_much_work_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(minhash, "_compiled", lambda: asked.append(minhash._members))
    monkeypatch.setattr(minhash, "_FEW", 100)
    monkeypatch.setattr(minhash, "_members", 0)
    for _ in range(3):
        minhash.signatures(hashed([set(range(45))]), 16)
    assert asked == [135]


def candidates(sets: list[set[int]], threshold: float, slots: int = 256, recall: float = 0.999) -> Pairs:
    """Return the candidates among all sets."""
    signed = minhash.signatures(hashed(sets), slots)
    bands = minhash.bands_of(slots, minhash.rows_per_band(slots, threshold, recall))
    occupied = np.array([bool(members) for members in sets])
    stops = np.where(occupied, len(sets), 0)
    return listed(
        minhash.candidate_pairs(signed, bands, after(len(sets)), stops, minhash.least_agreement(slots, threshold))
    )


def listed(found: object) -> Pairs:
    return [pair for left, right in found for pair in zip(left.tolist(), right.tolist(), strict=True)]


def after(count: int) -> np.ndarray:
    """Return where each set's partners start when all later sets are partners."""
    return np.arange(1, count + 1)


@pytest.mark.parametrize("size", [3, 40, 900])
@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
def test_slots_agree_in_proportion_to_the_similarity(size: int, share: float) -> None:
    sets = sets_at(share, size, 60, seed=size)
    signed = minhash.signatures(hashed(sets), 256)
    alike = np.mean([len(one & other) / len(one | other) for one, other in zip(sets[::2], sets[1::2], strict=True)])
    assert np.mean(signed[::2] == signed[1::2]) == pytest.approx(alike, abs=0.02)


@pytest.mark.parametrize("size", [4, 40, 170, 900])
def test_slots_of_small_sets_agree_with_no_more_variance_than_independent_slots(size: int) -> None:
    sets = sets_at(0.75, size, 300, seed=size)
    signed = minhash.signatures(hashed(sets), 256)
    spread = np.std(np.mean(signed[::2] == signed[1::2], axis=1))
    assert spread < 1.15 * (0.75 * 0.25 / 256) ** 0.5


def test_a_signature_depends_only_on_the_members() -> None:
    shingles = np.array([7, 9, 8, 8, 7, 9, 7, 3], dtype=np.uint32)
    together = minhash.signatures(Ragged(shingles, np.array([0, 3, 7, 7, 8])), 64)
    assert together[0].tolist() == together[1].tolist()
    alone = minhash.signatures(hashed([{3}]), 64)
    assert together[3].tolist() == alone[0].tolist()
    assert np.mean(together[3] == together[0]) < 0.1
    assert len(set(alone[0].tolist())) > 40


def test_bands_have_as_many_rows_as_the_recall_allows() -> None:
    assert minhash.rows_per_band(256, 0.75, 0.999) == 6
    for rows in (6, 7):
        met = 1 - (1 - 0.75**rows) ** (256 // rows)
        assert (met >= 0.999) is (rows == 6)
    assert minhash.rows_per_band(256, 0.3, 0.999) == 2
    assert minhash.rows_per_band(16, 0.3, 0.999999) == 1
    assert minhash.rows_per_band(256, 1.0, 0.999) == 256


def test_bands_share_no_slot_and_hold_a_band_of_one_row_less() -> None:
    assert minhash.bands_of(8, 1).tolist() == [[0], [1], [2], [3], [4], [5], [6], [7]]
    assert minhash.bands_of(8, 2).tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert minhash.bands_of(8, 3).tolist() == [[0, 4, 2], [1, 5, 3]]
    for slots in (16, 256):
        families = [minhash.bands_of(slots, rows) for rows in range(1, slots + 1)]
        for rows, bands in enumerate(families, start=1):
            assert bands.shape == (slots // rows, rows)
            assert len(np.unique(bands)) == bands.size
        for fewer, more in pairwise(families):
            smaller = {frozenset(band) for band in fewer.tolist()}
            assert all(frozenset(band[:-1]) in smaller for band in more.tolist())


@pytest.mark.parametrize("slots", [16, 256, 1024])
def test_a_higher_threshold_requires_no_less_agreement(slots: int) -> None:
    thresholds = np.linspace(0.3, 1.0, 71).tolist()
    for asked in (
        [minhash.rows_per_band(slots, threshold, 0.999) for threshold in thresholds],
        [minhash.least_agreement(slots, threshold) for threshold in thresholds],
    ):
        assert all(lower <= higher for lower, higher in pairwise(asked))


def test_equal_sets_agree_in_every_slot_and_others_may_in_fewer() -> None:
    assert minhash.least_agreement(256, 1.0) == 256
    assert minhash.least_agreement(256, 0.75) == 157
    assert minhash.least_agreement(16, 0.3) == 0


SIGNED = np.array([[1, 5, 7, 7], [2, 5, 7, 7], [1, 6, 7, 7], [9, 9, 9, 9], [1, 7, 8, 8], [2, 5, 0, 0]], dtype=np.uint8)
BANDS = np.array([[0], [1]])


def test_candidates_are_the_pairs_that_share_a_band_each_once() -> None:
    stops = np.full(6, 6)
    expected = [(0, 1), (0, 2), (0, 4), (0, 5), (1, 5), (2, 4)]
    assert listed(minhash.candidate_pairs(SIGNED, BANDS, after(6), stops, 0)) == expected
    assert listed(minhash.candidate_pairs(SIGNED, BANDS, after(6), stops, 2)) == [(0, 1), (0, 2), (1, 5)]
    assert listed(minhash.candidate_pairs(SIGNED, BANDS, after(6), stops, 4)) == []
    # Partners are between their bounds.
    stops = np.array([3, 6, 0, 6, 6, 6])
    assert listed(minhash.candidate_pairs(SIGNED, BANDS, after(6), stops, 0)) == [(0, 1), (0, 2), (1, 5)]
    starts = np.maximum(after(6), 4)
    assert listed(minhash.candidate_pairs(SIGNED, BANDS, starts, np.full(6, 6), 0)) == [(0, 4), (0, 5), (1, 5), (2, 4)]


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_candidates_are_the_same_for_any_number_in_memory(monkeypatch, limit: int) -> None:
    sets = [{shift + number for number in range(60)} for shift in range(40)]
    expected = candidates(sets, 0.75)
    assert set(combinations(range(40), 2)) > set(expected) > {(0, 1), (38, 39)}
    monkeypatch.setattr(minhash, "_PAIRS_AT_ONCE", limit)
    assert candidates(sets, 0.75) == expected


def test_many_equal_sets_make_only_the_pairs_within_the_bounds() -> None:
    count = 5000
    signed = np.ones((count, 256), dtype=np.uint8)
    tracemalloc.start()
    found = listed(
        minhash.candidate_pairs(signed, minhash.bands_of(256, 6), after(count), np.minimum(after(count) + 1, count), 0)
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == list(pairwise(range(count)))
    assert peak < 20_000_000  # all pairs of one band would take 100 MB


@pytest.mark.parametrize("seed", [21, 22])
@pytest.mark.parametrize("sizes", [(8, 40), (30, 400)])
def test_candidates_include_the_pairs_at_the_threshold(seed: int, sizes: tuple[int, int]) -> None:
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    sets: list[set[int]] = [set()]
    for _ in range(200):
        first = random.choice(10**9, random.integers(*sizes), replace=False).tolist()
        sets += [set(first[: len(first) - cut]) for cut in (0, len(first) // 20, len(first) // 5)]
    found = set(candidates(sets, 0.75))
    alike = {
        (one, one + step)
        for one in range(1, len(sets))
        for step in (1, 2)
        if (one - 1) // 3 == (one - 1 + step) // 3
        if len(sets[one] & sets[one + step]) >= 0.75 * len(sets[one] | sets[one + step])
    }
    assert len(alike) == 600
    assert alike <= found
    assert len(found) < 660


def test_candidates_of_a_higher_threshold_are_among_those_of_a_lower_one() -> None:
    # So little recall is asked for that many pairs are missed: also then none is found at the higher one alone.
    sets = [members for size in (5, 30, 300) for members in sets_at(0.8, size, 100, seed=size)]
    thresholds = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
    found = [set(candidates(sets, threshold, recall=0.5)) for threshold in thresholds]
    assert all(higher <= lower for lower, higher in pairwise(found))
    assert len({len(group) for group in found}) > 5


@pytest.mark.parametrize("size", [2, 5, 20])
@pytest.mark.parametrize(
    "texts",
    [
        ["abcdefg", "abc", "", "abcde", "bcdefg", "a" * 30, ""],
        ["союз нерушимый", "港の市場で火事", "x", "නුවර කඳු", "𝕒𝕓𝕔𝕕𝕖𝕗 🜁"],
        ["", ""],
        [],
    ],
)
def test_shingles_are_all_consecutive_characters(texts: list[str], size: int) -> None:
    expected = [
        {text[start : start + size] for start in range(max(1, len(text) - size + 1))} if text else set()
        for text in texts
    ]
    members = [set(values.tolist()) for values in character_shingle_sets(texts, size)]
    shingles = character_shingles(texts, size)
    hashes = [set(values.tolist()) for values in shingles.split()]
    assert list(map(len, members)) == list(map(len, hashes)) == list(map(len, expected))
    for one, other in combinations(range(len(texts)), 2):
        shared = len(expected[one] & expected[other])
        assert len(members[one] & members[other]) == len(hashes[one] & hashes[other]) == shared

"""Signatures, bands and candidates, held against brute force."""

import numpy as np
import pytest

from dedup import lsh
from dedup.shingles import HASH_BITS, Ragged, character_shingle_sets
from dedup.sketches import jaccard_of_hashed


def hashed(sets: list[set[int]]) -> Ragged:
    """Return sets of numbers as sets of evenly spread hashes."""
    spread = [sorted(pow(3, member, 1 << HASH_BITS | 1) for member in each) for each in sets]
    return Ragged(
        np.array([member for each in spread for member in each], dtype=np.int64),
        np.cumsum([0, *map(len, spread)]).astype(np.int64),
    )


@pytest.mark.parametrize("size", [3, 40, 900])
@pytest.mark.parametrize("share", [0.5, 0.75, 0.9])
def test_slots_agree_as_often_as_the_sets_are_alike(size: int, share: float) -> None:
    random = np.random.default_rng(size)
    agreed = []
    alike = []
    for _ in range(60):
        both = set(random.integers(1, 10**9, size).tolist())
        kept = set(list(both)[: max(1, round(size * share))])
        minima = lsh.signatures(hashed([both, kept]), 256)
        agreed.append(np.mean(minima[0] == minima[1]))
        alike.append(len(kept) / len(both))
    assert np.mean(agreed) == pytest.approx(np.mean(alike), abs=0.06)


def test_an_empty_set_has_no_minimum_and_one_member_fills_every_slot() -> None:
    minima = lsh.signatures(hashed([set(), {5}]), 64)
    assert minima[0].tolist() == [0] * 64
    assert len(set(minima[1].tolist())) == 1
    assert minima[1][0] != 0


def test_bands_have_as_many_rows_as_the_recall_allows() -> None:
    assert lsh.rows_per_band(256, 0.75, 0.999) == 6
    for rows in (6, 7):
        met = 1 - (1 - 0.75**rows) ** (256 // rows)
        assert (met >= 0.999) is (rows == 6)
    assert lsh.rows_per_band(256, 0.3, 0.999) == 2
    assert lsh.rows_per_band(16, 0.3, 0.999999) == 1
    assert lsh.rows_per_band(256, 1.0, 0.999) == 256


def test_candidates_are_the_pairs_that_share_a_band_each_once() -> None:
    keys = np.array([[1, 2, 1, 9, 1], [5, 5, 6, 9, 7]], dtype=np.uint32)
    left, right = lsh.candidate_pairs(keys, np.array([0, 1, 2, 4]))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 4), (2, 4)]


def test_no_sets_have_no_candidates() -> None:
    left, right = lsh.candidate_pairs(np.empty((0, 0), dtype=np.uint32), np.empty(0, dtype=np.int64))
    assert (left.tolist(), right.tolist()) == ([], [])


@pytest.mark.parametrize("seed", [21, 22])
def test_candidates_hold_the_pairs_at_the_threshold(seed: int) -> None:
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    sets = []
    for _ in range(60):
        first = random.integers(1, 10**9, random.integers(30, 400)).tolist()
        sets += [set(first[: len(first) - cut]) for cut in (0, len(first) // 20, len(first) // 5)]
    rows = hashed(sets)
    keys = lsh.band_keys(lsh.signatures(rows, 256), lsh.rows_per_band(256, 0.75, 0.999))
    left, right = lsh.candidate_pairs(keys, np.arange(len(sets)))
    candidates = set(zip(left.tolist(), right.tolist(), strict=True))
    alike = {
        (one, other)
        for one in range(len(sets))
        for other in range(one + 1, len(sets))
        if len(sets[one] & sets[other]) / len(sets[one] | sets[other]) >= 0.75
    }
    assert len(alike) == 180
    assert len(alike - candidates) <= 1


def test_hashed_similarity_is_exact() -> None:
    sets = [{1, 2, 3, 4}, {3, 4, 5}, {9}, set(), {1, 2, 3, 4}]
    left, right = np.array([0, 0, 0, 3, 2]), np.array([1, 4, 2, 3, 3])
    assert jaccard_of_hashed(hashed(sets), left, right).tolist() == [0.4, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "texts", [["abcdefg", "abc", "", "abcde", "bcdefg"], ["союз нерушимый", "港の市場で火事", "x"]]
)
def test_shingles_are_every_five_neighbouring_characters(texts: list[str]) -> None:
    sets = character_shingle_sets(texts, 5)
    expected = [
        {text[start : start + 5] for start in range(max(1, len(text) - 4))} if text else set() for text in texts
    ]
    assert sets.sizes.tolist() == [len(each) for each in expected]
    members = [
        set(sets.values[start:stop].tolist()) for start, stop in zip(sets.offsets, sets.offsets[1:], strict=False)
    ]
    for one in range(len(texts)):
        for other in range(one + 1, len(texts)):
            assert len(members[one] & members[other]) == len(expected[one] & expected[other])


def test_shingles_of_many_texts_are_those_of_each() -> None:
    texts = [f"text number {number} of the harbour" for number in range(300)]
    together = character_shingle_sets(texts, 5)
    for number in (0, 119, 120, 299):
        alone = character_shingle_sets([texts[number]], 5)
        members = together.values[together.offsets[number] : together.offsets[number + 1]]
        assert members.tolist() == alone.values.tolist()

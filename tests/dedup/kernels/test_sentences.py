"""Sentences, their sets, and the inverted index, checked against brute force."""

import random
import time
from itertools import combinations

import numpy as np
import pytest

from dedup.detection.kernels import inverted_index, sentences
from dedup.detection.kernels.parity_join import DayRange
from dedup.detection.kernels.sentences import (
    SentenceSets,
    least_counted,
    mark_of,
    rarity,
    repeated_sentences,
    sentence_sets,
    sentences_of,
    shared_sentences,
    weights_of,
)
from dedup.detection.kernels.tokens import Ragged
from tests.dedup.kernels.test_containment import scores_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n ", []),
        ("The ferry sails at noon", ["The ferry sails at noon"]),
        ("The ferry sails. The harbour waits!", ["The ferry sails.", "The harbour waits!"]),
        ("Dr. Smith left the U.S. embassy. He was late.", ["Dr. Smith left the U.S. embassy.", "He was late."]),
        ("A headline without an end\n\nThe ferry sails.", ["A headline without an end", "The ferry sails."]),
        ("A line that is\nwrapped goes on. So be it.", ["A line that is wrapped goes on.", "So be it."]),
        ("වරාය වසා ඇත. පාලම විවෘතයි.", ["වරාය වසා ඇත.", "පාලම විවෘතයි."]),
        ("துறைமுகம் மூடப்பட்டது. பாலம் திறந்தது.", ["துறைமுகம் மூடப்பட்டது.", "பாலம் திறந்தது."]),
        ("هل أغلق الميناء؟ نعم أغلق. فتح الجسر.", ["هل أغلق الميناء؟", "نعم أغلق.", "فتح الجسر."]),
        ("港口關閉了。橋開了嗎？開了！", ["港口關閉了。", "橋開了嗎？", "開了！"]),
        ("बंदरगाह बंद है। पुल खुला है।", ["बंदरगाह बंद है।", "पुल खुला है।"]),
    ],
)
def test_a_text_is_divided_into_its_sentences(text: str, expected: list[str]) -> None:
    assert sentences_of(text) == expected


@pytest.mark.parametrize("seed", [5, 6])
def test_no_character_is_lost_or_added(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    signs = "ab.!?\"“”()«»\n\r\t é1ා。؟।😀\u200d\u0301\u2028\u2029\x85A'’…「」[]"
    for _ in range(2_000):
        text = "".join(dice.choices(signs, k=dice.randrange(60)))
        assert "".join("".join(sentences_of(text)).split()) == "".join(text.split())
    # Line separators after an initial do no harm.
    assert sentences_of("Asked A.\u2028Perera said so. A.\u00a0Silva did not.")[-1].endswith("did not.")


@pytest.mark.parametrize("unit", ["The ferry sails at noon. ", "x", "“", "»", "'", "\n \n", "Mr. ", "… "])
def test_a_very_long_text_is_divided_in_time(unit: str) -> None:
    started = time.process_time()
    sentences_of(unit * (200_000 // len(unit)))
    assert time.process_time() - started < 3


def test_sentences_are_compared_as_normalised_and_short_ones_ignored() -> None:
    texts = [
        "The ferry sails at noon today. More to follow.",
        "THE FERRY — SAILS AT NOON, TODAY! Read more.",
        "More to follow. More to follow.",
        "",
    ]
    sets, weights, _ = sentence_sets(texts, minimum_characters=20, weighted=False)
    assert sets.sizes.tolist() == [1, 1, 0, 0]
    assert sets.values[0] == sets.values[1]
    assert weights.tolist() == [1.0, 1.0]
    assert sentence_sets(texts, minimum_characters=14, weighted=False).sets.sizes.tolist() == [2, 1, 1, 0]


def test_long_sentences_and_sentences_with_names_have_more_weight() -> None:
    def weight(sentence: str) -> float:
        return float(weights_of(np.array([mark_of(sentence, sentence.lower())], dtype=np.uint16))[0])

    assert weight("A" + "b" * 49) == 0.5
    assert weight("a" * 100) == 1.0
    assert weight("a" * 900) == 2.0
    assert weight("w" * 94 + " Perer") == 1.5
    assert weight("Perera " + "w" * 93) == 1.0  # the first word has its capital anyway
    assert weight("w" * 98 + " I") == 1.0
    assert rarity(np.array([1, 2, 4, 10])).tolist() == [1.0, 1.0, 0.5, 0.2]


def corpus_of(sets: list[dict[int, float]]) -> SentenceSets:
    members = [sorted(marks.items()) for marks in sets]
    values = np.array([key for member in members for key, _ in member], dtype=np.int64)
    weights = np.array([weight for member in members for _, weight in member], dtype=np.float32)
    return SentenceSets(Ragged(values, np.cumsum([0, *map(len, members)])), weights)


def brute_force(
    sets: list[dict[int, float]], days: list[int], *, most: int, day_window: int, weighted: bool
) -> dict[tuple[int, int], tuple[float, int, int]]:
    """Return score, sentences shared and all sentences of every pair that shares one."""
    counts = {key: sum(key in other_keys for other_keys in sets) for keys in sets for key in keys}
    kept = [
        {
            key: weight * (min(1.0, 2 / counts[key]) if weighted else 1.0)
            for key, weight in weights.items()
            if counts[key] <= most
        }
        for weights in sets
    ]
    scores = {}
    for left, right in combinations(range(len(sets)), 2):
        one, other = kept[left], kept[right]
        if days[right] - days[left] <= day_window and one.keys() & other.keys():
            both = one.keys() | other.keys()
            smaller = sum(min(one.get(key, 0.0), other.get(key, 0.0)) for key in both)
            larger = sum(max(one.get(key, 0.0), other.get(key, 0.0)) for key in both)
            scores[left, right] = (pytest.approx(smaller / larger), len(one.keys() & other.keys()), len(both))
    return scores


def joined(sets: list[dict[int, float]], days: list[int], first_row: int, day_window: int, **settings) -> dict:
    asked = DayRange(np.array(days, dtype=np.int64), first_row, day_window)
    return scores_of(list(shared_sentences(corpus_of(sets), asked, **settings)))


def by_day(sets: list[dict[int, float]], days: list[int], day_window: int, **settings) -> dict:
    """Return the pairs found day by day, each day with the days before it alone and the counts of all."""
    whole = corpus_of(sets)
    least = least_counted(settings["most_texts"], weighted=settings["weighted"])
    repeated = repeated_sentences(whole.sets.values.copy(), least)
    found: dict = {}
    for day in sorted(set(days)):
        begin = int(np.searchsorted(days, day - day_window))
        first, end = (int(np.searchsorted(days, day, side)) for side in ("left", "right"))
        part = corpus_of(sets[begin:end])._replace(repeated=repeated)
        asked = DayRange(np.array(days[begin:end], dtype=np.int64), first - begin, day_window)
        for pairs in shared_sentences(part, asked, **settings):
            columns = (pairs.left + begin, pairs.right + begin, *pairs[2:5])
            found |= {row[:2]: row[2:] for row in zip(*(column.tolist() for column in columns), strict=True)}
    return found


def random_sets(dice: random.Random, *, weighted: bool) -> list[dict[int, float]]:
    """Return sets of rare and frequent members; some are empty, some are others with a change."""
    sets: list[dict[int, float]] = []
    for _ in range(80):
        if sets and dice.random() < 0.5:
            keys = [key for key in dice.choice(sets) if dice.random() < 0.8]
        else:
            keys = [dice.randrange(-(2**60), 2**60) for _ in range(dice.choice([0, 1, 3, 12]))]
        keys += [dice.randrange(6) for _ in range(dice.randrange(3))]
        sets.append({key: dice.choice([0.25, 0.5, 1.0, 2.5]) if weighted else 1.0 for key in keys})
    return sets


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("at_once", [1, 7, 2_000_000])
def test_pairs_scores_and_counts_are_those_of_brute_force(seed, weighted, at_once, monkeypatch) -> None:
    print(f"seed {seed}")
    monkeypatch.setattr(inverted_index, "_PAIRED_AT_ONCE", at_once)
    monkeypatch.setattr(sentences, "_LOOKED_UP_AT_ONCE", at_once)
    dice = random.Random(seed)
    sets = random_sets(dice, weighted=weighted)
    days = sorted(dice.randrange(40) for _ in sets)
    for most, day_window in ((10, 30), (3, 40), (6, 5)):
        exact = brute_force(sets, days, most=most, day_window=day_window, weighted=weighted)
        assert exact
        for threshold in (0.05, 0.3, 0.5, 1.0):
            for first_row in (0, 45, len(sets)):
                settings = {"day_window": day_window, "most_texts": most, "threshold": threshold, "weighted": weighted}
                expected = {
                    pair: row
                    for pair, row in exact.items()
                    if row[0].expected >= threshold - 1e-6 and pair[1] >= first_row
                }
                assert joined(sets, days, first_row, **settings) == expected
            assert by_day(sets, days, **settings) == joined(sets, days, 0, **settings)

"""Masked word shingles: which words they are made of, and that they never change from machine to machine."""

import random
import time
import unicodedata

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization.text import normalize_text
from dedup.detection.kernels import masked_shingles
from dedup.detection.kernels.masked_shingles import _UNSPACED, SOLO, has_contents, masked_shingle_sets, words_of


def sets_of(*texts: str) -> list[set[int]]:
    made = masked_shingle_sets([normalize_text(text) for text in texts])
    return [set(members.tolist()) for members in made.split()]


def shingles_by_hand(text: str) -> set[tuple[str, ...]]:
    words = ["#" if any(sign in "0123456789" for sign in word) else word for word in text.split()]
    return {tuple(words[place : place + 4]) for place in range(max(len(words) - 3, min(len(words), 1)))}


@pytest.mark.parametrize("seed", [11, 12])
def test_there_are_as_many_as_different_runs_of_four_words_and_as_many_shared(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    words = ["the", "ferry", "sails", "at", "7", "12b", "noon", "today"]
    texts = [" ".join(dice.choices(words, k=dice.randrange(40))) for _ in range(100)]
    made = sets_of(*texts)
    by_hand = [shingles_by_hand(text) for text in texts]
    assert [len(members) for members in made] == [len(members) for members in by_hand]
    for one, other in zip(range(99), range(1, 100), strict=True):
        assert len(made[one] & made[other]) == len(by_hand[one] & by_hand[other])


def test_the_hashes_are_the_same_on_every_machine() -> None:
    made = masked_shingle_sets(["the ferry sails at noon", "ferry", ""])
    assert made.offsets.tolist() == [0, 2, 3, 3]
    assert made.values.dtype == np.uint32
    assert made.values.tolist() == [3760132692, 3962327420, 93988623]


@pytest.mark.parametrize(
    "texts",
    [
        ("Petrol costs 3.20 crowns, diesel 2.95.", "Petrol costs 3.45 crowns, diesel 3.05."),
        # A word with a digit is a number.
        ("Road A12 is closed since 9am", "Road B7 is closed since 10am"),
        # Mixed scripts are divided, and their numbers masked.
        ("港口於2025年7月關閉", "港口於2026年12月關閉", "港 口 於 1 年 2 月 關 閉"),
    ],
)
def test_texts_that_differ_in_numbers_only_have_the_same_shingles(texts: tuple[str, ...]) -> None:
    first, *others = sets_of(*texts, "Petrol costs a crown.")
    assert others[:-1] == [first] * (len(texts) - 1)
    assert not first & others[-1]


def test_one_to_three_words_are_one_shingle_and_none_has_none() -> None:
    made = sets_of("", "Fire", "Big fire", "A big fire", "A very big fire")
    assert [len(members) for members in made] == [0, 1, 1, 1, 1]
    assert len(set.union(*made)) == 4
    # Marks belong to their word.
    both = sets_of("කොළඹ වරාය අද සවස වසා දමන ලදී", "கொழும்பு துறைமுகம் இன்று மாலை மூடப்பட்டது")
    assert [len(members) for members in both] == [4, 2]


@pytest.mark.parametrize(
    "text",
    [
        "港口今天晚上因大風關閉",
        "みなとはきょうのよるしまる",
        "ท่าเรือปิดคืนนี้เพราะลมแรง",
        "ທ່າເຮືອປິດຄືນນີ້",
        "កំពង់ផែបិទយប់នេះ",
        "ဆိပ်ကမ်းကိုယနေ့ညပိတ်ထားသည်",
    ],
)
def test_in_scripts_without_blanks_each_character_is_a_word(text: str) -> None:
    letters = [place for place, sign in enumerate(text) if unicodedata.category(sign)[0] == "L"]
    whole, rest = sets_of(text, text[letters[len(letters) // 2] :])
    assert len(whole) == len(letters) - 3
    assert rest < whole


def test_texts_together_have_the_sets_that_they_have_alone() -> None:
    texts = ["The ferry sails at noon today.", "", "港口今天晚上關閉", "Rain."]
    assert sets_of(*texts) == [sets_of(text)[0] for text in texts]
    assert masked_shingle_sets([]).offsets.tolist() == [0]


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_texts_make_ascending_sets(texts: list[str]) -> None:
    made = masked_shingle_sets([normalize_text(text) for text in texts])
    assert len(made.sizes) == len(texts)
    assert [size > 0 for size in made.sizes] == [bool(normalize_text(text)) for text in texts]
    assert all((np.diff(members.astype(np.int64)) > 0).all() for members in made.split())


@pytest.mark.parametrize("unit", ["港", "x", "1", "ก็", "word ", "a 1 "])
def test_a_very_long_text_is_quick(unit: str) -> None:
    started = time.process_time()
    masked_shingle_sets([unit * (2_000_000 // len(unit))])
    assert time.process_time() - started < 3


def test_words_are_those_of_the_shingles() -> None:
    assert words_of("the ferry sails") == ["the", "ferry", "sails"]
    assert words_of("வடக்கு மழை") == ["வடக்கு", "மழை"]
    assert words_of("港口 closed") == ["港", "口", "closed"]


def test_the_quick_test_finds_every_character_that_is_a_word_by_itself() -> None:
    alone = regex.compile(rf"[{SOLO}]")
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert [character for character in characters if alone.match(character) and not _UNSPACED.match(character)] == []


@pytest.mark.parametrize("kept", [3, 300_000])
def test_hashes_of_words_are_found_again_whatever_their_length_and_number(kept: int, monkeypatch) -> None:
    monkeypatch.setattr(masked_shingles, "_KEPT", kept)
    asked: list[str] = []

    def hash_of(word: str) -> int:
        asked.append(word)
        return hash(word) & 0xFFFFFFFFFFFFFFFF

    known = masked_shingles.WordHashes(hash_of)
    # Words that differ in one sign, at each of their places; in Sinhala, a sign has three bytes.
    words = [sign * before + "x" + sign * 3 for sign in ("a", "é", "ම") for before in range(70)]
    texts = ["", *(" ".join(words[start : start + 9]) for start in range(0, len(words), 9)), "  twice  twice ", ""]
    for _ in range(3):
        hashes, ends = known.of(texts)
        assert hashes.tolist() == [hash(word) & 0xFFFFFFFFFFFFFFFF for text in texts for word in text.split()]
        assert np.diff(ends, prepend=0).tolist() == [len(text.split()) for text in texts]
    if kept > len(words):
        short = [word for word in asked if len(word.encode()) <= masked_shingles._LONGEST]
        assert len(short) == len(set(short))  # each is made once


def test_other_blanks_divide_words_too() -> None:
    made = [masked_shingle_sets([text]).values.tolist() for text in ("a b c d", "a\nb\u2003c\xa0d", "\x1ca  b c d ")]
    assert made[0] == made[1] == made[2]


SYLLABLES = {
    "en": ("fer har coun bri gar cap en mar tow ligh schoo riv brew clo mu", " "),
    "si": ("නැ ව රා ය ස භා පා ල ම උ ය න ක පි තා", " "),
    "zh": ("渡 轮 港 口 议 会 大 桥 花 园 船 长 引 擎 市 场 塔 楼 灯 学 校 河 流 酒 厂 时 钟 博 物 馆", ""),
}


def text(language: str, seed: int, words: int = 120) -> str:
    """Return a text of random words of three syllables."""
    dice = random.Random(f"{language} {seed}")
    syllables, blank = SYLLABLES[language]
    return blank.join("".join(dice.choices(syllables.split(), k=3)) for _ in range(words))


@pytest.mark.parametrize("language", SYLLABLES)
def test_unrelated_texts_are_separate_contents(language: str) -> None:
    texts = [normalize_text(text(language, seed)) for seed in range(4)]
    assert has_contents(texts, 4)
    assert not has_contents(texts, 5)


@pytest.mark.parametrize("language", SYLLABLES)
def test_versions_of_a_story_are_one_content(language: str) -> None:
    story, tenth = text(language, 1), len(text(language, 1)) // 10
    changed = story[:tenth] + text(language, 7, 20) + story[3 * tenth : 6 * tenth] + text(language, 8, 20)
    cropped = story[: 4 * tenth]
    assert not has_contents([story, changed, cropped, story], 2)
    assert has_contents([story, changed, text(language, 2)], 2)


def test_a_ticker_whose_texts_grow_out_of_each_other_is_one_content() -> None:
    entries = [text("en", seed, 60) for seed in range(30)]
    ticker = [" ".join(reversed(entries[max(0, last - 5) : last + 1])) for last in range(30)]
    assert has_contents([ticker[0], ticker[-1]], 2)
    assert not has_contents(ticker, 2)
    between = [content for pair in zip(ticker, [text("en", 99)] * 30, strict=True) for content in pair]
    assert has_contents(between, 2)
    assert not has_contents(between, 3)


def test_empty_texts_have_no_content_and_short_ones_do() -> None:
    assert not has_contents(["", "", ""], 1)
    assert not has_contents([], 1)
    assert has_contents(["comment now", "more to follow"], 2)
    assert not has_contents(["comment now", "comment now"], 2)


def test_it_reads_no_more_texts_than_needed() -> None:
    read = []
    texts = (read.append(seed) or text("en", seed) for seed in range(100))
    assert has_contents(texts, 3)
    assert read == [0, 1, 2]

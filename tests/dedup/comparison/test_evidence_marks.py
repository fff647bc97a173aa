"""What each pass found, located in the contents: held against the kernels, which compare the same things as hashes."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.normalization.text import normalize_text
from dedup.detection.comparison.evidence_marks import NO_MARKS, marks_of
from dedup.detection.comparison.located import compared_text, normalized
from dedup.detection.kernels.masked_shingles import masked_shingle_sets
from dedup.detection.kernels.sentences import sentence_sets
from dedup.detection.kernels.stopwords import stop_word_shingle_sets
from dedup.detection.kernels.tokens import character_shingle_sets
from dedup.detection.types import Mark

SETTINGS = {"prefix": 60, "shingle": 5, "minimum_characters": 12}
# Capitals that fold to two letters, ligatures, marks, joiners, Hangul letters, Sinhala, Chinese, emoji, odd blanks.
LETTERS = "abcAB12 .,-—’\n\t\u00a0ßﬁéE\u0301İſΣ①½\u00ad\u200dක\u0dcaෂ我们泰ไทยก\u1112\u1161\u11ab한\u3164👍\ufe0f"
WORDS = ["the", "harbour", "is", "closed", "in", "12", "14", "boats", "of", "Ferry", "我们", "café", "Straße", "—"]


@given(st.text(alphabet=LETTERS, max_size=60))
@example("q\u0307 a\u0323\u0307")
def test_every_character_of_a_normalised_text_is_located(content: str) -> None:
    found = normalized(compared_text(content, [], Mode.KEEP))

    assert found.text == normalize_text(content)
    assert list(found.starts) == sorted(found.starts)
    for start, end, character in zip(found.starts, found.ends, found.text, strict=True):
        assert 0 <= start < end <= len(content)
        if character != " ":
            assert character in normalize_text(f"q{content[start:end]}q")[1:-1]


def test_places_are_as_narrow_as_the_characters() -> None:
    found = normalized(compared_text("Die Straße: Café\u0301s—ﬁx", [], Mode.KEEP))

    assert found.text == "die strasse café\u0301s fix"
    assert [found.starts[found.text.index(word)] for word in ("strasse", "caf", "fix")] == [4, 12, 19]


@pytest.mark.parametrize("mode", Mode)
def test_what_is_removed_is_no_part_of_the_text_nor_of_a_mark(mode: Mode) -> None:
    content = "The pier closes.  Read more. It opens again.\n\nSubscribe now.\n\nThe end is near."
    marks = [[18, 28, 0], [46, 60, 1]]
    found = compared_text(content, marks, mode)

    assert found.text == without_boilerplate(content, marks, mode)
    for character, start in zip(found.text, found.starts, strict=True):
        assert character.isspace() or content[start] == character
    whole = "|".join(content[start:end].strip() for start, end in found.spans([(0, len(found.text))]))
    assert ("Read more." in whole, "Subscribe now." in whole) == (mode is Mode.KEEP, mode is not Mode.TOPIC)


@pytest.mark.parametrize("seed", range(25))
def test_the_marks_are_what_the_kernels_find_equal(seed: int) -> None:
    choose = random.Random(seed)
    common = [choose.choice(WORDS) for _ in range(6)]
    texts = []
    for _ in range(2):
        words = [choose.choice(WORDS) for _ in range(choose.randint(0, 9))]
        at = choose.randint(0, len(words))
        texts.append(" ".join([*words[:at], *common, *words[at:]]).replace("— ", ". ", 1))
    places = [compared_text(text, [], Mode.KEEP) for text in texts]
    heads = [normalize_text(text)[: SETTINGS["prefix"]] for text in texts]
    whole = [normalize_text(text) for text in texts]
    kernels = {
        Mark.CHARACTERS: character_shingle_sets(heads, SETTINGS["shingle"]),
        Mark.STOP_WORDS: stop_word_shingle_sets(heads).split(),
        Mark.PHRASES: masked_shingle_sets(whole).split(),
        Mark.SENTENCES: sentence_sets(texts, minimum_characters=12, weighted=False).sets.split(),
    }
    for mark, (one, other) in kernels.items():
        assert marks_of(mark, *places, SETTINGS).shared == len(set(one.tolist()) & set(other.tolist())), (mark, texts)


def test_marks_cover_exactly_what_both_have() -> None:
    left = compared_text("The old pier closes on Monday. Nobody was hurt there, the mayor said.", [], Mode.KEEP)
    right = compared_text("Fire! Nobody was hurt there, the mayor said. The new pier closes.", [], Mode.KEEP)

    def found(mark: Mark, **settings: int) -> list[list[str]]:
        marks = marks_of(mark, left, right, {**SETTINGS, "prefix": 1000, **settings})
        return [[left.text[slice(*span)] for span in marks.left], [right.text[slice(*span)] for span in marks.right]]

    sentence = "Nobody was hurt there, the mayor said."
    assert found(Mark.SENTENCES) == [[sentence], [sentence]]
    assert found(Mark.SENTENCES, minimum_characters=60) == [[], []]
    assert found(Mark.PHRASES) == [[sentence[:-1]], [sentence[:-1]]]
    assert found(Mark.STOP_WORDS) == [[sentence[:-1]]] * 2
    assert found(Mark.CHARACTERS, shingle=12) == [
        [" pier closes", f" {sentence[:-1]}"],
        [f" {sentence[:-1]}", " pier closes"],
    ]
    assert found(Mark.BEGINNING, prefix=7) == [["The old"], ["Fire! No"]]
    assert found(Mark.TEXT) == [[], []]
    assert marks_of(Mark.TEXT, left, compared_text(left.text.upper(), [], Mode.KEEP), {}).shared == 1
    assert marks_of(Mark.HEADLINE, left, right, {}) == NO_MARKS

"""The positions of the sentences of a text, and how much of them is quoted."""

import random
import time

import pytest

from articles.normalization.sentences import located_sentences, sentences_of


def test_a_sentence_is_found_at_its_position() -> None:
    text = " The ferry\n sails.  It is   late!\n\n \nRead more\n"
    found = list(located_sentences(text))

    assert [sentence.text for sentence in found] == ["The ferry sails.", "It is late!", "Read more"]
    places = [text[sentence.start : sentence.end] for sentence in found]
    assert places == ["The ferry\n sails.", "It is   late!", "Read more"]
    assert [sentence.alone for sentence in found] == [False, False, True]


@pytest.mark.parametrize("seed", [7, 8])
def test_located_sentences_are_the_sentences(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    signs = "ab.!?\"“”()«»\n\r\t é1ා。؟।😀\u200d\u0301\u2028\u2029\x85A'’…「」[]‘‚„"
    for _ in range(2_000):
        text = "".join(dice.choices(signs, k=dice.randrange(60)))
        found = list(located_sentences(text))
        there = [" ".join(text[sentence.start : sentence.end].split()) for sentence in found]
        assert there == [sentence.text for sentence in found] == sentences_of(text)
        assert all(0 <= sentence.quoted <= len(sentence.text) for sentence in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nobody said so.", [0]),
        ("“So be it,” she said.", [11]),
        ('She said: "So be it."', [11]),
        ("The captain's ferry isn't the owners' boat.", [0]),
        ('A 10" pipe and a 12" pipe.', [0]),
        ("‘It’s the winter’s end’, he said.", [23]),
        ("“We wait. We hope.", [9, 8]),
        ("“We wait.\n\nNobody came.", [9, 0]),  # an open quotation ends with its paragraph
    ],
)
def test_characters_between_quotation_marks_are_counted(text: str, expected: list[int]) -> None:
    assert [sentence.quoted for sentence in located_sentences(text)] == expected


@pytest.mark.parametrize("unit", ["“", "”", "'a ", "'a", "‘a ", "‘a’b", '"', "„«»", "a' "])
def test_a_very_long_text_of_quotation_marks_is_read_in_time(unit: str) -> None:
    started = time.process_time()
    list(located_sentences(unit * (100_000 // len(unit))))
    assert time.process_time() - started < 5

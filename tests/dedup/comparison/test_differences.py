"""The differences that the pair page marks."""

from __future__ import annotations

import random
import time

import pytest

from dedup.comparison.differences import Differences, Segment, compare_texts


def left(differences: Differences) -> str:
    return _drawn(segment for block in differences.blocks for segment in block.left)


def right(differences: Differences) -> str:
    return _drawn(segment for block in differences.blocks for segment in block.right)


def merged(differences: Differences) -> str:
    return _drawn(segment for block in differences.blocks for segment in block.merged)


def _drawn(segments: object) -> str:
    signs = {"same": "{}", "deleted": "[-{}-]", "inserted": "[+{}+]"}
    return "".join(signs[segment.kind].format(segment.text) for segment in segments)  # type: ignore[attr-defined]


def test_a_replaced_word() -> None:
    found = compare_texts("The pier closes on Monday at noon.", "The pier closes on Tuesday at noon.")

    assert left(found) == "The pier closes on [-Monday-] at noon."
    assert right(found) == "The pier closes on [+Tuesday+] at noon."
    assert merged(found) == "The pier closes on [-Monday-] [+Tuesday+] at noon."
    assert (found.same, found.deleted, found.inserted, found.equal) == (7, 1, 1, False)


def test_numbers_are_whole_words() -> None:
    assert left(compare_texts("Week 4: 1,286 cases", "Week 4: 1,287 cases")) == "Week 4: [-1,286-] cases"


def test_blanks_quotation_marks_and_composition_are_ignored() -> None:
    found = compare_texts("“Nobody”  knows\nthe cafe\u0301 – or so.", '"Nobody" knows the caf\u00e9 - or so.')

    assert found.equal


def test_case_is_a_difference() -> None:
    assert left(compare_texts("Ferry closed", "FERRY closed")) == "[-Ferry-] closed"


@pytest.mark.parametrize(
    ("first", "second", "drawn"),
    [
        ("警方今日在东京逮捕了三人。", "警方昨日在大阪逮捕了三人。", "警方[-今-]日在[-东京-]逮捕了三人。"),
        ("港の桟橋は六か月閉鎖", "港の桟橋は七か月閉鎖", "港の桟橋は[-六-]か月閉鎖"),
        ("ශ්‍රී ලංකාවේ ජනාධිපති අද", "ශ්‍රී ලංකාවේ අගමැති අද", "ශ්‍රී ලංකාවේ [-ජනාධිපති-] අද"),
        ("ท่าเรือปิดหกเดือน", "ท่าเรือปิดเจ็ดเดือน", "ท่าเรือปิด[-หก-]เดือน"),
        ("قرر المجلس يوم الثلاثاء", "قرر المجلس يوم الأربعاء", "قرر المجلس يوم [-الثلاثاء-]"),
    ],
)
def test_other_scripts(first: str, second: str, drawn: str) -> None:
    assert left(compare_texts(first, second)) == drawn


def test_short_equal_stretches_between_long_changes_are_ignored() -> None:
    found = compare_texts(
        "It began with thunderstorms of extraordinary violence overnight.",
        "It began with sunshine of uninterrupted brilliance overnight.",
    )

    assert left(found) == "It began with [-thunderstorms of extraordinary violence-] overnight."


def test_a_deletion_covers_a_whole_sentence() -> None:
    found = compare_texts("It rained. The pier is shut. The ferry sails.", "It rained. The ferry sails.")

    assert left(found) == "It rained. [-The pier is shut.-] The ferry sails."


def test_an_insertion_at_the_end_begins_with_its_sentence() -> None:
    found = compare_texts("The ferry sails.", "The ferry sails. The pier is shut.")

    assert right(found) == "The ferry sails. [+The pier is shut.+]"


def test_paragraphs_are_blocks_side_by_side() -> None:
    found = compare_texts("One here.\n\nTwo there.", "One here.\n\nTwo everywhere.")

    assert [block.left for block in found.blocks] == [
        (Segment("same", "One here."),),
        (Segment("same", "Two "), Segment("deleted", "there"), Segment("same", ".")),
    ]
    assert [block.changed for block in found.blocks] == [False, True]


def test_long_equal_stretches_fold_at_sentence_ends() -> None:
    middle = " ".join(f"Sentence number {number} says nothing new." for number in range(20))
    found = compare_texts(
        f"Old start. Near it. {middle} Before the end. Old end.",
        f"New start. Near it. {middle} Before the end. New end.",
    )

    assert [block.folds for block in found.blocks] == [False, True, False]
    assert found.blocks[0].left[-1] == Segment("same", "start.")
    assert found.blocks[1].left[0].text.startswith("Near it. Sentence number 0")
    assert found.blocks[1].left[0].text.endswith("Before the end.")


def test_equal_texts() -> None:
    found = compare_texts("The same words.", "The same words.")

    assert found.equal
    assert left(found) == right(found) == merged(found) == "The same words."


@pytest.mark.parametrize(("first", "second"), [("", ""), ("", "Words."), ("Words.", ""), (" \n ", "\n")])
def test_empty_texts(first: str, second: str) -> None:
    found = compare_texts(first, second)

    assert "".join(segment.text for block in found.blocks for segment in block.left) == first.strip()
    assert "".join(segment.text for block in found.blocks for segment in block.right) == second.strip()


@pytest.mark.parametrize("seed", [20260302])
def test_every_word_of_both_texts_is_shown_in_order(seed: int) -> None:
    draw = random.Random(seed)
    vocabulary = ["pier", "ferry", "the", "a", "council", ".", ",", "\n\n", "closed.", "1,400"]
    for _ in range(200):
        first = " ".join(draw.choices(vocabulary, k=draw.randrange(0, 120)))
        second = " ".join(draw.choices(vocabulary, k=draw.randrange(0, 120)))
        found = compare_texts(first, second)
        for side, text in (("left", first), ("right", second)):
            shown = "".join(segment.text for block in found.blocks for segment in getattr(block, side))
            assert "".join(shown.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("first", "second", "too_long"),
    [
        pytest.param("word " * 16_000, "other " * 14_000, False, id="words"),
        pytest.param("港" * 80_000, "桟" * 80_000, True, id="signs"),
        pytest.param("x" * 80_000, "x." * 40_000, False, id="one word"),
        pytest.param(" " * 80_000, "\n" * 80_000, False, id="blanks"),
    ],
)
def test_long_texts_are_compared_in_time(first: str, second: str, too_long: bool) -> None:
    began = time.process_time()
    found = compare_texts(first, second)

    assert time.process_time() - began < 0.5
    assert found.too_long is too_long


def test_long_texts_with_few_differences_are_compared() -> None:
    found = compare_texts("港" * 70_000 + "東京" + "。" * 10_000, "港" * 70_000 + "大阪" + "。" * 10_000)

    assert (found.too_long, found.same, found.deleted, found.inserted) == (False, 80_000, 2, 2)


def test_texts_beyond_the_bound_are_shown_without_marks() -> None:
    found = compare_texts("港" * 80_000, "桟" * 80_001)

    assert (found.same, found.deleted, found.inserted, found.equal) == (0, 80_000, 80_001, False)

    assert [len(block.left) for block in found.blocks] == [1]
    assert found.blocks[0].left[0] == Segment("same", "港" * 80_000)


def test_line_ends_inside_a_change_are_not_marked() -> None:
    found = compare_texts("Old words here.\n\nMore old words.", "")

    assert left(found) == "[-Old words here.-]\n\n[-More old words.-]"

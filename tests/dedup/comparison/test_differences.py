"""The differences that the pair page marks."""

import datetime
import random
import re
from collections import Counter
from functools import partial
from itertools import accumulate, pairwise

import pytest

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from dedup.detection.comparison.compare import compare
from dedup.detection.comparison.differences import Differences, compare_headlines, compare_texts
from dedup.detection.comparison.prepared import MAX_CHARACTERS, ArticleText, Preparer
from dedup.detection.comparison.shown_text import MarkedText, Segment, passages


def differences(left: str, right: str) -> Differences:
    return compare_texts(MarkedText(left), MarkedText(right))


def segments(differences: Differences, side: str) -> list[Segment]:
    return [segment for block in differences.blocks for segment in getattr(block, side)]


def text(differences: Differences, side: str) -> str:
    return "".join(segment.text for segment in segments(differences, side))


def drawn(side: str, differences: Differences) -> str:
    """Return the text of a side with its marks: a tilde where the difference is minor."""
    signs = {"deleted": "[-{}{}-]", "inserted": "[+{}{}+]"}
    shown = ""
    for segment in segments(differences, side):
        if segment.kind == "same":
            shown += segment.text
        elif segment.kind == "moved":
            shown += f"<{segment.moved.number} {'down' if segment.moved.first else 'up'}>"
        else:
            shown += signs[segment.kind].format("~" * segment.minor, segment.text)
    return shown


left, right, merged = (partial(drawn, side) for side in ("left", "right", "merged"))


def test_a_replaced_word() -> None:
    found = differences("The pier closes on Monday at noon.", "The pier closes on Tuesday at noon.")

    assert left(found) == "The pier closes on [-Monday-] at noon."
    assert right(found) == "The pier closes on [+Tuesday+] at noon."
    assert merged(found) == "The pier closes on [-Monday-][+Tuesday+] at noon."
    assert (found.same, found.deleted, found.inserted, found.equal) == (6, 1, 1, False)


def test_blanks_quotation_marks_and_composition_are_ignored() -> None:
    found = differences("“Nobody”  knows\nthe cafe\u0301 – or so.", '"Nobody" knows the caf\u00e9 - or so.')

    assert found.equal


def test_case_punctuation_and_spelling_are_marked_but_count_as_shared() -> None:
    found = differences("The Harbour closes, they say.", "The harbour closes – they say!")
    assert left(found) == "The [-~Harbour-] closes[-~,-] they say[-~.-]"
    assert merged(found) == "The [-~Harbour-][+~harbour+] closes[-~,-][+~ –+] they say[-~.-][+~!+]"
    assert (found.same, found.deleted, found.inserted, found.respelt) == (5, 0, 0, 0)
    assert (found.equal, found.identical, found.first_change) == (True, False, None)

    found = differences("The harbour is closed at noon.", "The harbor is closed at noon.")
    assert merged(found) == "The [-~harbour-][+~harbor+] is closed at noon."
    assert (found.same, found.deleted, found.inserted, found.respelt, found.equal) == (6, 0, 0, 1, False)


@pytest.mark.parametrize(
    ("first", "second", "drawn"),
    [
        ("警方今日在东京逮捕了三人。", "警方昨日在大阪逮捕了三人。", "警方[-今-]日在[-东京-]逮捕了三人。"),
        ("港の桟橋は六か月閉鎖", "港の桟橋は七か月閉鎖", "港の桟橋は[-六-]か月閉鎖"),
        ("අද උදේ ශ්‍රී ලංකාවේ ජනාධිපති", "අද උදේ ශ්‍රී ලංකාවේ අගමැති", "අද උදේ ශ්‍රී ලංකාවේ [-ජනාධිපති-]"),
        ("ท่าเรือปิดหกเดือน", "ท่าเรือปิดเจ็ดเดือน", "ท่าเรือปิด[-หก-]เดือน"),
        ("قرر المجلس البلدي يوم الثلاثاء", "قرر المجلس البلدي يوم الأربعاء", "قرر المجلس البلدي يوم [-الثلاثاء-]"),
        # Numbers are whole words, and a deletion covers a whole sentence. Line ends inside a change are not marked.
        ("Week 4 has: 1,286 cases", "Week 4 has: 1,287 cases", "Week 4 has: [-1,286-] cases"),
        (
            "It rained. The pier is shut. So be it.",
            "It rained. So be it.",
            "It rained. [-The pier is shut.-] So be it.",
        ),
        ("Old words here.\n\nMore old words.", "", "[-Old words here.-]\n\n[-More old words.-]"),
    ],
)
def test_what_is_marked_in_any_script(first: str, second: str, drawn: str) -> None:
    assert left(differences(first, second)) == drawn


def test_an_insertion_at_the_end_begins_with_its_sentence() -> None:
    found = differences("The ferry sails.", "The ferry sails. The pier is shut.")

    assert right(found) == "The ferry sails. [+The pier is shut.+]"


def test_paragraphs_are_blocks_side_by_side() -> None:
    found = differences(
        "One here is new.\n\nTwo there stay here as they were.", "One here is new.\n\nTwo there stay as they were."
    )

    assert [block.left for block in found.blocks] == [
        [Segment("same", "One here is new.\n\n")],
        [Segment("same", "Two there stay "), Segment("deleted", "here"), Segment("same", " as they were.")],
    ]
    assert [block.changed for block in found.blocks] == [False, True]


def test_long_equal_stretches_fold_at_sentence_ends() -> None:
    middle = " ".join(f"Sentence number {number} says nothing new." for number in range(20))
    found = differences(
        f"This is the old start. Near it. {middle} Before the end. This is the old end.",
        f"This is the new start. Near it. {middle} Before the end. This is the new end.",
    )

    assert [block.folds for block in found.blocks] == [False, True, False]
    assert found.blocks[0].left[-1] == Segment("same", " start. ")
    assert found.blocks[1].left[0].text.startswith("Near it. Sentence number 0")
    assert found.blocks[1].left[0].text.endswith("Before the end. ")


@pytest.mark.parametrize(("first", "second"), [("", ""), ("", "Words."), ("Words.", ""), (" \n ", "\n")])
def test_empty_texts(first: str, second: str) -> None:
    found = differences(first, second)

    assert (text(found, "left"), text(found, "right")) == (first, second)


PIER = "The pier closes on Monday for repairs of its roof."
FERRY = "Ferries sail from the old quay until the first of May."
MAYOR = "The mayor thanked all those who had waited for so long."


def test_sentences_are_aligned_first_whatever_stands_around_them() -> None:
    own = " ".join(f"In harbour {number} nothing at all is like the pier of the others." for number in range(60))
    found = differences(f"{own} {PIER} {FERRY} {own} The end.", f"{FERRY} {MAYOR}")

    assert (found.same, found.inserted) == (11, 11)
    assert right(found) == f"{FERRY} [+{MAYOR}+]"
    assert [(block.folds, block.shared) for block in found.blocks] == [(True, 0), (False, 11), (True, 0)]
    assert (found.first_change, found.first_shared) == (0, 1)


def test_moved_sentences_are_shared_and_marked_in_both_places() -> None:
    found = differences(f"{PIER} {FERRY} {MAYOR}", f"{MAYOR} {PIER} {FERRY.replace('first', 'second')}")

    assert left(found) == f"{PIER} Ferries sail from the old quay until the [-first-] of May. <1 up>{MAYOR}"
    assert right(found) == f"<1 down>{MAYOR} {PIER} Ferries sail from the old quay until the [+second+] of May."
    assert (found.same, found.deleted, found.inserted, found.moved) == (31, 1, 1, 11)


def test_what_both_have_instead_of_something_else_is_side_by_side() -> None:
    found = differences(f"{PIER} One thing. {MAYOR}", f"{PIER} Quite another matter. {MAYOR}")

    assert merged(found) == f"{PIER} [-One thing.-] [+Quite another matter.+] {MAYOR}"
    nothing = differences("One thing here. " * 60, "Quite another matter. " * 60)
    assert not nothing.folds  # nobody could decide on two folded texts


def test_headlines_are_one_sentence_each() -> None:
    found = compare_headlines("Port shut. Ferries wait", "Port open. Ferries wait")
    assert left(found) == "Port [-shut-]. Ferries wait"
    assert merged(compare_headlines("Pier closes", "Pier closed")) == "Pier [-~closes-][+~closed+]"
    assert left(compare_headlines("The rates of the bank rise", "A mayor thanks all the ferries")).startswith(
        "[-The rates"
    )
    assert compare_headlines("", "").identical


def words_in(text: str) -> list[str]:
    """Return the words of an invented text, in a way of its own."""
    return re.findall(r"[a-z0-9]+", text.lower())


class Draw:
    """Two texts of which one is made from the other as newspapers do it."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.vocabulary = ["".join(self.dice.choices("abdegilmnorstu", k=self.dice.randint(2, 9))) for _ in range(90)]

    def sentence(self) -> str:
        words = self.dice.choices(self.vocabulary, k=self.dice.choice([2, 5, 9, 14, 25]))
        return " ".join([words[0].capitalize(), *words[1:]]) + self.dice.choice([".", ".", "!", "?"])

    def edited(self, sentence: str) -> str:
        words = sentence[:-1].split()
        for _ in range(self.dice.choice([0, 0, 0, 1, 2, 5])):
            at = self.dice.randrange(len(words))
            alike = words[at][:-1] + "x", words[at].upper(), f"{words[at]},"
            new = self.dice.choice([[], [self.dice.choice(self.vocabulary)], *([text] for text in alike)])
            words[at : at + self.dice.choice([0, 1, 1, 3])] = new
            words = words or ["Nothing"]
        return " ".join(words) + "."

    def text(self, sentences: list[str]) -> str:
        return "".join(sentence + self.dice.choice([" ", " ", "\n", "\n\n"]) for sentence in sentences)

    def copy(self, sentences: list[str]) -> list[str]:
        kept = [self.edited(sentence) for sentence in sentences if self.dice.random() < 0.8]
        start = self.dice.randrange(len(kept) + 1)
        kept = self.dice.choice([kept, kept[start:], kept[:start], kept[start:] + kept[:start]])
        own = [self.sentence() for _ in range(self.dice.choice([0, 2, 20]))]
        return self.dice.choice([kept + own, own + kept, own[:1] + kept + own[1:]])

    def marked(self, sentences: list[str], mode: Mode) -> MarkedText:
        content = self.text(sentences)
        ends = list(accumulate(len(sentence) for sentence in re.findall(r"[^.!?]*[.!?]\s*", content)))
        marks = [[start, end - 1, 0] for start, end in pairwise([0, *ends]) if self.dice.random() < 0.1]
        return MarkedText(content, marks if mode is not Mode.KEEP else [], date=datetime.date(2026, 3, 2), mode=mode)


@pytest.mark.parametrize("mode", [Mode.KEEP, Mode.TOPIC])
@pytest.mark.parametrize("seed", range(3))
def test_a_difference_is_both_texts_and_the_counts_of_the_comparison(seed: int, mode: Mode) -> None:
    draw = Draw(seed)
    for _ in range(60):
        sentences = [draw.sentence() for _ in range(draw.dice.randrange(1, 14))]
        texts = [draw.marked(sentences, mode), draw.marked(draw.copy(sentences), mode)]
        if draw.dice.random() < 0.5:
            texts.reverse()
        found = compare_texts(*texts)
        kept = [without_boilerplate(of_side.content, of_side.boilerplate, mode) for of_side in texts]
        prepared = [
            Preparer().prepare(ArticleText(1, of_side.date, "", content))
            for of_side, content in zip(texts, kept, strict=True)
        ]
        counted = compare(prepared[0], prepared[1])
        shared = round(counted.matched_share * counted.shorter_words)
        assert found.same == shared, texts
        for side, of_side, words in zip(("left", "right"), texts, kept, strict=True):
            assert text(found, side) == of_side.content
            if mode is Mode.KEEP:
                same = [segment.text for segment in segments(found, side) if segment.kind == "same" or segment.minor]
                assert len(words_in(" ".join(same))) == shared, texts
            assert getattr(found, f"{side}_words") == len(words_in(words))
        if mode is Mode.KEEP:
            assert_no_equal_sentence_is_removed_and_added(found, texts)


def assert_no_equal_sentence_is_removed_and_added(found: Differences, texts: list[MarkedText]) -> None:
    differing = []
    for side, content in zip(("left", "right"), (of_side.content for of_side in texts), strict=True):
        marks = "".join(
            ("x" if segment.kind in ("deleted", "inserted") and not segment.minor else " ") * len(segment.text)
            for segment in segments(found, side)
        )
        sentences = [match.span() for match in re.finditer(r"[^.!?]*[.!?]", content)]
        differing.append(
            Counter(tuple(words_in(content[start:end])) for start, end in sentences if "x" in marks[start:end])
        )
    assert not differing[0] & differing[1], texts


@pytest.mark.parametrize("seed", [20260302])
def test_every_character_of_any_text_is_shown_in_order(seed: int) -> None:
    draw = random.Random(seed)
    words = ["pier", "ferry", "the", "closed.", "1,400", "“Oui”,", "…", "\ufb01n", "½", "don’t", "🇱🇰"]
    words += ["ශ්\u200dරී", "ලංකාව", "தமிழ்", "الميناء", "مغلق؟", "港は", "六か月。"]
    signs = [".", ",", " ", "\n\n", "_", "\u00ad", "\u200d", "e\u0301", "\u0301x", "\ufdfa"]
    for _ in range(200):
        texts = ["".join(draw.choices(words + signs, k=draw.randrange(0, 60))) for _ in range(2)]
        found = differences(*texts)
        assert [text(found, side) for side in ("left", "right")] == texts
        prepared = [Preparer().prepare(ArticleText(1, datetime.date.min, "", content)) for content in texts]
        assert [found.left_words, found.right_words] == [len(article.words) for article in prepared]


def test_what_the_comparison_does_not_read_is_left_out() -> None:
    long = f"{PIER} " * 1_500
    found = differences(long, f"{long}{MAYOR}")

    assert (found.deleted, found.inserted, found.equal) == (0, 0, False)
    assert found.rest == (long[MAX_CHARACTERS:], f"{long}{MAYOR}"[MAX_CHARACTERS:])
    assert text(found, "left") + found.rest[0] == long


def test_too_many_sentences_that_are_nearly_alike_are_shown_without_marks() -> None:
    first, second = (
        "\n".join(f"The pier {number} is shut." for number in range(start, start + 1_500)) for start in (0, 5_000)
    )
    found = differences(first, second)

    assert (found.too_long, found.same, found.equal, found.deleted > 7_000) == (True, 0, False, True)
    assert found.blocks[0].left == [Segment("same", first)]


CONTENT = "The ferry sails.\n\nRead more\n\nIt is late. Subscribe now."
MARKS = [[18, 27, 0], [41, 55, 1]]


def test_a_text_is_cut_at_its_marks() -> None:
    assert list(passages(MarkedText(CONTENT, MARKS))) == [
        Segment("same", "The ferry sails.\n\n"),
        Segment("same", "Read more", boilerplate=True),
        Segment("same", "\n\nIt is late. "),
        Segment("same", "Subscribe now.", boilerplate=True),
    ]
    assert list(passages(MarkedText(CONTENT, []))) == [Segment("same", CONTENT)]
    assert list(passages(MarkedText("", []))) == []
    assert list(passages(MarkedText("One two three.", [[4, 7, 0]], [(0, 5), (8, 14)]))) == [
        Segment("same", "One ", found=True),
        Segment("same", "t", boilerplate=True, found=True),
        Segment("same", "wo", boilerplate=True),
        Segment("same", " "),
        Segment("same", "three.", found=True),
    ]


def test_the_segments_of_a_difference_are_cut_at_the_marks() -> None:
    other = "The boat sails.\n\nRead more\n\nIt is early."
    texts = MarkedText(CONTENT, MARKS, [(4, 16)]), MarkedText(other, [[17, 26, 0]], [(4, 15)])
    difference = compare_texts(*texts)

    for side, boilerplate, found, content in (
        ("left", "Read moreSubscribe now.", "ferry sails.", CONTENT),
        ("right", "Read more", "boat sails.", other),
    ):
        of_side = segments(difference, side)
        assert "".join(segment.text for segment in of_side if segment.boilerplate) == boilerplate
        assert "".join(segment.text for segment in of_side if segment.found) == found
        assert text(difference, side) == content
    assert Segment("deleted", "ferry sails.", found=True) in [
        Segment(segment.kind, segment.text.strip(), found=segment.found) for segment in segments(difference, "left")
    ]

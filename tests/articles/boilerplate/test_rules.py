"""Finding boilerplate sentences, and removing them from texts."""

import random
from collections import Counter
from typing import Any
from uuid import UUID

import pytest

from articles.boilerplate import rules
from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import FoundSentence, SentenceKind, find_boilerplate, without_boilerplate
from articles.normalization.text import normalize_text, text_digest

SUBSCRIBE = "Subscribe to the Harbour Post and never miss a tide."
STORIES = (
    "The ferry to Little Skerry sails again after forty days in the dock. Its captain had waited on the quay.",
    "A baker in Mill Lane has won the county prize for rye. She shares the oven with her two brothers.",
    "Nine lamps of the northern breakwater went out on Sunday. Divers found a cut cable under the third one.",
    "The choir of Saint Brannock sings in the market hall tonight. Tickets are sold at the door only.",
    "Two schools in the upper valley will share one bus from May on. Parents had asked for it since autumn.",
)
BOARDS = ("quartz", "amber", "cobalt", "jade", "onyx", "pearl", "ruby", "topaz")


def found_in(*texts: str, whitelisted: tuple[str, ...] = ()) -> dict[str, tuple[SentenceKind, tuple[int, ...]]]:
    digests = {digest for sentence in whitelisted if (digest := text_digest(normalize_text(sentence)))}
    sentences = find_boilerplate(texts, digests).sentences
    return {sentence.text: (sentence.kind, sentence.articles) for sentence in sentences}


def with_line(line: str) -> list[str]:
    """Return three stories, each with this paragraph in the middle of it."""
    return [f"{first}.\n\n{line}\n\n{rest}" for first, rest in (story.split(". ", 1) for story in STORIES[:3])]


def in_text(sentence: str, *, articles: int = 3) -> list[str]:
    """Return different stories, each with this sentence in its paragraph."""
    return [f"{story} {sentence}" for story in STORIES[:articles]]


def test_a_sentence_of_three_different_articles_is_boilerplate() -> None:
    texts = in_text(SUBSCRIBE)
    found = find_boilerplate(texts)

    [sentence] = found.sentences
    digest = text_digest(normalize_text(SUBSCRIBE))
    assert sentence == FoundSentence(digest, SUBSCRIBE, SentenceKind.BOILERPLATE, articles=(0, 1, 2))
    places = [text.index("Subscribe") for text in texts]
    assert found.marks == [[(place, len(text), at == 0)] for at, (place, text) in enumerate(zip(places, texts))]  # noqa: B905 - as many


FORM = "The heat index is how warm a body feels. It is made by the weather office for the next day. Drink water."


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(in_text(SUBSCRIBE, articles=2), id="only two articles"),
        pytest.param([STORIES[0]] * 8, id="copies of an article"),
        pytest.param(
            [f"Edition for the {board} coast and all who live there. {' '.join(STORIES[1:])}" for board in BOARDS],
            id="copies with another beginning",
        ),
        pytest.param(in_text("Read more."), id="a short sentence in a paragraph"),
        pytest.param(with_line("***"), id="a line without letters"),
        pytest.param([f"{FORM} Tomorrow: {degrees} degrees." for degrees in range(30, 36)], id="left to the verdicts"),
    ],
)
def test_what_is_not_boilerplate(texts: list[str]) -> None:
    assert found_in(*texts) == {}


def test_sentences_are_the_same_in_other_typography_and_case() -> None:
    texts = [
        f"{STORIES[0]}\n\nDon't miss a tide: read the “Harbour Post”!",
        f"{STORIES[1]}\n\nDON’T MISS A TIDE — READ THE HARBOUR POST",
        f"{STORIES[2]}\n\nDon’t miss\u00a0a tide:\nread the Harbour Post",
    ]
    assert found_in(*texts) == {"Don't miss a tide: read the “Harbour Post”!": (SentenceKind.BOILERPLATE, (0, 1, 2))}
    # The mark is the sentence as it is in the text, line break included.
    [mark] = find_boilerplate(texts).marks[2]
    assert texts[2][mark.start : mark.end] == "Don’t miss\u00a0a tide:\nread the Harbour Post"


def test_boilerplate_in_copies_and_in_other_articles_is_distinguished_from_the_copied_text() -> None:
    copies = [f"{STORIES[0]}\n\n{SUBSCRIBE}"] * 3
    others = [f"{story}\n\n{SUBSCRIBE}" for story in STORIES[1:3]]

    assert found_in(*copies, *others) == {SUBSCRIBE: (SentenceKind.BOILERPLATE, (0, 1, 2, 3, 4))}


def test_short_articles_are_distinguished_after_long_ones_have_shown_the_boilerplate() -> None:
    boilerplate = [SUBSCRIBE, "Our paper is printed on the quay.", "It is read in every house of the coast."]
    tail = "\n\n".join(boilerplate)
    short = [f"A {board} kite flew over town." for board in BOARDS[:4]]
    # Each of these has less text of its own than it shares: they could be copies.
    assert found_in(*(f"{text}\n\n{tail}" for text in short)) == {}

    long = [f"{STORIES[at]} {STORIES[at].swapcase()[::-1]}" for at in range(3)]
    found = find_boilerplate([f"{text}\n\n{tail}" for text in (*short, *long)])
    assert [sentence.text for sentence in found.sentences] == boilerplate
    assert [sentence.articles for sentence in found.sentences] == [tuple(range(7))] * 3


@pytest.mark.parametrize(
    ("stories", "kept"),
    [
        # The first article and its copies keep the sentence.
        ((*STORIES[:3], STORIES[0]), [True, False, False, True]),
        # One of nothing but boilerplate does not count.
        (("", *STORIES[:3]), [True, False, False, False]),
    ],
)
def test_the_first_article_keeps_its_boilerplate(stories: tuple[str, ...], kept: list[bool]) -> None:
    texts = [f"{story}\n\n{SUBSCRIBE}".strip() for story in stories]
    assert found_in(*texts) == {SUBSCRIBE: (SentenceKind.BOILERPLATE, (0, 1, 2, 3))}
    assert [[mark.first for mark in marks] for marks in find_boilerplate(texts).marks] == [[first] for first in kept]


def test_a_sentence_that_occurs_twice_in_an_article_is_marked_twice_and_counted_once() -> None:
    found = find_boilerplate([f"{SUBSCRIBE}\n\n{story}\n\n{SUBSCRIBE}" for story in STORIES[:3]])

    assert [sentence.articles for sentence in found.sentences] == [(0, 1, 2)]
    assert [len(marks) for marks in found.marks] == [2, 2, 2]


@pytest.mark.parametrize(
    "quotation",
    [
        "“We shall dredge the whole basin before the winter comes,” said the harbour master.",
        "„Wir baggern das ganze Becken aus, ehe der Winter kommt“, sagte die Hafenmeisterin.",
        "« Nous draguerons tout le bassin avant que l'hiver arrive », a dit la capitaine du port.",
        "»Wir baggern das ganze Becken aus, ehe der Winter kommt«, sagte die Hafenmeisterin.",
        "「我們會在冬天來臨之前把整個港池都疏浚完畢並且重新開放」，港務長說。",
        '"We shall dredge the whole basin before the winter comes," said the harbour master.',
        "‘We shall dredge the whole basin before the winter’s first gale,’ said the harbour master.",
        "'We shall dredge the basin before the winter's first gale,' said the harbour master.",
        "“So be it for now,” she said.",
    ],
)
def test_a_repeated_quotation_is_kept(quotation: str) -> None:
    assert found_in(*in_text(quotation)) == {quotation: (SentenceKind.QUOTATION, (0, 1, 2))}
    assert find_boilerplate(in_text(quotation)).marks == [[], [], []]


def test_a_quotation_of_several_sentences_and_paragraphs_is_kept() -> None:
    said = "“We shall dredge the basin. No ship will wait.\n\n“Nor will the ferry lie idle in the dock again.”"
    assert {kind for kind, _ in found_in(*with_line(said)).values()} == {SentenceKind.QUOTATION}


@pytest.mark.parametrize(
    "line",
    [
        '"Subscribe now"',
        "“Read more”",
        "Read on: “We shall dredge the whole basin”, says the harbour master",
        "‘Best baker of the whole county’ is a woman from Mill Lane",
        "Follow “The Harbour Post” wherever you go and be the first to know.",
        "Read more.",
    ],
)
def test_a_button_a_headline_or_a_title_with_quotation_marks_is_not_a_quotation(line: str) -> None:
    assert found_in(*with_line(line)) == {line: (SentenceKind.BOILERPLATE, (0, 1, 2))}


def test_a_quoted_line_of_most_of_the_weeks_articles_is_boilerplate() -> None:
    line = "“Subscribe to the Harbour Post and never miss a tide!”"
    stories = [
        f"The {board} boat came home on {day}." for board in BOARDS[:4] for day in ("Monday", "Friday", "Sunday")
    ]
    found = found_in(*(f"{story}\n\n{line}" for story in stories))
    assert found == {line: (SentenceKind.BOILERPLATE, tuple(range(12)))}
    others = [f"A {board} kite flew over {place} for hours." for board in BOARDS for place in ("town", "field", "pier")]
    found = found_in(*(f"{story}\n\n{line}" for story in stories), *others)
    assert found == {line: (SentenceKind.QUOTATION, tuple(range(12)))}


def test_a_whitelisted_sentence_is_listed_and_not_marked() -> None:
    texts = in_text(SUBSCRIBE)

    assert found_in(*texts, whitelisted=(SUBSCRIBE,)) == {SUBSCRIBE: (SentenceKind.WHITELISTED, (0, 1, 2))}
    assert find_boilerplate(texts, {text_digest(normalize_text(SUBSCRIBE))}).marks == [[], [], []]


def test_the_fixed_sentences_of_a_form_are_boilerplate_if_the_articles_have_more_text_of_their_own() -> None:
    fixed = "The rates are those of the central office."
    rates = [
        f"{' '.join(f'The {board} stood at {number}{at} at noon.' for at, board in enumerate(BOARDS))} {fixed}"
        for number in range(3, 6)
    ]
    assert found_in(*rates) == {fixed: (SentenceKind.BOILERPLATE, (0, 1, 2))}


@pytest.mark.parametrize("seed", [3, 4])
def test_what_is_found_does_not_depend_on_the_order_of_the_articles(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    texts = [f"{story}\n\n{SUBSCRIBE}\n\nRead more" for story in STORIES] + [STORIES[0], f"{STORIES[1]} Read more"]
    expected = {text: len(articles) for text, (_, articles) in found_in(*texts).items()}
    assert expected == {SUBSCRIBE: 5, "Read more": 5}
    for _ in range(5):
        dice.shuffle(texts)
        assert {text: len(articles) for text, (_, articles) in found_in(*texts).items()} == expected


def test_thousands_of_articles_that_share_sentences_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = Counter[str]()
    are_copies = rules._Week._are_copies

    def counting(week: Any, one: int, other: int, digest: UUID) -> bool:
        compared["pairs"] += 1
        return are_copies(week, one, other, digest)

    monkeypatch.setattr(rules._Week, "_are_copies", counting)
    alike = [f"Ferry {number} sails. It has {number} bags of salt.\n\n{SUBSCRIBE}" for number in range(5_000)]
    assert found_in(*alike) == {SUBSCRIBE: (SentenceKind.BOILERPLATE, tuple(range(5_000)))}
    # Three different ones, then each compared with the first.
    assert compared["pairs"] == 3 + 4_999

    compared.clear()
    assert found_in(*(f"{STORIES[0]} Copy {number}." for number in range(5_000))) == {}
    # Two sentences, each of whose articles is compared with one of them.
    assert compared["pairs"] == 2 * 4_999


@pytest.mark.parametrize(("mode", "left"), [(Mode.KEEP, (1, 1, 1)), (Mode.STORY, (1, 0, 0)), (Mode.TOPIC, (0, 0, 0))])
def test_each_mode_removes_its_sentences(mode: Mode, left: tuple[int, ...]) -> None:
    texts = with_line(SUBSCRIBE)
    marks = find_boilerplate(texts).marks
    results = [without_boilerplate(text, mark, mode) for text, mark in zip(texts, marks, strict=True)]

    assert tuple(result.count(SUBSCRIBE) for result in results) == left
    assert results == [
        text if kept else text.replace(f"\n\n{SUBSCRIBE}", "") for text, kept in zip(texts, left, strict=True)
    ]


@pytest.mark.parametrize(
    ("content", "marks", "left"),
    [
        ("One. Two. Three.", [(5, 9, 0)], "One. Three."),
        ("One. Two.\n\nThree.", [(0, 9, 0)], "Three."),
        ("One.\n \nTwo.\n\nThree.", [(7, 11, 0)], "One.\n \nThree."),
        ("One.\n\nTwo.", [(6, 10, 0)], "One."),
        ("One.", [(0, 4, 0)], ""),
        ("  One. \n\n\n\n Two. ", [], "  One. \n\n\n\n Two. "),
        ("One. Two. Three.", [(0, 4, 0), (10, 16, 0)], "Two."),
    ],
)
def test_paragraph_breaks_are_kept_when_sentences_are_removed(
    content: str, marks: list[tuple[int, int, int]], left: str
) -> None:
    assert without_boilerplate(content, marks, Mode.TOPIC) == left

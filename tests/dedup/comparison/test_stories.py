"""What is learnt of a newspaper that prints a story often, and a form with other numbers each time."""

import datetime
import random
from collections.abc import Sequence

import numpy as np
import pytest

from articles.normalization.text import normalize_text
from dedup.detection.comparison.recurring import RecurringText, among
from dedup.detection.judging.months import Learning
from dedup.detection.judging.stories import alike, first_told, lasting, sketches
from dedup.detection.kernels.masked_shingles import masked_shingle_sets
from dedup.detection.kernels.tokens import Ragged
from dedup.detection.passes.reading import ArticleShingles

MARCH = datetime.date(2026, 3, 1)
FORM = "the harbour office measured a water level of {} centimetres at the north pier at noon and {} at the bridge"


def word(number: int) -> str:
    """Return a word without digits."""
    return "".join(chr(ord("a") + number // 26**place % 26) for place in range(4))


STORY = [word(number) for number in range(200)]


def others(count: int) -> list[str]:
    """Return different texts that have one word in common."""
    return [" ".join(["the", *map(word, range(1000 * text, 1000 * text + 30))]) for text in range(1, count + 1)]


def learnt(printed: Sequence[tuple[int, str]], parts: int = 1) -> RecurringText:
    """Return what is learnt around March of texts, each with its day of March."""
    printed = sorted(printed, key=lambda row: row[0])
    days = np.array([MARCH.toordinal() + day for day, _ in printed], dtype=np.int64)
    ids, texts = np.arange(len(printed)) + 100, [normalize_text(text) for _, text in printed]
    sets = masked_shingle_sets(texts)
    read = (ArticleShingles(ids, ids, days, sets.only(sets.values % parts == part)) for part in range(parts))
    learning = Learning([MARCH], read)
    assert learning.wanted <= set(ids.tolist())
    return learning.learnt({article: texts[article - 100] for article in learning.wanted})[MARCH]


def edited(dice: random.Random) -> str:
    """Return the story with two words replaced."""
    text = list(STORY)
    for place in dice.sample(range(len(text)), 2):
        text[place] = word(dice.randrange(200, 900))
    return " ".join(text)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_story_that_is_printed_often_neither_recurs_nor_makes_its_words_common(parts: int) -> None:
    dice = random.Random(5)
    forms = [(day, FORM.format(100 + 7 * day, 90 + day)) for day in range(0, 14, 2)]
    stories = [(dice.randrange(14), edited(dice)) for _ in range(60)]
    found = learnt([*enumerate(others(20)), *forms, *stories], parts)
    assert found.articles == 20 + len(forms) + 1
    assert {"harbour", "the"} <= found.common
    assert not found.common.intersection(STORY)
    [form, story] = masked_shingle_sets([FORM, " ".join(STORY)]).split()
    assert among(form, found.phrases).mean() > 0.5
    assert not among(story, found.phrases).any()


def test_copies_of_one_day_are_one_story_in_which_nothing_is_common() -> None:
    dice = random.Random(6)
    found = learnt([(1, edited(dice)) for _ in range(300)])
    assert not found.known
    assert not found.common
    assert not len(found.phrases)


def test_a_story_is_what_has_the_same_numbers() -> None:
    days = np.array([0, 1, 1, 14, 15, 30], dtype=np.int64) + 700_000
    sampled = sketches(masked_shingle_sets([" ".join(STORY)] * 6))
    pairs = alike(sampled, days)
    assert pairs.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert first_told(6, pairs, dict.fromkeys(range(5), 7)).tolist() == [True, False, False, False, False, True]
    assert first_told(6, pairs, {0: 7, 1: 8, 2: 8, 3: 7, 4: 9}).tolist() == [True, True, False, False, True, True]
    assert first_told(6, pairs, {}).all()
    assert lasting(sampled, days).all()
    assert not lasting(sampled[:4], days[:4]).any()


def test_alike_are_articles_with_most_phrases_in_common() -> None:
    dice = random.Random(7)
    texts = [edited(dice), "", " ".join(STORY[:100]), edited(dice), " ".join(STORY[:95]), ""]
    assert alike(sketches(masked_shingle_sets(texts)), np.full(6, 700_000)).tolist() == [[0, 3], [2, 4]]
    assert alike(sketches(Ragged.of([], np.uint32)), np.empty(0, dtype=np.int64)).tolist() == []


def test_more_articles_leave_most_of_the_sample() -> None:
    places, texts = np.arange(660), others(660)

    def wanted(ids: np.ndarray) -> set[int]:
        days, sets = np.full(len(ids), MARCH.toordinal()), masked_shingle_sets([texts[place] for place in ids])
        return Learning([MARCH], [ArticleShingles(ids, ids, days, sets)]).wanted

    assert len(wanted(places) & wanted(places[places % 11 > 0])) > 260


@pytest.mark.parametrize("first", [-40, 0])
def test_later_months_change_what_is_learnt_of_young_newspapers_alone(first: int) -> None:
    texts = [*others(60), *(FORM.format(100 + 7 * day, 90 + day) for day in range(12)), *[" ".join(STORY)] * 6]
    places = random.Random(8).sample(range(len(texts)), len(texts))
    days = np.linspace(first, 60, len(texts)).astype(np.int64) + MARCH.toordinal()

    def told(until: int, *months: datetime.date) -> RecurringText:
        count = int(np.count_nonzero(days - MARCH.toordinal() < until))
        ids, sets = np.arange(count), masked_shingle_sets([normalize_text(texts[place]) for place in places[:count]])
        learning = Learning(months, [ArticleShingles(ids, ids, days[:count], sets)])
        return learning.learnt({place: normalize_text(texts[places[place]]) for place in learning.wanted})[MARCH]

    def facts(found: RecurringText) -> tuple[list[int], frozenset[str], int, bool]:
        return found.phrases.tolist(), found.common, found.articles, found.young

    alone, grown = told(31, MARCH), told(61, MARCH, datetime.date(2026, 4, 1))
    assert facts(told(61, MARCH)) == facts(grown)
    assert (facts(alone) == facts(grown), alone.young, grown.young) == (first < 0, first == 0, first == 0)

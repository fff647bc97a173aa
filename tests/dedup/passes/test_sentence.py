"""The sentence pass, checked against brute force."""

import datetime
import random
import time
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from articles.models import Article
from articles.normalization.text import normalize_text
from dedup.detection.kernels.sentences import mark_of, sentences_of, weights_of
from dedup.detection.passes import reading
from dedup.detection.passes.sentence import SentenceConfig, SentencePass
from dedup.detection.types import Window
from tests.dedup.kernels.test_sentences import brute_force
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db

FERRY = "The ferry will not sail to the islands this week. "
WIND = "The wind is too strong for the boats, Dr. Anna Holm said. "
MONEY = "Passengers can ask for their money at the office by the harbour. "
GUARD = "The coast guard brings home those who are on the islands. "
LETTER = "Subscribe to our newsletter for more of this. "
# Under which test_explain.py compares explain with find.
EXPLAINED = ({}, {"threshold": 0.2, "most_articles": 4, "weighted": True}, {"day_window": 1, "most_articles": 6})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: a text that differs from other groups' in a number."""
    return {"content": f"{FERRY}{WIND}{MONEY}{GUARD} Berth number {group} stays open."}


find = partial(finding.find, SentencePass())


def found(window: Window = finding.ALL_DAYS, **settings: object) -> list[tuple[int, int, float, int, int]]:
    return [
        (pair.left, pair.right, pair.score, pair.evidence["shared"], pair.evidence["sentences"])
        for pair in find(window, **settings)
    ]


def every_pair(config: SentenceConfig) -> dict[tuple[int, int], tuple[float, int, int]]:
    """Return score, sentences shared and all sentences of each pair that shares one, a few days apart."""
    articles = list(Article.objects.order_by("date", "pk"))
    sets: list[dict[str, float]] = []
    for article in articles:
        sets.append({})
        for sentence in sentences_of(article.content):
            key = normalize_text(sentence)
            if len(key) >= config.minimum_characters:
                mark = np.array([mark_of(sentence, key)], dtype=np.uint16)
                weight = float(weights_of(mark)[0]) if config.weighted else 1.0
                sets[-1][key] = max(weight, sets[-1].get(key, 0.0))
    days = [article.date.toordinal() for article in articles]
    exact = brute_force(sets, days, most=config.most_articles, day_window=config.day_window, weighted=config.weighted)
    ids = [article.pk for article in articles]
    return {tuple(sorted((ids[left], ids[right]))): row for (left, right), row in exact.items()}


def invented(dice: random.Random, number: int, articles: list[list[str]]) -> list[str]:
    """Return the sentences of an article: new ones, those of an earlier article, and some that many have."""
    old = dice.choice(articles) if articles and dice.random() < 0.7 else []
    new = [
        f"{dice.choice(['the', 'The'])} {place}. sentence of article {number} is {dice.choice(['Holm', 'a storm'])}."
        for place in range(dice.randrange(6))
    ]
    common = [f"Sentence {place} is one that many articles have." for place in range(8) if dice.random() < 0.1]
    mixed = [sentence for sentence in old if dice.random() < 0.8] + new + common + dice.choice([[], ["Short."]])
    return [dice.choice([str, str.upper])(sentence) for sentence in mixed] or ["…"]


@pytest.fixture
def random_articles(request) -> None:
    print(f"seed {request.param}")
    dice = random.Random(request.param)
    articles: list[list[str]] = []
    for number in range(150):
        articles.append(invented(dice, number, articles))
    texts = [dice.choice([" ", "\n\n"]).join(content) for content in articles]
    finding.store_texts(texts, [dice.randrange(60) for _ in texts])


@pytest.mark.parametrize("random_articles", [31, 32], indirect=True)
@pytest.mark.parametrize("page", [7, 2_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_scores_and_evidence_are_those_of_brute_force(random_articles, page, weighted, monkeypatch) -> None:
    monkeypatch.setattr(reading, "_BATCH", page)
    for day_window, most, characters in ((30, 10, 20), (5, 6, 1), (60, 1000, 35)):
        rest = {"day_window": day_window, "most_articles": most, "minimum_characters": characters}
        rest["weighted"] = weighted
        exact = every_pair(SentenceConfig(**rest))
        bands = []
        for threshold in (0.05, 0.3, 0.5, 0.9):
            expected = {pair: row for pair, row in exact.items() if row[0].expected >= threshold - 1e-6}
            rows = found(threshold=threshold, **rest)
            bands.append({(row[0], row[1]) for row in rows})
            assert {row[:2]: row[2:] for row in rows} == expected
        assert bands[0]
        assert all(higher <= lower for lower, higher in pairwise(bands))


def test_the_score_is_the_share_of_shared_sentences(store) -> None:
    one = store(FERRY + WIND + MONEY)
    other = store((FERRY + WIND + GUARD).upper().replace("DR. ", "Dr. "), date="2026-03-20")
    store(GUARD.replace("guard", "watch"))
    assert found() == [(one.pk, other.pk, 0.5, 2, 4)]


def test_a_sentence_of_many_articles_is_ignored(store) -> None:
    pair = store(LETTER + FERRY), store(LETTER + FERRY)
    for _ in range(8):
        store(LETTER)
    assert len(found()) == 10 * 9 // 2
    store(LETTER)
    assert found() == [(pair[0].pk, pair[1].pk, 1.0, 1, 1)]


def test_sentences_are_counted_up_to_the_last_day(store) -> None:
    pair = store(FERRY), store(FERRY)
    store(FERRY, date="2026-05-01")
    assert find(most_articles=2) == []
    inside = Window(datetime.date(2026, 3, 2), datetime.date(2026, 4, 30))
    assert [row[:2] for row in found(inside, most_articles=2)] == [(pair[0].pk, pair[1].pk)]


def test_with_weights_a_long_sentence_with_names_counts_more_than_a_short_one(store) -> None:
    long = "The winter timetable was agreed on Friday by Anna Holm of the company and Peter Lind of the council. "
    short = "It starts in October. "
    one, other, third = store(long + short), store(long + MONEY.lower()), store(short + GUARD.lower())
    assert [row[:2] for row in found(threshold=0.3)] == [(one.pk, other.pk), (one.pk, third.pk)]
    scores = {row[:2]: row[2] for row in found(threshold=0.05, weighted=True)}
    assert scores[one.pk, other.pk] > 0.6
    assert scores[one.pk, third.pk] < 0.15


def test_sentences_that_are_too_short_are_not_compared(store) -> None:
    store("More to follow.")
    store("More to follow.")
    assert find() == []


def test_other_scripts_work(store) -> None:
    texts = [
        "කොළඹ වරාය අද සවස වසා දමන ලදී. නව පාලම හෙට විවෘත කෙරේ.",
        "கொழும்பு துறைமுகம் இன்று மாலை மூடப்பட்டது. புதிய பாலம் நாளை திறக்கப்படும்.",
        "أغلق ميناء كولومبو مساء اليوم بسبب الرياح. سيفتح الجسر الجديد غدا صباحا أمام السيارات.",
        "科倫坡港口今天晚上因為大風而關閉了所有的碼頭。新橋明天早上將對所有的汽車和行人開放使用。",
    ]
    pairs = [(store(text).pk, store(text).pk) for text in texts]
    assert [row[:4] for row in found()] == [(*pair, 1.0, 2) for pair in pairs]


def test_more_equal_articles_than_a_sentence_may_have_are_left_to_the_exact_pass(store) -> None:
    finding.store_texts([FERRY + WIND] * 300)
    assert find() == []
    assert len(find(most_articles=300)) == 300 * 299 // 2


def test_very_long_texts_are_compared_in_time(store) -> None:
    lines = [f"Sentence number {number} of the very long report." for number in range(4_500)]
    text = "\n\n".join(" ".join(lines[start : start + 100]) for start in range(0, 4_500, 100))
    one, other = store(text), store(text + " " + FERRY)
    started = time.process_time()
    assert found() == [(one.pk, other.pk, pytest.approx(4500 / 4501), 4500, 4501)]
    assert time.process_time() - started < 5

"""The sentence pass: which sentences count, and how much."""

import time
from functools import partial

import pytest

from dedup.detection.passes.sentence import SentencePass
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db

FERRY = "The ferry will not sail to the islands this week. "
WIND = "The wind is too strong for the boats, Dr. Anna Holm said. "
MONEY = "Passengers can ask for their money at the office by the harbour. "
GUARD = "The coast guard brings home those who are on the islands. "
LETTER = "Subscribe to our newsletter for more of this. "
EXPLAINED = (
    {},
    {"threshold": 0.2, "most_articles": 4, "weighted": True},
    {"day_window": 1, "most_articles": 6},
    {"threshold": 0.05, "most_articles": 1000, "minimum_characters": 60},
)


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: a text that differs from other groups' in a number."""
    return {"content": f"{FERRY}{WIND}{MONEY}{GUARD} Berth number {group} stays open."}


find = partial(finding.find, SentencePass())


def found(**settings: object) -> list[tuple[int, int, float, int, int]]:
    return [
        (pair.left, pair.right, pair.score, pair.evidence["shared"], pair.evidence["sentences"])
        for pair in find(**settings)
    ]


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


def test_with_weights_a_long_sentence_with_names_counts_more_than_a_short_one(store) -> None:
    long = "The winter timetable was agreed on Friday by Anna Holm of the company and Peter Lind of the council. "
    short = "It starts in October. "
    one, other, third = store(long + short), store(long + MONEY.lower()), store(short + GUARD.lower())
    assert [row[:2] for row in found(threshold=0.3)] == [(one.pk, other.pk), (one.pk, third.pk)]
    scores = {row[:2]: row[2] for row in found(threshold=0.05, weighted=True)}
    assert scores[one.pk, other.pk] > 0.6
    assert scores[one.pk, third.pk] < 0.15


def test_very_long_texts_are_compared_in_time(store) -> None:
    lines = [f"Sentence number {number} of the very long report." for number in range(4_500)]
    text = "\n\n".join(" ".join(lines[start : start + 100]) for start in range(0, 4_500, 100))
    one, other = store(text), store(text + " " + FERRY)
    started = time.process_time()
    assert found() == [(one.pk, other.pk, pytest.approx(4500 / 4501), 4500, 4501)]
    assert time.process_time() - started < 5

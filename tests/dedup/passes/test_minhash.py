"""The minhash pass, held against the Jaccard similarity of every pair."""

import datetime
import random

import pytest
from django.db import connection

from articles.models import Article
from dedup.passes.base import ConfigError
from dedup.passes.minhash import MinhashConfig, MinhashPass
from dedup.types import Window

pytestmark = pytest.mark.django_db
ALL_DAYS = Window(datetime.date(2020, 1, 1), datetime.date(2026, 12, 31))


def found(config: MinhashConfig, window: Window = ALL_DAYS) -> dict[tuple[int, int], float]:
    return {(each.left, each.right): each.score for each in MinhashPass().find(window, config, connection)}


def every_pair(threshold: float, shingle: int = 5) -> dict[tuple[int, int], float]:
    texts = dict(Article.objects.order_by("pk").values_list("pk", "normalized_text"))
    sets = {
        pk: {text[start : start + shingle] for start in range(max(1, len(text) - shingle + 1))}
        for pk, text in texts.items()
        if text
    }
    scores = {
        (one, other): len(sets[one] & sets[other]) / len(sets[one] | sets[other])
        for one in sets
        for other in sets
        if one < other
    }
    return {pair: score for pair, score in scores.items() if score >= threshold}


def test_pairs_over_years_are_found_with_their_exact_score(store) -> None:
    dice = random.Random(31)
    words = [f"word{number}" for number in range(500)]
    for number in range(40):
        text = dice.choices(words, k=dice.choice([4, 30, 150]))
        for copy in range(3):
            changed = text[:]
            for _ in range(copy * len(text) // 25):
                changed[dice.randrange(len(text))] = dice.choice(words)
            day = datetime.date(2021, 1, 1) + datetime.timedelta(days=dice.randrange(1500))
            store(" ".join(changed), date=day.isoformat(), newspaper=f"Paper {number % 3}")
    expected = every_pair(0.75)
    assert len(expected) > 60
    result = found(MinhashConfig())
    assert {pair: pytest.approx(score) for pair, score in result.items()} == {
        pair: score for pair, score in expected.items() if pair in result
    }
    assert len(set(expected) - set(result)) <= 1


def test_thresholds_nest_and_nothing_is_below_them(store) -> None:
    words = [f"word{number:03}" for number in range(300)]
    for shift in range(0, 40, 2):
        store(" ".join(words[shift : shift + 100]))
    bands = {threshold: found(MinhashConfig(threshold=threshold)) for threshold in (0.6, 0.7, 0.8, 0.9)}
    assert all(min(scores.values()) >= threshold for threshold, scores in bands.items())
    assert set(bands[0.9]) < set(bands[0.8]) < set(bands[0.7]) < set(bands[0.6])


def test_a_window_is_inclusive_and_bounds_the_later_article_by_the_block(store) -> None:
    text = "The ferry sails at noon on weekdays until the end of May."
    ids = [store(text, date=f"2026-03-{day:02}").pk for day in (1, 11, 12)]
    assert set(found(MinhashConfig(day_window=10))) == {(ids[0], ids[1]), (ids[1], ids[2])}
    block = Window(datetime.date(2026, 3, 11), datetime.date(2026, 3, 11))
    assert set(found(MinhashConfig(), block)) == {(ids[0], ids[1])}


def test_texts_without_letters_and_short_texts(store) -> None:
    store("...")
    store("!!!")
    one, other = store("Rain"), store("RAIN!")
    assert found(MinhashConfig()) == {(one.pk, other.pk): 1.0}


def test_slots_are_a_power_of_two() -> None:
    with pytest.raises(ConfigError, match="slots is 200; it must be a power of two, such as 128, 256 or 512"):
        MinhashConfig(slots=200)

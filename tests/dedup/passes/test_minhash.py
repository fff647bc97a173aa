"""The minhash pass, checked against the Jaccard similarity of every pair."""

import datetime
import random
from itertools import islice

import numpy as np
import pytest
from django.db import connection

from articles.models import Article
from articles.storage.ingest import store_articles
from dedup.declarations import ConfigError
from dedup.detection.passes import minhash
from dedup.detection.passes.minhash import MinhashConfig, MinhashPass
from dedup.detection.types import Tally
from tests.dedup.passes.finding import ALL_DAYS, of_berth
from tests.dedup.real_news import news

pytestmark = pytest.mark.django_db
EXPLAINED = ({}, {"threshold": 0.4, "day_window": 9, "slots": 16, "recall": 0.6})
alike = of_berth


def found(config: MinhashConfig) -> dict[tuple[int, int], float]:
    pairs = [((pair.left, pair.right), pair.score) for pair in MinhashPass().find(ALL_DAYS, config, connection)]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def every_pair(threshold: float, shingle: int = 5, prefix: int = 10_000) -> dict[tuple[int, int], float]:
    """Return the pairs at the threshold, counted by what each article shares with every other one."""
    texts = {pk: text[:prefix] for pk, text in Article.objects.order_by("pk").values_list("pk", "normalized_text")}
    sets = {
        pk: {text[start : start + shingle] for start in range(max(1, len(text) - shingle + 1))}
        for pk, text in texts.items()
        if text
    }
    holders: dict[str, list[int]] = {}
    for place, members in enumerate(sets.values()):
        for member in members:
            holders.setdefault(member, []).append(place)
    columns = {member: np.array(places) for member, places in holders.items() if len(places) > 1}
    keys, sizes = list(sets), np.array([len(members) for members in sets.values()])
    scores: dict[tuple[int, int], float] = {}
    for place, members in enumerate(sets.values()):
        held = [columns[member] for member in members if member in columns]
        shared = np.bincount(np.concatenate(held), minlength=len(sets)) if held else np.zeros(len(sets), dtype=int)
        jaccard = shared / (sizes[place] + sizes - shared)
        for other in np.flatnonzero(jaccard >= threshold):
            if other > place:
                scores[keys[place], keys[other]] = float(jaccard[other])
    return scores


def store_variants(store, seed: int, lengths: tuple[int, ...]) -> None:
    """Store invented texts of this many words over years, each with two copies in which words are replaced."""
    print(f"seed {seed}")
    dice = random.Random(seed)
    words = [f"word{number}" for number in range(500)]
    for length in lengths:
        text = dice.choices(words, k=length)
        for copy in range(3):
            changed = text[:]
            for _ in range(copy * length // 25):
                changed[dice.randrange(length)] = dice.choice(words)
            day = datetime.date(2021, 1, 1) + datetime.timedelta(days=dice.randrange(1500))
            store(" ".join(changed), date=day.isoformat(), newspaper=f"Paper {length % 3}")


@pytest.mark.parametrize("seed", [31, pytest.param(32, marks=pytest.mark.soak)])
def test_pairs_over_years_are_found_with_their_exact_score(store, seed: int) -> None:
    store_variants(store, seed, (4, 30, 60, 150, 300) * 8)
    expected = every_pair(0.75)
    assert len(expected) > 80
    assert found(MinhashConfig()) == expected


@pytest.mark.parametrize(("at_once", "kept"), [(1, 0), (3, 0), (3, 500), (500, 0)])
def test_the_size_of_the_cache_changes_nothing(store, monkeypatch, at_once: int, kept: int) -> None:
    store_variants(store, 34, (5, 20, 80) * 4)
    expected = found(MinhashConfig())
    assert len(expected) > 15
    monkeypatch.setattr(minhash, "_VERIFIED_AT_ONCE", at_once)
    monkeypatch.setattr(minhash, "_MEMBERS_KEPT", kept)
    assert found(MinhashConfig()) == expected


def test_a_score_may_equal_the_threshold(store) -> None:
    one, other = store("abcdefghijklmnopqrstuvwxyz012"), store("abcdefghijklmnopqr")
    # In floating point 0.56 * 25 is more than 14.
    assert found(MinhashConfig(threshold=0.56)) == {(one.pk, other.pk): 14 / 25}
    assert found(MinhashConfig(threshold=0.57)) == {}


def test_a_dense_group_keeps_the_pairs_it_needs_and_all_pairs_with_others(store) -> None:
    story = [f"word{number}" for number in range(60)]
    group = [
        store(" ".join(["other", f"number{number}", *story[2:]]), date=f"2026-03-{number % 28 + 1:02}").pk
        for number in range(40)
    ]
    others = [store(f"word{number} {' '.join(story[:15])}").pk for number in range(3)]
    every = every_pair(0.75)
    config = MinhashConfig(dense_from=20, kept_pairs=2)
    tally = Tally()
    kept = {(pair.left, pair.right): pair.score for pair in MinhashPass().find(ALL_DAYS, config, connection, tally)}
    assert kept.items() <= every.items()
    assert tally.hubs.keys() == set(group)
    assert {pair for pair in every if set(pair) & set(others)} == {pair for pair in kept if set(pair) & set(others)}
    assert {end for pair in kept for end in pair} == {*group, *others}
    assert len(kept) <= 3 * len(group) + 3
    assert found(MinhashConfig(dense_from=1_000)) == every


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "articles"),
    [
        ("bund_fr", 2000),
        pytest.param("lk_news_en", 2200, marks=pytest.mark.soak),
        pytest.param("congress_press", 2000, marks=pytest.mark.soak),
    ],
)
def test_pairs_of_real_news_are_those_of_brute_force(name: str, articles: int) -> None:
    store_articles(list(islice(news(name), articles)))
    expected = every_pair(0.75)
    result = found(MinhashConfig())
    print(f"{len(result)} of {len(expected)} pairs")
    assert len(expected) > 100
    assert result == {pair: score for pair, score in expected.items() if pair in result}
    assert len(result) >= 0.999 * len(expected)
    for threshold in (0.8, 0.85, 0.9, 0.95):
        higher = found(MinhashConfig(threshold=threshold))
        assert set(higher) <= set(result)
        assert len(higher) >= 0.999 * sum(score >= threshold for score in expected.values())


def test_slots_are_a_power_of_two() -> None:
    with pytest.raises(ConfigError, match="slots is 200; it must be a power of two, such as 128, 256 or 512"):
        MinhashConfig(slots=200)

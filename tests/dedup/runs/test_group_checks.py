"""Clusters of dense groups are those that all pairs would give, although most pairs are not compared."""

from __future__ import annotations

import datetime
import io
import random

import pytest
from django.core.management import call_command

from articles.models import Article
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from benchmarks.dense import words
from dedup.detection.runs.outdated_verdicts import outdated_verdicts
from dedup.detection.runs.terms import terms_in_force
from dedup.detection.types import DENSE_GROUPS
from dedup.models import Evidence, Membership, Pair, Profile
from tests.dedup.runs.test_incremental import forget_runs

pytestmark = pytest.mark.django_db

WORDS = words(3_000)
EVERY_PAIR = {"trigram": {"dense_from": 100_000_000}}
BOUNDED = {"trigram": {"dense_from": 10, "kept_pairs": 2, "retired": True}}


def near_copies(seed: int, count: int) -> list[str]:
    """Return one text of 150 words again and again, each with a mistake in one word."""
    dice = random.Random(seed)
    story, texts = dice.choices([word for word in WORDS if len(word) > 3], k=150), []
    for _ in range(count):
        text = list(story)
        place = dice.randrange(len(text))
        text[place] = text[place][:-1]
        texts.append(" ".join(text))
    return texts


def forms_with_copies(seed: int, count: int) -> list[str]:
    """Return texts of one form with other words in eight places, each published one to six times with small changes."""
    dice = random.Random(seed)
    form, texts = dice.choices(WORDS, k=100), []
    while len(texts) < count:
        own = dict.fromkeys(dice.sample(range(100), 8))
        own |= {place: dice.choice(WORDS) for place in own}
        for _ in range(dice.choice([1, 1, 1, 2, 3, 6])):
            text = [own.get(place) or word for place, word in enumerate(form)]
            for _ in range(dice.choice([0, 1, 2])):
                text[dice.randrange(100)] = dice.choice(WORDS)
            texts.append(" ".join(text))
    dice.shuffle(texts)
    return texts[:count]


def store(texts: list[str]) -> None:
    store_articles(
        [
            IncomingArticle(
                date=datetime.date(2026, 3, 2) + datetime.timedelta(days=number % 3),
                headline=f"Report {number} of the day",
                url=f"https://paper.example/{number}",
                content=text,
                newspaper=f"Paper {number % 5}",
            )
            for number, text in enumerate(texts)
        ]
    )


def clustered(settings: dict) -> set[tuple[int, int]]:
    """Run with these settings of the passes, and return the pairs of articles that are in one cluster."""
    Profile.objects.filter(is_default=True).update(settings=settings)
    call_command(
        "find_duplicates",
        "--workers=1",
        "--passes=trigram",
        "--no-progress",
        stdout=io.StringIO(),
        stderr=io.StringIO(),
    )
    clusters: dict[int, list[int]] = {}
    for cluster, article in Membership.objects.order_by("article").values_list("cluster", "article"):
        clusters.setdefault(cluster, []).append(article)
    return {(left, right) for cluster in clusters.values() for left in cluster for right in cluster if left < right}


def test_a_dense_group_of_near_copies_is_one_cluster() -> None:
    store(near_copies(4, 60))
    every = clustered(EVERY_PAIR)
    assert len(every) == 60 * 59 // 2
    forget_runs()
    assert clustered(BOUNDED) == every
    assert Pair.objects.count() < 60 * 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (5, 6, 7))])
def test_copies_among_forms_are_clustered_as_by_all_pairs(seed: int) -> None:
    store(forms_with_copies(seed, 70))
    every = clustered(EVERY_PAIR)
    forget_runs()
    bounded = clustered(BOUNDED)
    # Wrong verdicts on a few pairs may put some articles elsewhere.
    assert len(every & bounded) / len(every | bounded) >= 0.85
    assert Pair.objects.filter(best_score__gt=0).count() < 70 * 5


def state() -> tuple:
    pairs = Pair.objects.order_by("left", "right").values_list("left", "right", "best_score", "verdict", "probability")
    evidence = Evidence.objects.filter(stale=False).order_by("pair__left", "pair__right", "pass_name")
    return list(pairs.filter(best_score__gt=0)), list(
        evidence.values_list("pair__left", "pair__right", "pass_name", "score")
    )


@pytest.mark.slow
def test_the_same_pairs_are_compared_whatever_earlier_runs_compared() -> None:
    texts = forms_with_copies(2, 70)
    store(texts)
    first = clustered(BOUNDED)
    compared = Evidence.objects.filter(pass_name=DENSE_GROUPS, stale=False).count()
    assert compared
    before = state()
    assert outdated_verdicts(terms_in_force(versions_join=False)).pairs == 0
    assert clustered(BOUNDED) == first
    assert state() == before
    clustered(EVERY_PAIR)
    assert not Evidence.objects.filter(pass_name=DENSE_GROUPS, stale=False).exists()
    assert clustered(BOUNDED) == first
    assert state() == before
    assert Article.objects.count() == len(texts)

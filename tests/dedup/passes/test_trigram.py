"""The trigram pass, checked against the plain SQL self-join."""

import random

import numpy as np
import pytest
from django.db import connection

from articles.models import Article
from articles.storage.ingest import store_articles
from dedup.detection.kernels import parity_join
from dedup.detection.passes.trigram import TrigramConfig, TrigramPass
from tests.dedup.passes.finding import NEVER_DENSE, find, of_berth, store_texts
from tests.dedup.real_news import news

pytestmark = pytest.mark.django_db

# The similarity join as the study that it comes from describes it: every pair is scored, then filtered.
PLAIN_JOIN = """
WITH scored AS MATERIALIZED (
    SELECT least(a.id, b.id) AS left_id, greatest(a.id, b.id) AS right_id,
           similarity(left(a.normalized_text, %(prefix)s), left(b.normalized_text, %(prefix)s)) AS score
    FROM articles_article AS a
    JOIN articles_article AS b ON b.date BETWEEN a.date AND a.date + %(days)s AND (b.date, b.id) > (a.date, a.id)
)
SELECT left_id, right_id, score FROM scored WHERE score >= %(threshold)s::float4 ORDER BY left_id, right_id
"""
LOWEST = 0.3
EXPLAINED = ({}, {"day_window": 1}, {"threshold": 0.4, "prefix": 120, "day_window": 9})
alike = of_berth


def plain_scores(config: TrigramConfig) -> list[tuple[int, int, float]]:
    """Return every pair from the lowest threshold on, because the join is slow: one serves all thresholds."""
    with connection.cursor() as cursor:
        cursor.execute(PLAIN_JOIN, {"prefix": config.prefix, "days": config.day_window, "threshold": LOWEST})
        return cursor.fetchall()


def at_least(scores: list[tuple[int, int, float]], threshold: float) -> list[tuple[int, int, float]]:
    """Return the pairs that reach a threshold, as PostgreSQL compares: in 32 bits."""
    return [row for row in scores if np.float32(row[2]) >= np.float32(threshold)]


def by_pass(**settings: object) -> list[tuple[int, int, float]]:
    return [(pair.left, pair.right, pair.score) for pair in find(TrigramPass(), **settings)]


WORDS = ["harbour", "ferry", "council", "bridge", "market", "river", "союз", "река", "市場", "වරාය", "பாலம்", "café"]


def invented(dice: random.Random, texts: list[str]) -> str:
    """Return a text that is new, or an earlier one with some words changed, cropped or doubled."""
    if texts and dice.random() < 0.6:
        words = dice.choice(texts).split()
        for _ in range(dice.choice([0, 1, 1, 2, 5, 10])):
            if words:
                words[dice.randrange(len(words))] = dice.choice(WORDS) + str(dice.randrange(100))
        return " ".join(words[: dice.choice([None, None, len(words) // 2])] or ["x"])
    return " ".join(dice.choice(WORDS) + str(dice.randrange(60)) for _ in range(dice.choice([1, 3, 30, 200])))


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.soak)])
def test_pairs_and_scores_are_those_of_the_plain_join(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    texts: list[str] = ["?!", "a", "ab", "…"]
    while len(texts) < 200:
        texts.append(invented(dice, texts))
    store_texts(texts, [dice.randrange(9) for _ in texts])
    for days, prefix in ((3, 1000), (0, 100), (8, 50)):
        scores = plain_scores(TrigramConfig(day_window=days, prefix=prefix))
        for threshold in (0.3, 0.5, 0.7, 0.85, 1.0):
            expected = at_least(scores, threshold)
            assert expected
            assert by_pass(threshold=threshold, day_window=days, prefix=prefix, arbitrated=0) == expected
        # The same whether or not the database computes them.
        for arbitrated in (1, 7, 100_000_000):
            settings = {"day_window": days, "prefix": prefix, "arbitrated": arbitrated}
            assert by_pass(threshold=0.5, **settings) == at_least(scores, 0.5)


@pytest.mark.parametrize(("arbitrated", "trusts"), [(0, True), (5, False), (100_000_000, False)])
def test_if_the_database_scores_one_pair_differently_it_scores_all(store, monkeypatch, arbitrated, trusts) -> None:
    words = [f"word{number}" for number in range(40)]
    for changed in range(12):
        store(" ".join([f"other{place}" for place in range(changed)] + words[changed:]))
    exact = parity_join.similar_pairs

    def slightly_wrong(*arguments, **options) -> parity_join.SimilarPairs:
        found = exact(*arguments, **options)
        return found._replace(scores=np.minimum(1.0, found.scores + 0.001))

    monkeypatch.setattr(parity_join, "similar_pairs", slightly_wrong)
    right = at_least(plain_scores(TrigramConfig()), 0.6)
    assert (by_pass(arbitrated=arbitrated) == right) is not trusts


def test_a_score_of_exactly_the_threshold_counts(store) -> None:
    one, other = store("harbours"), store("harbour")  # 7 of 10 trigrams
    expected = at_least(plain_scores(TrigramConfig()), 0.7)
    assert by_pass(threshold=0.7, arbitrated=0) == expected == [(one.pk, other.pk, 0.7)]


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("lk_news_en", ("2024-02-01", "2024-02-02", "2024-02-03", "2024-02-04")),
        ("congress_press", ("2022-11-28", "2022-11-29")),
        ("bund_fr", ("2024-06-24", "2024-06-25", "2024-06-26", "2024-06-27", "2024-06-28")),
    ],
)
def test_pairs_of_real_news_are_those_of_the_plain_join(name: str, days: tuple[str, ...]) -> None:
    store_articles([article for article in news(name) if article.date.isoformat() in days][:180])
    assert Article.objects.count() > 80
    scores = plain_scores(TrigramConfig())
    assert scores
    for threshold in (0.3, 0.5, 0.6, 0.75, 0.9):
        assert by_pass(threshold=threshold, arbitrated=0, dense_from=NEVER_DENSE) == at_least(scores, threshold)

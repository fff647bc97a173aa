"""The trigram pass, checked against the plain SQL self-join."""

import datetime
import gzip
import json
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from django.db import connection

from articles.models import Article
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from dedup.detection.kernels import parity_join
from dedup.detection.passes.trigram import TrigramConfig, TrigramPass
from dedup.detection.types import Tally, Window

pytestmark = pytest.mark.django_db

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"

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
# With this, no group of articles is dense: every pair is found.
MOST = 100_000_000
STORY = (
    "The harbour authority of Port Selby said on Monday that the northern breakwater will close for six weeks while "
    "divers replace the anchor chains. Fishing boats may use the southern basin free of charge until the work is done."
)
# Under which test_explain.py compares explain with find.
EXPLAINED = ({}, {"day_window": 1}, {"threshold": 0.4, "prefix": 120, "day_window": 9})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: a text that differs from other groups' in a number."""
    return {"content": f"{STORY} Berth number {group} stays open."}


def plain_scores(config: TrigramConfig) -> list[tuple[int, int, float]]:
    """Return every pair from the lowest threshold on, because the join is slow: one serves all thresholds."""
    with connection.cursor() as cursor:
        cursor.execute(PLAIN_JOIN, {"prefix": config.prefix, "days": config.day_window, "threshold": LOWEST})
        return cursor.fetchall()


def at_least(scores: list[tuple[int, int, float]], threshold: float) -> list[tuple[int, int, float]]:
    """Return the pairs that reach a threshold, as PostgreSQL compares: in 32 bits."""
    return [row for row in scores if np.float32(row[2]) >= np.float32(threshold)]


def by_pass(config: TrigramConfig) -> list[tuple[int, int, float]]:
    days = Article.objects.order_by("date").values_list("date", flat=True)
    window = Window(days.first(), days.last())
    return sorted((pair.left, pair.right, pair.score) for pair in TrigramPass().find(window, config, connection))


WORDS = (
    "harbour",
    "ferry",
    "council",
    "bridge",
    "market",
    "river",
    "storm",
    "союз",
    "река",
    "市場",
    "වරාය",
    "பாலம்",
    "café",
)


def invented(dice: random.Random, texts: list[str]) -> str:
    """Return a text that is new, or an earlier one with some words changed, cropped or doubled."""
    if texts and dice.random() < 0.6:
        words = dice.choice(texts).split()
        for _ in range(dice.choice([0, 1, 1, 2, 5, 10])):
            if words:
                words[dice.randrange(len(words))] = dice.choice(WORDS) + str(dice.randrange(100))
        return " ".join(words[: dice.choice([None, None, len(words) // 2])] or ["x"])
    return " ".join(dice.choice(WORDS) + str(dice.randrange(60)) for _ in range(dice.choice([1, 3, 30, 200])))


def store_texts(dice: random.Random, texts: list[str]) -> None:
    """Store the texts on some days of March."""
    store_articles(
        [
            IncomingArticle(
                date=datetime.date(2026, 3, 1) + datetime.timedelta(days=dice.randrange(9)),
                headline="",
                url=f"https://paper.example/{number}",
                content=text,
            )
            for number, text in enumerate(texts)
        ]
    )


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.soak)])
def test_pairs_and_scores_are_those_of_the_plain_join(seed: int) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    texts: list[str] = ["?!", "a", "ab", "…"]
    while len(texts) < 200:
        texts.append(invented(dice, texts))
    store_texts(dice, texts)
    for days, prefix in ((3, 1000), (0, 100), (8, 50)):
        scores = plain_scores(TrigramConfig(day_window=days, prefix=prefix))
        for threshold in (0.3, 0.5, 0.7, 0.85, 1.0):
            config = TrigramConfig(threshold=threshold, day_window=days, prefix=prefix, arbitrated=0)
            expected = at_least(scores, threshold)
            assert expected
            assert by_pass(config) == expected


@pytest.mark.parametrize("seed", [5, 6])
@pytest.mark.parametrize("arbitrated", [0, 1, 7, 100_000_000])
def test_scores_are_the_same_whether_or_not_the_database_computes_them(seed: int, arbitrated: int) -> None:
    dice = random.Random(seed)
    texts: list[str] = []
    for _ in range(60):
        texts.append(invented(dice, texts))
    store_texts(dice, texts)
    expected = at_least(plain_scores(TrigramConfig()), 0.5)
    assert len(expected) > 20
    assert by_pass(TrigramConfig(threshold=0.5, arbitrated=arbitrated)) == expected


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
    assert (by_pass(TrigramConfig(arbitrated=arbitrated)) == right) is not trusts


def test_a_score_of_exactly_the_threshold_counts(store) -> None:
    one, other = store("harbours"), store("harbour")  # 7 of 10 trigrams
    config = TrigramConfig(threshold=0.7, arbitrated=0)
    assert by_pass(config) == at_least(plain_scores(config), 0.7) == [(one.pk, other.pk, 0.7)]


def test_the_window_is_inclusive_and_reaches_before_the_block(store) -> None:
    text = "The ferry sails at noon on weekdays until the end of May."
    ids = {day: store(text, date=f"2026-03-{day:02}").pk for day in (1, 4, 8)}
    found = TrigramPass().find(
        Window(datetime.date(2026, 3, 4), datetime.date(2026, 3, 4)), TrigramConfig(day_window=3), connection
    )
    assert [(pair.left, pair.right, pair.score) for pair in found] == [(ids[1], ids[4], 1.0)]


def test_the_smaller_id_is_left_whichever_article_is_earlier(store) -> None:
    text = "The ferry sails at noon on weekdays until the end of May."
    later, earlier = store(text, date="2026-03-03"), store(text, date="2026-03-02")
    assert by_pass(TrigramConfig()) == [(later.pk, earlier.pk, 1.0)]


def test_texts_without_letters_never_match(store) -> None:
    for content in ("...", "!!!", "—"):
        store(content)
    assert by_pass(TrigramConfig(threshold=0.3)) == []


def test_all_pairs_of_many_equal_articles_on_one_day_are_found(store) -> None:
    for _ in range(30):
        store("The ferry sails at noon on weekdays until the end of May.")
    assert len(by_pass(TrigramConfig())) == 30 * 29 // 2


def test_the_pairs_of_a_higher_threshold_are_among_those_of_a_lower_one(store) -> None:
    dice = random.Random(3)
    texts: list[str] = []
    for _ in range(80):
        texts.append(invented(dice, texts))
        store(texts[-1])
    bands = [set(by_pass(TrigramConfig(threshold=threshold))) for threshold in (0.5, 0.6, 0.75, 0.8, 0.9)]
    assert bands[0]
    assert all(higher <= lower for lower, higher in pairwise(bands))


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
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"the collection {name} is not beside the checkout")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["date"] in days][:180]
    store_articles(
        [
            IncomingArticle(
                date=datetime.date.fromisoformat(row["date"]),
                headline=row["headline"],
                url=row["url"],
                content=row["content"],
                newspaper=row["newspaper"],
            )
            for row in rows
        ]
    )
    assert Article.objects.count() > 80
    scores = plain_scores(TrigramConfig())
    assert scores
    for threshold in (0.3, 0.5, 0.6, 0.75, 0.9):
        config = TrigramConfig(threshold=threshold, arbitrated=0, dense_from=MOST)
        assert by_pass(config) == at_least(scores, threshold)


def dense_day(count: int = 70) -> list[Article]:
    """Store articles of one day with the same text but for a number, two of them equal; return them by id."""
    rows = [f"{STORY} Berth number {max(number, 1)} stays open." for number in range(count)]
    store_articles(
        [
            IncomingArticle(
                date=datetime.date(2026, 3, 2), headline="", url=f"https://paper.example/{number}", content=text
            )
            for number, text in enumerate(rows)
        ]
    )
    return list(Article.objects.order_by("pk"))


def test_a_dense_group_keeps_the_pairs_it_needs(db) -> None:
    articles = dense_day()
    tally = Tally()
    window = Window(datetime.date(2026, 3, 2), datetime.date(2026, 3, 2))
    pairs = list(TrigramPass().find(window, TrigramConfig(), connection, tally))
    assert tally.hubs.keys() == {article.pk for article in articles}
    assert len(pairs) <= 3 * len(articles)
    assert (articles[0].pk, articles[1].pk, 1.0) in [(pair.left, pair.right, pair.score) for pair in pairs]
    assert {end for pair in pairs for end in (pair.left, pair.right)} == tally.hubs.keys()
    every = Tally()
    assert len(list(TrigramPass().find(window, TrigramConfig(dense_from=MOST), connection, every))) == 70 * 69 // 2
    assert every.hubs == {}

"""Measure the review pages with 100,000 articles and 1,000,000 pairs stored; see docs/benchmarks.md.

.venv/bin/python -m tests.benchmarks.pages [--articles 100000] [--repeat 20]

The times are those of the server: a request from its view to its last byte, in this process, without a browser.
"""

from __future__ import annotations

import argparse
import datetime
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import django
from django.db import connection, transaction

from tests.benchmarks import database
from tests.benchmarks.corpus import FIRST_DAY, SEED, Row, load
from tests.benchmarks.measuring import MeasuringError

ARTICLES = 100_000
PER_DAY = 500
NEWSPAPERS = 20
# Each article has a pair with each of the next ten: 1,000,000 pairs of 100,000 articles.
PAIRS_EACH = 10
# Articles come in groups of copies. Every fifth group is not certain to be copies.
GROUP = 6
ARTICLES_A_DECISION = 50
DECIDED_HERE = 50

_PAIRS_SQL = """
INSERT INTO dedup_pair (left_id, right_id, state, best_score, verdict, probability, duplicate_probability, joins,
    days_apart, same_newspaper, found_at, left_matched, right_matched, reasons)
SELECT left_id, right_id, 'undecided', 0.5 + score / 2, verdict,
    CASE verdict WHEN 'duplicate' THEN chance ELSE 1 - chance END, chance,
    verdict = 'duplicate', days, same, now(), 0.9, 0.9, '["The texts are alike.", "Published on the same day."]'::jsonb
FROM (
    SELECT *, CASE WHEN chance >= 0.5 THEN 'duplicate' WHEN score < 0.3 THEN 'version' ELSE 'template' END AS verdict
    FROM (
        SELECT one.id AS left_id, other.id AS right_id, other.date - one.date AS days,
            one.newspaper_id = other.newspaper_id AS same, random() AS score,
            CASE
                WHEN (one.id - 1) / %(group)s = (other.id - 1) / %(group)s AND (one.id - 1) / %(group)s %% 5 > 0
                    THEN 0.95 + random() * 0.05
                WHEN (one.id - 1) / %(group)s = (other.id - 1) / %(group)s THEN 0.5 + random() * 0.5
                WHEN random() < 0.03 THEN 0.1 + random() * 0.4
                ELSE random() * 0.1
            END AS chance
        FROM articles_article AS one
        JOIN articles_article AS other ON other.id BETWEEN one.id + 1 AND one.id + %(each)s
    ) AS drawn
) AS judged
ORDER BY left_id, right_id
"""
_EVIDENCE_SQL = """
INSERT INTO dedup_evidence (pair_id, pass_name, score, details, run_id, stale)
SELECT id, 'trigram', best_score, '{}'::jsonb, %(run)s, false FROM dedup_pair
UNION ALL
SELECT id, 'sentence', best_score, '{"sentences": 3}'::jsonb, %(run)s, false FROM dedup_pair WHERE id %% 2 = 0
"""
_CLUSTERS_SQL = """
INSERT INTO dedup_cluster (kept_id, state, size, lowest_score, first_day, last_day)
SELECT min(id), 'proposed', count(*), CASE WHEN (id - 1) / %(group)s %% 5 > 0 THEN 0.95 ELSE 0.6 END,
    min(date), max(date)
FROM articles_article GROUP BY (id - 1) / %(group)s HAVING count(*) > 1 ORDER BY min(id)
"""
_MEMBERS_SQL = """
INSERT INTO dedup_membership (cluster_id, article_id)
SELECT cluster.id, article.id FROM dedup_cluster AS cluster
JOIN articles_article AS article ON article.id BETWEEN cluster.kept_id AND cluster.kept_id + cluster.size - 1
"""


@dataclass(frozen=True)
class Measured:
    """What a page cost: the median and the slowest of its requests in milliseconds, and its queries."""

    name: str
    milliseconds: list[float]
    queries: int

    def row(self) -> str:
        """Return the row of the table."""
        median, slowest = statistics.median(self.milliseconds), max(self.milliseconds)
        return f"| {self.name} | {median:,.0f} | {slowest:,.0f} | {self.queries} |"


def rows(articles: int) -> Iterator[Row]:
    """Yield articles of 150 made-up words; those of a group share all but a few words."""
    from tests.benchmarks.dense import words  # noqa: PLC0415 - beside the other made-up texts

    dice, known = random.Random(SEED), words(3_000)
    story: list[str] = []
    for number in range(articles):
        if number % GROUP == 0:
            story = dice.choices(known, k=150)
        text = list(story)
        text[dice.randrange(len(text))] = dice.choice(known)
        day = FIRST_DAY + datetime.timedelta(days=number // PER_DAY)
        headline = " ".join(story[:6]).capitalize()
        yield Row(day, f"Paper {number % NEWSPAPERS}", headline, f"https://paper.example/{number}", " ".join(text), 0)


def fill(articles: int) -> None:
    """Store articles, pairs with evidence, clusters and decisions, as runs and editors leave them."""
    from dedup.clustering.questions import update_questions  # noqa: PLC0415 - Django must be set up first
    from dedup.models import DetectionRun  # noqa: PLC0415

    with transaction.atomic():
        load(rows(articles), connection)
    run = DetectionRun.objects.create(profile_name="default", config={}, scope={}, state="done", counts={})
    values = {"group": GROUP, "each": PAIRS_EACH, "run": run.pk}
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.5)")
        for statement in (_PAIRS_SQL, _EVIDENCE_SQL, _CLUSTERS_SQL, _MEMBERS_SQL):
            cursor.execute(statement, {name: value for name, value in values.items() if f"%({name})s" in statement})
    update_questions(None)
    _decide(articles // ARTICLES_A_DECISION)


def tidy() -> None:
    """Give the planner statistics of the tables, as autovacuum does in time."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _decide(count: int) -> None:
    """Decide on pairs all over the archive, through the writer of decisions."""
    from django.contrib.auth.models import User  # noqa: PLC0415

    from dedup.models import Pair  # noqa: PLC0415
    from dedup.review.decisions import decide_pair  # noqa: PLC0415

    editor = User.objects.create_user("nils")
    dice = random.Random(SEED)
    highest = Pair.objects.order_by("-pk").values_list("pk", flat=True)[0]
    for number in dice.sample(range(1, highest), count):
        decide_pair(number, dice.choice(["confirm", "reject", "version", "template", "unsure"]), user=editor)


class Queries:
    """Counts the queries that run in its block."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        """Run a query, and count it."""
        self.count += 1
        return execute(*arguments)


def measured(name: str, ask: Callable[[], Any], repeat: int) -> Measured:
    """Ask for a page again and again; the first request is not counted."""
    found, counted = [], Queries()
    for _ in range(repeat + 1):
        counted = Queries()
        with connection.execute_wrapper(counted):
            began = time.perf_counter()
            answer = ask()
            found.append(1000 * (time.perf_counter() - began))
        if answer.status_code != 200:
            raise MeasuringError(f"{name} answered {answer.status_code}")
    return Measured(name, found[1:], counted.count)


def addresses() -> dict[str, str]:
    """Return the addresses of the pages, by name."""
    from articles.models import Article  # noqa: PLC0415
    from dedup.models import Cluster, Pair  # noqa: PLC0415

    pair = Pair.objects.in_queue().order_by("-pk")[0].pk
    cluster = Cluster.objects.order_by("pk")[5].pk
    article = Article.objects.order_by("-pk")[5].pk
    return {
        "dashboard": "/",
        "queue": "/queue/",
        "queue, nearly certain": "/queue/?tab=certain",
        "queue, clusters": "/queue/?tab=clusters",
        "queue, conflicts": "/queue/?tab=conflicts",
        "queue, filtered": "/queue/?newspaper=3&score_from=0.8",
        "pairs of any verdict": "/queue/?verdict=any",
        "pair": f"/pairs/{pair}/",
        "card of a cluster": f"/clusters/{cluster}/card/?tab=clusters",
        "disagreements": "/disagreements/",
        "clusters": "/clusters/",
        "cluster": f"/clusters/{cluster}/",
        "articles": "/articles/",
        "article": f"/articles/{article}/",
        "history": "/history/",
        "series": "/series/",
        "runs": "/runs/",
    }


def decisions(client: Any, count: int) -> Measured:
    """Decide on one question after the other, each with the page of the next one."""
    address = client.get("/queue/next/", follow=True).redirect_chain[-1][0]
    found, counted = [], Queries()
    for number in range(count + 1):
        counted = Queries()
        with connection.execute_wrapper(counted):
            began = time.perf_counter()
            path, _, query = address.partition("?")
            decided = client.post(f"{path}decide/?{query}", {"seen": 0, "kind": ("confirm", "reject")[number % 2]})
            address = decided["Location"]
            shown = client.get(address, follow=True)
            found.append(1000 * (time.perf_counter() - began))
        if shown.redirect_chain:
            address = shown.redirect_chain[-1][0]
        if shown.status_code != 200:
            raise MeasuringError(f"{address} answered {shown.status_code}")
    return Measured("a decision with the next question", found[1:], counted.count)


def main() -> int:
    """Fill a scratch database and print the times of the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=ARTICLES)
    parser.add_argument("--repeat", type=int, default=20, help="requests of each page; the median counts")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    django.setup()
    try:
        with database.scratch_database():
            began = time.monotonic()
            fill(options.articles)
            tidy()
            print(f"Filled in {time.monotonic() - began:.0f} s.", file=sys.stderr)
            for each in _measure(options.repeat):
                print(each.row(), flush=True)
    except MeasuringError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _measure(repeat: int) -> Iterator[Measured]:
    from django.test import Client  # noqa: PLC0415

    from tests.factories import make_user  # noqa: PLC0415

    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(make_user("mara", "editor"))
    print("| page | median ms | slowest ms | queries |\n|---|---:|---:|---:|")
    for name, address in addresses().items():
        yield measured(name, lambda address=address: client.get(address), repeat)
    yield decisions(client, DECIDED_HERE)


if __name__ == "__main__":
    sys.exit(main())

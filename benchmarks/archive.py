"""An archive as runs and editors leave it, of any size: what the benchmark of the pages reads.

The texts are made up and streamed with COPY, the rest is made of them by SQL, and the clusters and questions are those
that the product itself derives from the pairs and decisions.
"""

import datetime
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from psycopg import sql

from benchmarks.corpus import FIRST_DAY, SEED, Row, load
from benchmarks.dense import words
from dedup.detection.clustering.constraints import KnownConstraints, implications
from dedup.detection.clustering.questions import update_questions
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.models import DetectionRun, Link
from dedup.models.base import read_each

PER_DAY = 500
# Articles come in groups of copies. Every fifth group is not certain to be copies.
GROUP = 6
# Each article may have a pair with each of the next ten.
NEAREST = 10
# Three groups in ten have all their pairs: 0.75 pairs an article. Other pairs are drawn up to the number wanted.
_WHOLE_GROUPS = 3
_IN_WHOLE_GROUPS = 0.75
PAIRS_A_DECISION = 50
# One article in so many has the headline of a series.
_IN_SERIES = 50
_SERIES_FORMS = 500
_GROUPED = 30
_RUNS = 400

_URLS_SQL = """
INSERT INTO articles_articleurl (article_id, url, key, normalized_url, kind, seen_at)
SELECT id, url, md5(url)::uuid, replace(url, 'https:', 'http:'), 'page', stored_at FROM articles_article
"""
_FORMS_SQL = """
INSERT INTO dedup_headlineform (article_id, newspaper_id, date, form, revision)
SELECT id, newspaper_id, date, regexp_replace(lower(headline), '[0-9]+', '#', 'g'), revision FROM articles_article
"""
_SERIES_SQL = """
INSERT INTO dedup_series (newspaper_id, form, headline, articles, days, first_day, last_day)
SELECT form.newspaper_id, form.form, (array_agg(headline ORDER BY article.id DESC))[1], count(*),
    count(DISTINCT form.date), min(form.date), max(form.date)
FROM dedup_headlineform AS form JOIN articles_article AS article ON article.id = form.article_id
WHERE form.form LIKE '%%#%%'
GROUP BY form.newspaper_id, form.form
"""
_SENTENCES_SQL = """
INSERT INTO articles_repeatedsentence (newspaper_id, week, digest, sentence, kind, articles, article_ids)
SELECT newspaper.id, week, md5(newspaper.id || ' ' || line)::uuid,
    'Subscribe to offer ' || line || ' of ' || newspaper.name || ' and read on.',
    CASE line %% 9 WHEN 0 THEN 'quotation' ELSE 'boilerplate' END, 3 + line, ARRAY[newspaper.id]
FROM articles_newspaper AS newspaper
CROSS JOIN generate_series(%(first)s::date, %(last)s::date, interval '7 days') AS week
CROSS JOIN LATERAL (
    SELECT DISTINCT (hashint8(newspaper.id * 1000 + extract(epoch FROM week)::bigint / 604800 + number) & 31) AS line
    FROM generate_series(1, 4) AS number
) AS lines
"""
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
        JOIN articles_article AS other ON other.id BETWEEN one.id + 1 AND one.id + %(nearest)s
        WHERE random() < %(others)s OR (
            (one.id - 1) / %(group)s = (other.id - 1) / %(group)s AND (one.id - 1) / %(group)s %% 10 < %(whole)s
        )
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
_DECISIONS_SQL = """
INSERT INTO dedup_decision (kind, decided_by_id, decided_at, pair_id, articles, note)
SELECT (ARRAY['confirm', 'reject', 'version', 'template', 'unsure'])[1 + abs(hashint8(id) %% 5)],
    %(user)s, now() - interval '2 days', id, ARRAY[left_id, right_id], ''
FROM dedup_pair WHERE id %% %(pairs)s = 0 ORDER BY id
"""
_LINKS_SQL = """
INSERT INTO dedup_link (decision_id, left_id, right_id, kind)
SELECT id, articles[1], articles[2], CASE kind WHEN 'confirm' THEN 'must' WHEN 'reject' THEN 'cannot' ELSE kind END
FROM dedup_decision
"""
_READINGS_SQL = """
INSERT INTO dedup_secondreading (pair_id, decision_id, first_kind, user_id, kind, note, blind, read_at)
SELECT pair_id, id, kind, %(user)s, CASE WHEN id %% 3 = 0 THEN 'unsure' ELSE kind END, '', true, now()
FROM dedup_decision WHERE id %% 20 = 0
"""
_GROUPS_SQL = """
INSERT INTO dedup_densegroup (first_id, size, newspapers, first_day, last_day, pairs, passes, fingerprint)
SELECT min(id), count(*), count(DISTINCT newspaper_id), min(date), max(date), 100, '{trigram}', md5(min(id)::text)
FROM articles_article WHERE id %% 100 < %(grouped)s GROUP BY id / 2000
"""
_GROUPED_SQL = """
INSERT INTO dedup_groupmember (article_id, group_id)
SELECT article.id, found.id FROM dedup_densegroup AS found
JOIN articles_article AS article ON article.id / 2000 = found.first_id / 2000 AND article.id %% 100 < %(grouped)s
"""
_INDEXES_SQL = """
SELECT indexname, indexdef FROM pg_indexes
JOIN pg_index ON indexrelid = (quote_ident(schemaname) || '.' || quote_ident(indexname))::regclass
WHERE schemaname = 'public' AND tablename = ANY (%(tables)s) AND NOT indisunique
"""
_BIG = ["articles_article", "articles_articleurl", "dedup_headlineform", "dedup_pair", "dedup_evidence"]


def rows(articles: int) -> Iterator[Row]:
    """Yield articles of 150 made-up words; those of a group share all but a few words."""
    dice, known = random.Random(SEED), words(3_000)
    newspapers = 20 if articles <= 100_000 else 200
    story: list[str] = []
    for number in range(articles):
        if number % GROUP == 0:
            story = dice.choices(known, k=150)
        text = list(story)
        text[dice.randrange(len(text))] = dice.choice(known)
        day = FIRST_DAY + datetime.timedelta(days=number // PER_DAY)
        headline = " ".join(story[:6]).capitalize()
        if number % _IN_SERIES == 0:
            headline = f"{known[number // _IN_SERIES % _SERIES_FORMS].capitalize()} prices of {day:%d} {day:%m}"
        url = f"https://paper-{number % newspapers}.example/{day:%Y/%m/%d}/{story[0]}-{number}.html"
        yield Row(day, f"Paper {number % newspapers}", headline, url, " ".join(text), 0)


def fill(articles: int, pairs: int) -> None:
    """Store articles and everything that runs and editors make of them; about so many pairs, or one in ten more.

    At most NEAREST pairs an article. A million articles with a million pairs take some minutes.
    """
    with transaction.atomic(), _without_indexes():
        load(rows(articles), connection)
        _run(_URLS_SQL, _FORMS_SQL, _SERIES_SQL)
        last = FIRST_DAY + datetime.timedelta(days=articles // PER_DAY)
        _run(_SENTENCES_SQL, first=FIRST_DAY - datetime.timedelta(days=FIRST_DAY.weekday()), last=last)
        # Of the pairs with the next ten, which share is not in whole groups.
        others = (pairs / articles - _IN_WHOLE_GROUPS) / (NEAREST - _IN_WHOLE_GROUPS)
        _run("SELECT setseed(0.5)")
        _run(_PAIRS_SQL, group=GROUP, nearest=NEAREST, others=others, whole=_WHOLE_GROUPS)
        _run(_EVIDENCE_SQL, run=_runs())
    _run("ANALYZE")
    with transaction.atomic():
        _run(_GROUPS_SQL, _GROUPED_SQL, grouped=_GROUPED)
        _decide()


def _run(*statements: str, **values: Any) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, values)


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Drop the indexes of the big tables in the block, except unique ones: they are built faster at the end."""
    with connection.cursor() as cursor:
        cursor.execute(_INDEXES_SQL, {"tables": _BIG})
        found = cursor.fetchall()
        for name, _ in found:
            cursor.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
        yield
        # The triggers of foreign keys wait for the end of the transaction, and would bar new indexes.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for _, definition in found:
            cursor.execute(definition)


def _runs() -> int:
    """Store finished runs; return the number of the last."""
    made = [
        DetectionRun(profile_name="default", config={}, scope={}, state="done", counts={"articles": number})
        for number in range(_RUNS)
    ]
    return max(run.pk for run in DetectionRun.objects.bulk_create(made))


def _decide() -> None:
    """Store decisions on pairs all over the archive, and derive the clusters and the questions."""
    editor, other = (User.objects.create_user(name) for name in ("nils", "tove"))
    _run(_DECISIONS_SQL, user=editor.pk, pairs=PAIRS_A_DECISION)
    _run(_LINKS_SQL)
    _run(_READINGS_SQL, user=other.pk)
    ends = {end for both in Link.objects.values_list("left", "right") for end in both}
    read_each(*implications(ends, KnownConstraints()))
    rebuild_clusters()
    update_questions(None)

"""The writer of series: headline forms, and the forms that a newspaper publishes often enough to be series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connection, transaction

from articles.models import Newspaper
from articles.normalization.titles import plain_title
from articles.processes import THIS_PROCESS, Pool
from articles.storage.ingest import newest_revision
from dedup.detection.article_sql import article_sql
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.judging.articles import without_collector
from dedup.detection.runs.phases import execute
from dedup.detection.types import SERIES
from dedup.models import UpToDate

# A series has been published on at least this many days.
LEAST_DAYS = 5
# The articles of a task, which is one transaction. Another process pays off for this many.
_ARTICLES_AT_ONCE = 5_000
_ARTICLES_PER_WORKER = 20_000
# The columns that Newspaper.affixes reads.
AFFIX_COLUMNS = ("newspaper__name", "newspaper__title_affixes", "newspaper__learnt_affixes")

# The articles whose form is missing or outdated, in parts of about the same size. All articles up to the mark are done,
# so the index article_revision finds them.
_PARTS_SQL = article_sql(
    """
SELECT min(id), max(id), count(*)
FROM (
    SELECT article.id, (row_number() OVER (ORDER BY article.id) - 1) / %(articles)s AS part
    FROM {articles} AS article
    LEFT JOIN dedup_headlineform AS known ON known.article_id = article.id
    WHERE article.revision > %(done)s
      AND (known.revision IS NULL OR known.revision < article.revision OR known.characters IS NULL)
) AS outdated
GROUP BY part
ORDER BY part
"""
)
_OUTDATED_SQL = article_sql(
    """
SELECT article.id, article.newspaper_id, article.date, article.revision,
       coalesce(article.characters, length(article.content)),
       CASE WHEN article.withheld THEN '' ELSE article.headline END
FROM {articles} AS article
LEFT JOIN dedup_headlineform AS known
    ON known.article_id = article.id AND known.article_id BETWEEN %(first)s AND %(last)s
WHERE article.id BETWEEN %(first)s AND %(last)s AND article.revision > %(done)s
  AND (known.revision IS NULL OR known.revision < article.revision OR known.characters IS NULL)
"""
)
_CREATE_SQL = """
CREATE TEMPORARY TABLE made_form (
    article_id bigint, newspaper_id bigint, date date, revision bigint, characters integer, form text
) ON COMMIT DROP
"""
_COPY_SQL = "COPY made_form (article_id, newspaper_id, date, revision, characters, form) FROM STDIN"
# An article that had another form, or was in another newspaper, leaves a series there: all series are counted again.
_CHANGED_SQL = """
DELETE FROM dedup_uptodate
WHERE name = %(name)s AND EXISTS (
    SELECT FROM made_form AS made
    JOIN dedup_headlineform AS known ON known.article_id = made.article_id
    WHERE (known.newspaper_id, known.date, known.form) IS DISTINCT FROM (made.newspaper_id, made.date, made.form)
)
"""
_STORE_SQL = """
INSERT INTO dedup_headlineform (article_id, newspaper_id, date, revision, characters, form)
SELECT article_id, newspaper_id, date, revision, characters, form FROM made_form
ON CONFLICT (article_id) DO UPDATE
SET newspaper_id = excluded.newspaper_id, date = excluded.date, revision = excluded.revision,
    characters = excluded.characters, form = excluded.form
"""

# The rule of a series belongs to the newspaper that has the articles now. Where that newspaper has a rule for the same
# form, or several come to it, one is enough: the others wait where they are until a merge is undone.
_MOVE_RULES_SQL = """
WITH RECURSIVE followed AS (
    SELECT id AS newspaper_id, id AS current_id, merged_into_id FROM articles_newspaper
    UNION ALL
    SELECT followed.newspaper_id, next.id, next.merged_into_id
    FROM followed JOIN articles_newspaper AS next ON next.id = followed.merged_into_id
), moving AS (
    SELECT DISTINCT ON (followed.current_id, series.form)
           series.id, series.form, followed.newspaper_id AS made_for_id, followed.current_id AS to_id
    FROM dedup_series AS series
    JOIN followed ON followed.newspaper_id = coalesce(series.made_for_id, series.newspaper_id)
    WHERE series.ruled_at IS NOT NULL AND followed.merged_into_id IS NULL
      AND series.newspaper_id <> followed.current_id
      AND NOT EXISTS (
          SELECT FROM dedup_series AS there
          WHERE there.newspaper_id = followed.current_id AND md5(there.form) = md5(series.form)
            AND there.form = series.form AND there.ruled_at IS NOT NULL
      )
    ORDER BY followed.current_id, series.form, series.id
), replaced AS (
    DELETE FROM dedup_series AS series USING moving
    WHERE series.newspaper_id = moving.to_id AND md5(series.form) = md5(moving.form) AND series.form = moving.form
)
SELECT id, made_for_id, to_id FROM moving
"""
_MOVE_RULE_SQL = """
UPDATE dedup_series SET newspaper_id = %(to_id)s, made_for_id = NULLIF(%(made_for_id)s, %(to_id)s) WHERE id = %(id)s
"""

# The forms to count, as the index headline_form has them: those of new articles, or all that may be series.
_FORMS_SQL = "CREATE TEMPORARY TABLE counted_form (newspaper_id bigint, digest text) ON COMMIT DROP"
_NEW_FORMS_SQL = article_sql(
    """
INSERT INTO counted_form
SELECT DISTINCT form.newspaper_id, md5(form.form)
FROM {articles} AS article
JOIN dedup_headlineform AS form ON form.article_id = article.id
WHERE article.revision > %(done)s AND form.form <> ''
"""
)
_ALL_FORMS_SQL = """
INSERT INTO counted_form
SELECT newspaper_id, md5(form) FROM dedup_headlineform WHERE form <> ''
GROUP BY newspaper_id, md5(form) HAVING count(*) >= %(least_days)s
UNION
SELECT newspaper_id, md5(form) FROM dedup_series
"""
_COUNT_SERIES_SQL = """
INSERT INTO dedup_series (newspaper_id, form, headline, articles, days, first_day, last_day)
SELECT form.newspaper_id, form.form, '', count(*), count(DISTINCT form.date), min(form.date), max(form.date)
FROM counted_form AS counted
JOIN dedup_headlineform AS form ON form.newspaper_id = counted.newspaper_id AND md5(form.form) = counted.digest
WHERE form.form <> ''
GROUP BY form.newspaper_id, form.form
HAVING count(DISTINCT form.date) >= %(least_days)s
    OR EXISTS (
        SELECT FROM dedup_series AS known
        WHERE known.newspaper_id = form.newspaper_id AND md5(known.form) = md5(form.form) AND known.form = form.form
    )
ORDER BY form.newspaper_id, form.form
ON CONFLICT (newspaper_id, md5(form)) DO UPDATE
SET articles = excluded.articles, days = excluded.days, first_day = excluded.first_day, last_day = excluded.last_day
"""
_NOTHING_LEFT_SQL = """
UPDATE dedup_series AS series SET articles = 0, days = 0
WHERE NOT EXISTS (
    SELECT FROM dedup_headlineform AS form
    WHERE form.newspaper_id = series.newspaper_id AND md5(form.form) = md5(series.form) AND form.form = series.form
)
"""
# A series that an editor made a rule for stays, even if too few days are left.
_DROP_SERIES_SQL = "DELETE FROM dedup_series WHERE ruled_at IS NULL AND days < %(least_days)s"
_LATEST_HEADLINE_SQL = article_sql(
    """
UPDATE dedup_series AS series
SET headline = article.headline
FROM (
    SELECT DISTINCT ON (form.newspaper_id, form.form) form.newspaper_id, form.form, form.article_id
    FROM counted_form AS counted
    JOIN dedup_headlineform AS form ON form.newspaper_id = counted.newspaper_id AND md5(form.form) = counted.digest
    JOIN dedup_series AS known ON known.newspaper_id = form.newspaper_id AND known.form = form.form
    ORDER BY form.newspaper_id, form.form, form.date DESC, form.article_id DESC
) AS latest
JOIN {articles} AS article ON article.id = latest.article_id
WHERE latest.newspaper_id = series.newspaper_id AND latest.form = series.form
  AND series.headline IS DISTINCT FROM article.headline
"""
)


@dataclass(frozen=True, slots=True)
class FormsTask:
    """The outdated articles with these ids, the first and the last included, as a task for any process."""

    first: int
    last: int
    done: int  # the revision up to which all forms are up to date
    articles: int


def update_series(
    *,
    pool: Pool = THIS_PROCESS,
    on_start: Callable[[int], None] = lambda _articles: None,
    on_done: Callable[[int], None] = lambda _articles: None,
    on_idle: Callable[[], None] = lambda: None,
) -> None:
    """Bring headline forms and series up to date with the articles, and rules with merged newspapers.

    `on_start` is called with the number of articles, if any have outdated forms, and `on_done` with those of each part.
    A process that is killed loses the parts it was at, and the next call does the rest.
    """
    newest = newest_revision()
    tasks = _tasks(_done())
    articles = sum(task.articles for task in tasks)
    if tasks:
        on_start(articles)
    execute(
        tasks,
        make_forms,
        pool=pool,
        at_most=max(1, articles // _ARTICLES_PER_WORKER),
        on_read=lambda _task, _articles: None,
        on_done=lambda task, _made: on_done(task.articles),
        on_idle=on_idle,
    )
    with transaction.atomic(), connection.cursor() as cursor:
        _count_series(cursor, 0 if _move_rules(cursor) else _done())
        UpToDate.objects.update_or_create(name=SERIES, defaults={"revision": newest})


def make_forms(task: FormsTask, _on_read: Callable[[int], None]) -> int:
    """Make and store the headline forms of some articles; return how many."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_OUTDATED_SQL, {"first": task.first, "last": task.last, "done": task.done})
        rows = cursor.fetchall()
        with without_collector():
            forms = _forms([(row[1], row[-1]) for row in rows])
        cursor.execute(_CREATE_SQL)
        with cursor.copy(_COPY_SQL) as copy:
            for row, form in zip(rows, forms, strict=True):
                copy.write_row((*row[:-1], form))
        cursor.execute(_CHANGED_SQL, {"name": SERIES})
        cursor.execute(_STORE_SQL)
        cursor.execute("DROP TABLE made_form")
    return len(rows)


def _forms(headlines: Sequence[tuple[int, str]]) -> list[str]:
    """Return the forms of headlines, each given with the id of its newspaper."""
    newspapers = Newspaper.objects.in_bulk({newspaper for newspaper, _ in headlines})
    affixes = {newspaper: row.affixes for newspaper, row in newspapers.items()}
    preparer = _preparer()
    return [preparer.headline_form(plain_title(headline, affixes[newspaper])) for newspaper, headline in headlines]


@cache
def _preparer() -> Preparer:
    """Return the preparer of this process: the words of headlines are few."""
    return Preparer()


def _done() -> int:
    """Return the revision up to which series are up to date; 0 if all are to be counted."""
    return UpToDate.objects.filter(name=SERIES).values_list("revision", flat=True).first() or 0


def _tasks(done: int) -> list[FormsTask]:
    with connection.cursor() as cursor:
        cursor.execute(_PARTS_SQL, {"done": done, "articles": _ARTICLES_AT_ONCE})
        return [FormsTask(first, last, done, articles) for first, last, articles in cursor]


def _move_rules(cursor: Any) -> int:
    """Move the rules of merged newspapers; return how many were moved."""
    # In two statements, because the places of the series that give way must be free.
    cursor.execute(_MOVE_RULES_SQL)
    moved = cursor.fetchall()
    for series, made_for, to in moved:
        cursor.execute(_MOVE_RULE_SQL, {"id": series, "made_for_id": made_for, "to_id": to})
    return len(moved)


def _count_series(cursor: Any, done: int) -> None:
    """Count the series of articles with a higher revision, all others being counted; 0: all series."""
    cursor.execute(_FORMS_SQL)
    if done:
        cursor.execute(_NEW_FORMS_SQL, {"done": done})
    else:
        cursor.execute(_ALL_FORMS_SQL, {"least_days": LEAST_DAYS})
    cursor.execute(_NOTHING_LEFT_SQL)
    cursor.execute("ANALYZE counted_form")
    cursor.execute(_COUNT_SERIES_SQL, {"least_days": LEAST_DAYS})
    cursor.execute(_DROP_SERIES_SQL, {"least_days": LEAST_DAYS})
    cursor.execute(_LATEST_HEADLINE_SQL)
    cursor.execute("DROP TABLE counted_form")

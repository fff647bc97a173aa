"""The writer of series: headline forms, and the forms that a newspaper publishes often enough to be series."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection, transaction

from articles.models import Newspaper
from articles.normalization.titles import plain_title
from articles.processes import THIS_PROCESS, Pool
from articles.storage.ingest import newest_revision
from dedup.detection.article_sql import article_sql
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.judging.judge import without_collector
from dedup.detection.runs.phases import NO_PROGRESS, Progress
from dedup.detection.runs.text_indexes import TextIndex, watermark_of, write_outdated
from dedup.detection.types import Phase
from dedup.models import HeadlineForm, Watermark

# A series has been published on at least this many days.
LEAST_DAYS = 5

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


# The words of headlines are few.
_PREPARER = Preparer()


def _headline_forms(rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the row of each article; the last of what is read is its headline."""
    newspapers = Newspaper.objects.in_bulk({row[1] for row in rows})
    affixes = {newspaper: row.affixes for newspaper, row in newspapers.items()}
    with without_collector():
        forms = _PREPARER.headline_forms([plain_title(row[-1], affixes[row[1]]) for row in rows])
        yield from ((*columns, form) for (*columns, _), form in zip(rows, forms, strict=True))


def _note_moved(rows: Sequence[tuple[Any, ...]]) -> None:
    """An article that had another form, or was in another newspaper, leaves a series: all series are counted again."""
    known = HeadlineForm.objects.filter(pk__in=[row[0] for row in rows]).values_list("pk", "newspaper", "date", "form")
    if set(known) - {(article, newspaper, day, form) for article, newspaper, day, *_, form in rows}:
        Watermark.objects.filter(name=Phase.SERIES).delete()


HEADLINE_FORMS = TextIndex(
    name=Phase.SERIES,
    table="dedup_headlineform",
    read=(
        *("article.id", "article.newspaper_id", "article.date", "article.revision"),
        "coalesce(article.characters, length(article.content))",
        "CASE WHEN article.withheld THEN '' ELSE article.headline END",
    ),
    columns={"article_id": "int8", "newspaper_id": "int8", "date": "date", "revision": "int8"}
    | {"characters": "int4", "form": "text"},
    made=_headline_forms,
    on_made=_note_moved,
    outdated="known.revision IS DISTINCT FROM article.revision OR known.characters IS NULL",
    articles_per_worker=20_000,
)


def update_series(progress: Progress = NO_PROGRESS, pool: Pool = THIS_PROCESS) -> None:
    """Bring headline forms and series up to date with the articles, and rules with merged newspapers."""
    newest = newest_revision()
    write_outdated(HEADLINE_FORMS, progress, pool)
    with transaction.atomic(), connection.cursor() as cursor:
        # Rules of merged newspapers move in two statements: the places of the series that give way must be free.
        cursor.execute(_MOVE_RULES_SQL)
        moved = cursor.fetchall()
        for series, made_for, to in moved:
            cursor.execute(_MOVE_RULE_SQL, {"id": series, "made_for_id": made_for, "to_id": to})
        _count_series(cursor, 0 if moved else watermark_of(Phase.SERIES))
        Watermark.objects.update_or_create(name=Phase.SERIES, defaults={"revision": newest})


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

"""The writer of series: headline forms, and the forms that a newspaper publishes often enough to be series."""

from __future__ import annotations

from itertools import islice

from django.db import connection, transaction
from django.db.models import F, Q

from articles.models import Article
from articles.normalization.titles import plain_title
from dedup.article_sql import article_sql
from dedup.comparison.prepared import Preparer
from dedup.models import HeadlineForm

# A series has been published on at least this many days.
LEAST_DAYS = 5
_WRITTEN_AT_ONCE = 5_000
# The columns that Newspaper.affixes reads.
AFFIX_COLUMNS = ("newspaper__name", "newspaper__title_affixes", "newspaper__learnt_affixes")

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

_COUNT_SERIES_SQL = """
INSERT INTO dedup_series (newspaper_id, form, headline, articles, days, first_day, last_day)
SELECT newspaper_id, form, '', count(*), count(DISTINCT date), min(date), max(date)
FROM dedup_headlineform
WHERE form <> ''
GROUP BY newspaper_id, form
HAVING count(DISTINCT date) >= %(least_days)s
ORDER BY newspaper_id, form
ON CONFLICT (newspaper_id, md5(form)) DO UPDATE
SET articles = excluded.articles, days = excluded.days, first_day = excluded.first_day, last_day = excluded.last_day
"""
# A series that an editor made a rule for stays, even if too few days are left.
_DROP_SERIES_SQL = """
DELETE FROM dedup_series AS series
WHERE ruled_at IS NULL AND %(least_days)s > (
    SELECT count(DISTINCT form.date) FROM dedup_headlineform AS form
    WHERE form.newspaper_id = series.newspaper_id AND md5(form.form) = md5(series.form) AND form.form = series.form
)
"""
_LATEST_HEADLINE_SQL = article_sql(
    """
UPDATE dedup_series AS series
SET headline = latest.headline
FROM (
    SELECT DISTINCT ON (form.newspaper_id, form.form) form.newspaper_id, form.form, article.headline
    FROM dedup_headlineform AS form
    JOIN dedup_series AS known ON known.newspaper_id = form.newspaper_id AND known.form = form.form
    JOIN {articles} AS article ON article.id = form.article_id
    ORDER BY form.newspaper_id, form.form, form.date DESC, form.article_id DESC
) AS latest
WHERE latest.newspaper_id = series.newspaper_id AND latest.form = series.form
  AND series.headline IS DISTINCT FROM latest.headline
"""
)


def update_series() -> None:
    """Bring headline forms and series up to date with the articles, and rules with merged newspapers."""
    _update_forms()
    with transaction.atomic(), connection.cursor() as cursor:
        # In two statements, because the places of the series that give way must be free.
        cursor.execute(_MOVE_RULES_SQL)
        for series, made_for, to in cursor.fetchall():
            cursor.execute(_MOVE_RULE_SQL, {"id": series, "made_for_id": made_for, "to_id": to})
        cursor.execute(_COUNT_SERIES_SQL, {"least_days": LEAST_DAYS})
        cursor.execute(_DROP_SERIES_SQL, {"least_days": LEAST_DAYS})
        cursor.execute(_LATEST_HEADLINE_SQL)


def _update_forms() -> None:
    preparer = Preparer()
    outdated = Article.objects.filter(
        Q(headline_form=None) | Q(headline_form__revision__lt=F("revision"))
    ).select_related("newspaper")
    rows = outdated.only("headline", "date", "revision", *AFFIX_COLUMNS).iterator(_WRITTEN_AT_ONCE)
    while batch := list(islice(rows, _WRITTEN_AT_ONCE)):
        HeadlineForm.objects.bulk_create(
            [
                HeadlineForm(
                    article_id=article.pk,
                    newspaper_id=article.newspaper_id,
                    date=article.date,
                    form=preparer.headline_form(plain_title(article.headline, article.newspaper.affixes)),
                    revision=article.revision,
                )
                for article in batch
            ],
            update_conflicts=True,
            unique_fields=["article"],
            update_fields=["newspaper", "date", "form", "revision"],
        )

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
    """Bring headline forms and series up to date with the articles."""
    _update_forms()
    with transaction.atomic(), connection.cursor() as cursor:
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

"""What results of runs quote from articles: series, repeated sentences, months. Without the articles, it goes.

The next run derives all of it again from the articles that are shown.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import Any, LiteralString

from django.db import connection
from django.db.models import Max, Min

from articles.models import Article, RepeatedSentence, WhitelistedSentence
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.types import SERIES
from dedup.models import HeadlineForm, NewspaperMonth, UpToDate
from dedup.review.answers.removed_articles import unpropose

# A month is learnt from the articles of so many days around it, see dedup/detection/comparison/recurring.py.
_MONTH_DAYS = datetime.timedelta(days=100)

# A series without an article goes, also one with a rule: its form is made of their headlines. If the articles are only
# withheld, one with a rule stays.
_NO_SERIES_SQL: LiteralString = """
DELETE FROM dedup_series AS series
USING unnest(%(newspapers)s::bigint[], %(forms)s::text[]) AS wanted (newspaper_id, form)
WHERE series.newspaper_id = wanted.newspaper_id AND md5(series.form) = md5(wanted.form) AND series.form = wanted.form
  AND (series.ruled_at IS NULL OR %(for_good)s)
  AND NOT EXISTS (
    SELECT FROM dedup_headlineform AS form
    WHERE form.newspaper_id = series.newspaper_id AND md5(form.form) = md5(series.form) AND form.form = series.form
)
"""
_SERIES_SQL: LiteralString = """
UPDATE dedup_series AS series
SET headline = coalesce(latest.headline, ''), articles = coalesce(latest.articles, 0), days = coalesce(latest.days, 0),
    first_day = coalesce(latest.first_day, series.first_day), last_day = coalesce(latest.last_day, series.last_day)
FROM unnest(%(newspapers)s::bigint[], %(forms)s::text[]) AS wanted (newspaper_id, form)
LEFT JOIN LATERAL (
    SELECT count(*) AS articles, count(DISTINCT form.date) AS days,
        min(form.date) AS first_day, max(form.date) AS last_day,
        (array_agg(article.headline ORDER BY form.date DESC, form.article_id DESC))[1] AS headline
    FROM dedup_headlineform AS form
    JOIN articles_article AS article ON article.id = form.article_id
    WHERE form.newspaper_id = wanted.newspaper_id AND md5(form.form) = md5(wanted.form) AND form.form = wanted.form
) AS latest ON true
WHERE series.newspaper_id = wanted.newspaper_id AND md5(series.form) = md5(wanted.form) AND series.form = wanted.form
"""


def forget_texts(articles: Collection[int], *, for_good: bool) -> None:
    """Take these articles, whose texts are gone, from all that runs derived of them; inside ingest.writing().

    Unless they are gone `for_good`, what editors ruled about their headlines and sentences stays.
    """
    lock_review()
    forms = set(HeadlineForm.objects.filter(article__in=articles).values_list("newspaper", "form"))
    unpropose(articles)
    _recount_series(forms - {form for form in forms if not form[1]}, for_good=for_good)
    _forget_sentences(articles, for_good=for_good)
    _forget_months(articles)


def _recount_series(forms: Collection[tuple[int, str]], *, for_good: bool) -> None:
    values: dict[str, Any] = {"newspapers": [one for one, _ in forms], "forms": [form for _, form in forms]}
    values["for_good"] = for_good
    with connection.cursor() as cursor:
        cursor.execute(_NO_SERIES_SQL, values)
        cursor.execute(_SERIES_SQL, values)
    UpToDate.objects.filter(name=SERIES).delete()


def _forget_sentences(articles: Collection[int], *, for_good: bool) -> None:
    """Delete repeated sentences as these articles have them; the next run finds those of other articles again."""
    newspapers = set(Article.objects.filter(pk__in=articles).values_list("newspaper", flat=True))
    repeated = RepeatedSentence.objects.filter(newspaper__in=newspapers, article_ids__overlap=list(articles))
    found = set(repeated.values_list("newspaper", "digest"))
    repeated.delete()
    others = RepeatedSentence.objects.filter(digest__in={digest for _, digest in found})
    left = set(others.values_list("newspaper", "digest"))
    for newspaper, digest in found - left if for_good else ():
        WhitelistedSentence.objects.filter(newspaper=newspaper, digest=digest).delete()


def _forget_months(articles: Collection[int]) -> None:
    stored = Article.objects.filter(pk__in=articles)
    for row in stored.order_by().values("newspaper").annotate(first=Min("date"), last=Max("date")):
        around = (row["first"] - _MONTH_DAYS, row["last"] + _MONTH_DAYS)
        NewspaperMonth.objects.filter(newspaper=row["newspaper"], month__range=around).delete()

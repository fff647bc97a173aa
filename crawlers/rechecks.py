"""When stored articles are fetched again, and the record of it, which is written here only.

A page is fetched for the first time after MIN_GAP, and then whenever as much time has passed as since its last change,
at least MIN_GAP: a live blog every hour, an article that rests after 1, 2, 4, 8 … hours. A feed or sitemap that gives a
later time of change makes it due at once.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from articles.models import ArticlePage, ArticleURL, Newspaper
from crawlers.items import Validator
from crawlers.models import Recheck

MIN_GAP = datetime.timedelta(hours=1)
# Rows per query.
BATCH = 100

_DUE_SQL = """
SELECT page.article_id, page.url, recheck.etag, recheck.last_modified,
       CASE WHEN recheck.listed_at > coalesce(recheck.checked_at, page.fetched_at) THEN recheck.listed_at END
FROM articles_articlepage AS page
JOIN articles_article AS article ON article.id = page.article_id
LEFT JOIN crawlers_recheck AS recheck ON recheck.article_id = page.article_id
WHERE article.newspaper_id = %(newspaper)s
    AND page.fetched_at >= %(first)s
    AND coalesce(recheck.due_at, page.fetched_at + %(gap)s) <= %(now)s
    AND page.article_id > %(after)s
ORDER BY page.article_id
LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueArticle(Validator):
    """A stored article whose page is to be fetched again, and the state that the page declared last time."""

    article_id: int
    updated_at: datetime.datetime | None = None


def days_of(newspaper: Newspaper, default: int) -> int:
    """Return for how many days articles of this newspaper are fetched again; 0: never."""
    return default if newspaper.revision_days is None else newspaper.revision_days


def due_articles(newspaper_id: int, days: int, after: int = 0) -> list[DueArticle]:
    """Return the next BATCH articles that are due, with ids above `after`, in order of id."""
    now = timezone.now()
    values: dict[str, Any] = {
        "newspaper": newspaper_id,
        "first": now - datetime.timedelta(days=days),
        "gap": MIN_GAP,
        "now": now,
        "after": after,
        "limit": BATCH,
    }
    with connection.cursor() as cursor:
        cursor.execute(_DUE_SQL, values)
        rows = cursor.fetchall()
    return [
        DueArticle(url, etag or "", modified or "", article_id=pk, updated_at=listed)
        for pk, url, etag, modified, listed in rows
    ]


def next_due(now: datetime.datetime, last_change: datetime.datetime) -> datetime.datetime:
    """Return when a page is due that was fetched now and that last changed, or was first stored, at `last_change`."""
    return now + max(MIN_GAP, now - last_change)


def record_check(article_id: int, seen_at: datetime.datetime, state: Validator, *, changed: bool) -> None:
    """Record that a page was fetched again, and the state that it declares."""
    stored_at = ArticlePage.objects.values_list("fetched_at", flat=True).get(pk=article_id)
    row = Recheck.objects.filter(pk=article_id).first() or Recheck(pk=article_id)
    row.changed_at = seen_at if changed else row.changed_at
    row.checked_at = seen_at
    row.due_at = next_due(seen_at, row.changed_at or stored_at)
    row.etag, row.last_modified = state.etag, state.last_modified
    row.save()


def record_failure(article_id: int, seen_at: datetime.datetime) -> None:
    """Let an article whose page could not be fetched wait for MIN_GAP."""
    Recheck.objects.update_or_create(pk=article_id, defaults={"due_at": seen_at + MIN_GAP})


def note_listed(newspaper_id: int, updated: Mapping[UUID, datetime.datetime]) -> int:
    """Make those stored articles due whose source gives a time of change later than their last visit; return how many.

    `updated` holds the times by the keys of the URLs.
    """
    rows = ArticleURL.objects.filter(key__in=updated, article__newspaper_id=newspaper_id, article__page__isnull=False)
    times: dict[int, datetime.datetime] = {}
    for pk, key in rows.values_list("article_id", "key"):
        times[pk] = max(updated[key], times.get(pk, updated[key]))
    stored = dict(ArticlePage.objects.filter(pk__in=times).values_list("pk", "fetched_at"))
    known = Recheck.objects.in_bulk(times)
    now = timezone.now()
    due = []
    for pk, time in times.items():
        row = known.get(pk) or Recheck(pk=pk, due_at=now)
        seen = row.checked_at or stored[pk]
        if seen < time <= now and (row.listed_at is None or row.listed_at < time):
            row.listed_at, row.due_at = time, now
            due.append(row)
    Recheck.objects.bulk_create(
        due, update_conflicts=True, unique_fields=["article"], update_fields=["listed_at", "due_at"]
    )
    return len(due)

"""Alarms about crawls and newspapers."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import Min
from django.urls import reverse

from articles.models import Job
from crawlers.models import Crawl, CrawlSchedule
from crawlers.requested.queue import KIND
from crawlers.visit_reports import FAILING_DAYS
from newsdedup_site.alarms.kinds import Found, in_words, remedy_of

# A worker queues a newspaper within seconds of its time.
_LATE = datetime.timedelta(hours=2)
# A crawl makes way for others after fifteen minutes; one that was started in a shell does not.
_STUCK = datetime.timedelta(hours=6)
_SHOWN_CHARACTERS = 1_000

# By the index visit_newspaper, from the latest visit of each newspaper back to its last good one. A visit is good if
# something on it worked, as in crawlers/visit_reports.py; one that was stopped on purpose says nothing.
_FAILING_SQL = """
SELECT paper.id, paper.name, failed.since
FROM articles_newspaper AS paper
LEFT JOIN LATERAL (
    SELECT visit.started_at FROM crawlers_visit AS visit
    WHERE visit.newspaper_id = paper.id
      AND ((visit.failed = 0 AND visit.state = 'finished')
           OR visit.stored > 0 OR visit.known > 0 OR visit.unchanged > 0 OR visit.refused_earlier > 0)
    ORDER BY visit.started_at DESC LIMIT 1
) AS good ON TRUE
CROSS JOIN LATERAL (
    SELECT min(visit.started_at) AS since, max(visit.started_at) AS latest FROM crawlers_visit AS visit
    WHERE visit.newspaper_id = paper.id AND visit.state IN ('finished', 'broken off')
      AND visit.started_at > coalesce(good.started_at, '-infinity')
) AS failed
WHERE paper.merged_into_id IS NULL
  AND (paper.crawl OR EXISTS (SELECT FROM crawlers_crawlschedule AS planned WHERE planned.newspaper_id = paper.id))
  AND failed.latest - failed.since >= %(least)s
ORDER BY failed.since, paper.id
"""


def find_failing_newspapers(now: datetime.datetime) -> Iterator[Found]:  # noqa: ARG001 - the visits have their times
    """Every visit of a newspaper that is crawled has failed for FAILING_DAYS, from the first failure to the last."""
    least = datetime.timedelta(days=FAILING_DAYS) - datetime.timedelta(hours=1)
    for number, name, since in _rows(_FAILING_SQL, {"least": least}):
        what = f"Every visit of {name} has failed since {in_words(since)}."
        address = reverse("newspaper_crawls", args=[number])
        yield Found("newspaper", f"newspaper {number}", what, since, address=address)


def _rows(sql: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


def find_missed_crawls(now: datetime.datetime) -> Iterator[Found]:
    """Newspapers were due long ago and are not even queued, or have waited long for another crawl to end."""
    overdue = CrawlSchedule.objects.filter(due_at__lt=now - _LATE, newspaper__merged_into=None)
    since = overdue.aggregate(first=Min("due_at"))["first"]
    if since is not None:
        names = list(overdue.order_by("due_at", "pk").values_list("newspaper__name", flat=True))
        what = f"{_named(names)} not crawled when due on {in_words(since)}{' or later' if len(names) > 1 else ''}."
        yield Found("crawl", "", what, since, address=reverse("crawls"))
        return
    waiting = Crawl.objects.filter(job__state=Job.State.WAITING, asked_at__lt=now - _STUCK)
    since = waiting.aggregate(first=Min("asked_at"))["first"]
    if since is not None:
        names = list(waiting.order_by("pk").values_list("newspaper__name", flat=True))
        what = f"{_named(names)} not crawled: the crawl has waited since {in_words(since)}."
        yield Found("crawl", "", what, since, address=reverse("crawls"))


def _named(names: list[str]) -> str:
    return f"{names[0]} was" if len(names) == 1 else f"{len(names)} newspapers were"


def find_failed_crawl(now: datetime.datetime) -> Iterator[Found]:  # noqa: ARG001 - every check is asked alike
    """The last crawl of the worker failed, and no other follows now."""
    crawls = Job.objects.filter(kind=KIND)
    if crawls.filter(state__in=Job.ACTIVE).exists():
        return
    last = crawls.filter(state__in=(Job.State.DONE, Job.State.FAILED)).order_by("-pk").first()
    if last is None or last.state == Job.State.DONE:
        return
    since = last.finished_at or last.started_at
    detail = last.error.strip()[-_SHOWN_CHARACTERS:]
    yield Found(
        "crawl_failed", "", "The last crawl failed.", since, detail, remedy_of(last.error), reverse("crawl_log")
    )

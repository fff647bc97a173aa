"""When a newspaper is crawled by itself, and what is due now."""

from __future__ import annotations

import datetime

from django.contrib.admin.models import CHANGE
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from articles.daily import next_time
from articles.models import Newspaper
from articles.storage.audit_log import log_action
from articles.storage.locks import Lock, lock_transaction
from crawlers.models import Crawl, CrawlSchedule
from crawlers.requested.queue import HAS_SOURCES, request_crawl


def next_due(schedule: CrawlSchedule, now: datetime.datetime) -> datetime.datetime:
    """Return the first time after `now` at which a newspaper is due that was due at `due_at`.

    Times that were missed are passed over. `now` is in the time zone that `daily_at` is in, and `due_at` in any.
    """
    if schedule.daily_at is not None:
        return next_time(schedule.daily_at.replace(second=0), now)
    step = datetime.timedelta(hours=schedule.every_hours or 0)
    missed = max(0, (now - schedule.due_at) // step)
    return schedule.due_at + (missed + 1) * step


@transaction.atomic
def set_schedule(
    newspaper: Newspaper, *, every_hours: int | None, daily_at: datetime.time | None, user: User
) -> CrawlSchedule | None:
    """Have the worker crawl a newspaper regularly, from now on, or no longer; return the schedule, None for none."""
    Newspaper.objects.select_for_update().get(pk=newspaper.pk)
    rows = CrawlSchedule.objects.filter(newspaper=newspaper)
    before, schedule = rows.first(), None
    if before and (before.every_hours, before.daily_at) == (every_hours, daily_at):
        return before
    if every_hours is None and daily_at is None:
        rows.delete()
    else:
        now = timezone.localtime()
        # Every so many hours: the first time at once.
        due = now if daily_at is None else next_time(daily_at.replace(second=0), now)
        values = {"every_hours": every_hours, "daily_at": daily_at, "due_at": due}
        schedule, _ = rows.update_or_create(newspaper=newspaper, defaults=values)
    words = f"is crawled {schedule}" if schedule else "is no longer crawled by a schedule"
    log_action(newspaper, CHANGE, f"{words} (before: {before or 'not by a schedule'}).", user=user)
    return schedule


def queue_due() -> None:
    """Have the newspapers wait that are due; a time that was missed while no worker ran is caught up once."""
    now = timezone.localtime()
    due = CrawlSchedule.objects.filter(due_at__lte=now)
    if not due.exists():
        return
    with transaction.atomic():
        lock_transaction(Lock.JOBS)
        rows = list(due.select_for_update(of=("self",)).select_related("newspaper"))
        usable = Newspaper.objects.in_use().filter(HAS_SOURCES, pk__in=[row.newspaper_id for row in rows])
        request_crawl(list(usable), Crawl.Why.DUE, user=None)
        for row in rows:
            row.due_at = next_due(row, now)
            row.save(update_fields=["due_at"])

"""The writer of crawls that the worker does, asked for or by a schedule: jobs, each visiting newspapers in one process.

Whatever is asked for or due while a crawl runs waits for the next one, which visits all of it: so a newspaper is never
crawled twice at once, and many sites share the time.
"""

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.contrib.admin.models import CHANGE
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from articles.daily import next_time
from articles.jobs.work import Work, ask
from articles.models import Job, Newspaper
from articles.storage.audit_log import log_action
from articles.storage.locks import Lock, holder_of, lock_transaction
from crawlers.models import Crawl, CrawlSchedule, Visit

KIND = "crawl"
# A crawl that has run for so long makes way when another one waits, and resumes together with it.
LONGEST_ALONE = datetime.timedelta(minutes=15)
HAS_SOURCES = ~Q(feed_urls=[], sitemap_urls=[], section_urls=[])


def crawlable() -> Sequence[Newspaper]:
    """Return the newspapers that `crawl` without names visits and that have a source, by name."""
    return list(Newspaper.objects.in_use().filter(HAS_SOURCES, crawl=True).order_by("name"))


@transaction.atomic
def request_crawl(
    newspapers: Sequence[Newspaper], why: Crawl.Why = Crawl.Why.ASKED, *, user: User | None
) -> list[Newspaper]:
    """Have the worker crawl these newspapers; return those that neither waited nor were being crawled already."""
    lock_transaction(Lock.JOBS)
    busy = set(Crawl.objects.filter(job__state__in=Job.ACTIVE).values_list("newspaper_id", flat=True))
    new = [newspaper for newspaper in newspapers if newspaper.pk not in busy]
    if new:
        job, _ = ask(KIND, {}, title="Crawl", user=user, page=reverse("crawls"), even_if_running=True)
        Crawl.objects.bulk_create(Crawl(job=job, newspaper=newspaper, why=why, asked_by=user) for newspaper in new)
    return new


@transaction.atomic
def take_back(newspaper: Newspaper) -> bool:
    """Take a newspaper from the crawl that waits; return False if it does not wait any more."""
    lock_transaction(Lock.JOBS)
    taken, _ = Crawl.objects.filter(newspaper=newspaper, job__state=Job.State.WAITING).delete()
    Job.objects.filter(kind=KIND, state=Job.State.WAITING, crawls=None).delete()
    return bool(taken)


def is_attended() -> bool:
    """Return whether a worker does crawls."""
    with connection.cursor() as cursor:
        return holder_of(cursor, Lock.CRAWL) is not None


# -- Schedules: when a newspaper is crawled by itself, and what is due now --------------------------------------


def next_due(schedule: CrawlSchedule, now: datetime.datetime) -> datetime.datetime:
    """Return the first time after `now` at which a newspaper is due that was due at `due_at`.

    Times that were missed are passed over. `now` is in the time zone that `daily_at` is in, and `due_at` in any.
    """
    if schedule.daily_at is not None:
        return next_time(schedule.daily_at.replace(second=0), now)
    if not schedule.every_hours:
        raise ValueError("a schedule needs every_hours or daily_at")
    step = datetime.timedelta(hours=schedule.every_hours)
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


# -- For the worker -------------------------------------------------------------------------------------------


@transaction.atomic
def names_of(job: Job) -> list[str]:
    """Return the names of the newspapers of a crawl that has begun, also of one that is being added to it."""
    lock_transaction(Lock.JOBS)
    return list(job.crawls.values_list("newspaper__name", flat=True))


def visits_of(job: Job) -> QuerySet[Visit]:
    """Return the visits of a crawl that has begun."""
    since = job.started_at or job.requested_at
    return Visit.objects.filter(newspaper__in=job.crawls.values("newspaper"), started_at__gte=since)


def holds_up_others(job: Job) -> bool:
    """Return whether a crawl has run for LONGEST_ALONE while another one waits."""
    if job.started_at is None or timezone.now() - job.started_at < LONGEST_ALONE:
        return False
    return Job.objects.filter(kind=KIND, state=Job.State.WAITING).exists()


@transaction.atomic
def make_way(work: Work, result: dict[str, Any]) -> None:
    """End a crawl; what it has not visited waits together with the others."""
    lock_transaction(Lock.JOBS)
    work.finish(result)
    for crawl in _left(work.job):
        request_crawl([crawl.newspaper], Crawl.Why(crawl.why), user=crawl.asked_by)


def leave_visited(job: Job, _reason: str) -> None:
    """Have a crawl that was killed, and waits again, visit what it has not visited yet."""
    if job.state == Job.State.WAITING:
        job.crawls.exclude(pk__in=[crawl.pk for crawl in _left(job)]).delete()
        job.crawls.update(why=Crawl.Why.AGAIN, asked_by=None)


def _left(job: Job) -> list[Crawl]:
    """Return the newspapers of a crawl of which not every spider has finished its visit."""
    finished = Counter(visits_of(job).filter(state=Visit.State.FINISHED).values_list("newspaper_id", flat=True))
    left = []
    for crawl in job.crawls.select_related("newspaper", "asked_by"):
        newspaper = crawl.newspaper
        pages = () if newspaper.teasers else (newspaper.sitemap_urls, newspaper.section_urls)
        if finished[newspaper.pk] < sum(map(bool, (newspaper.feed_urls, *pages))):
            left.append(crawl)
    return left

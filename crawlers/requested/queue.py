"""The writer of crawls that the worker does: jobs, each with the newspapers that it visits in one process.

Whatever is asked for or due while a crawl runs waits for the next one, which visits all of it: so a newspaper is never
crawled twice at once, and many sites share the time.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from articles.jobs.work import Work, ask
from articles.models import Job, Newspaper
from articles.storage.locks import Lock, holder_of, lock_transaction
from crawlers.models import Crawl, Visit

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
        job, _ = ask(KIND, {}, title="Crawl", user=user, page=reverse("crawls"), anew=True)
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
        left = [crawl.pk for crawl in _left(job)]
        job.crawls.exclude(pk__in=left).delete()
        job.crawls.update(why=Crawl.Why.AGAIN, asked_by=None)


def _left(job: Job) -> list[Crawl]:
    """Return the newspapers of a crawl of which not every spider has finished its visit."""
    finished = list(visits_of(job).filter(state=Visit.State.FINISHED).values_list("newspaper_id", flat=True))
    crawls = job.crawls.select_related("newspaper", "asked_by")
    return [crawl for crawl in crawls if finished.count(crawl.newspaper_id) < _kinds_of_sources(crawl.newspaper)]


def _kinds_of_sources(newspaper: Newspaper) -> int:
    pages = () if newspaper.teasers else (newspaper.sitemap_urls, newspaper.section_urls)
    return sum(map(bool, (newspaper.feed_urls, *pages)))

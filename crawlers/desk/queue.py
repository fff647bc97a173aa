"""The writer of crawls that the worker does: they wait, run and end, and newspapers have schedules.

At most one crawl waits and one runs. Whatever is asked for or due while one runs waits for the next one, which visits
all of it in one process: so a newspaper is never crawled twice at once, and many sites share the time.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.contrib.admin.models import CHANGE
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from articles.models import Newspaper
from articles.storage.audit_log import log_action
from articles.storage.locks import Lock, holder_of, lock_transaction
from crawlers.desk.times import next_due
from crawlers.models import Crawl, CrawlSchedule, CrawlTurn, Visit
from crawlers.visits import KEPT_DAYS

# A crawl that finds one of a shell at work tries again after this time.
RETRY_AFTER = datetime.timedelta(minutes=1)
# A crawl that has run for so long makes way when another one waits, and resumes together with it.
TURN = datetime.timedelta(minutes=15)
_KILLED = "The worker ended while this crawl was running."
_HAS_SOURCES = ~Q(feed_urls=[], sitemap_urls=[], section_urls=[])


def crawlable() -> Sequence[Newspaper]:
    """Return the newspapers that `crawl` without names visits and that have a source, by name."""
    return list(Newspaper.objects.in_use().filter(_HAS_SOURCES, crawl=True).order_by("name"))


def request_crawl(newspapers: Sequence[Newspaper], *, user: User) -> list[Newspaper]:
    """Have the worker crawl these newspapers; return those that neither waited nor were being crawled already."""
    with _queue():
        return _add(newspapers, CrawlTurn.Why.ASKED, user)


def take_back(newspaper: Newspaper) -> bool:
    """Take a newspaper from the crawl that waits; return False if it does not wait any more."""
    with _queue():
        taken, _ = CrawlTurn.objects.filter(newspaper=newspaper, crawl__state=Crawl.State.WAITING).delete()
        Crawl.objects.filter(state=Crawl.State.WAITING, turns=None).delete()
    return bool(taken)


def ask_stop(crawl: Crawl, *, user: User) -> bool:
    """Ask a crawl to stop, which takes it a moment; return False if it had ended before."""
    with _queue():
        running = Crawl.objects.filter(pk=crawl.pk, state=Crawl.State.RUNNING)
        asked = running.update(stop_asked_at=timezone.now(), stop_asked_by=user)
        if not is_attended():
            running.update(state=Crawl.State.STOPPED, finished_at=timezone.now(), error=_KILLED)
    return bool(asked)


def is_attended() -> bool:
    """Return whether a worker does crawls."""
    with connection.cursor() as cursor:
        return holder_of(cursor, Lock.CRAWL) is not None


# -- Schedules ------------------------------------------------------------------------------------------------


def set_schedule(
    newspaper: Newspaper, *, every_hours: int | None, daily_at: datetime.time | None, user: User
) -> CrawlSchedule | None:
    """Have the worker crawl a newspaper regularly, from now on, or no longer; return the schedule, None for none."""
    with transaction.atomic():
        Newspaper.objects.select_for_update().get(pk=newspaper.pk)
        before = CrawlSchedule.objects.filter(newspaper=newspaper).first()
        if before and (before.every_hours, before.daily_at) == (every_hours, daily_at):
            return before
        schedule = _schedule(newspaper, every_hours, daily_at)
        words = f"is crawled {schedule}" if schedule else "is no longer crawled by a schedule"
        act = f"{words} (before: {before or 'not by a schedule'})."
        log_action(newspaper, CHANGE, act, user=user, object_id=str(newspaper.pk))
    return schedule


def _schedule(newspaper: Newspaper, every_hours: int | None, daily_at: datetime.time | None) -> CrawlSchedule | None:
    rows = CrawlSchedule.objects.filter(newspaper=newspaper)
    if every_hours is None and daily_at is None:
        rows.delete()
        return None
    now = timezone.localtime()
    # Every so many hours: the first time at once.
    due = now if daily_at is None else next_due(every_hours=None, daily_at=daily_at, before=now, now=now)
    values = {"every_hours": every_hours, "daily_at": daily_at, "due_at": due}
    return CrawlSchedule.objects.update_or_create(newspaper=newspaper, defaults=values)[0]


def queue_due() -> None:
    """Have the newspapers wait that are due; a time that was missed while no worker ran is caught up once."""
    now = timezone.localtime()
    due = CrawlSchedule.objects.filter(due_at__lte=now)
    if not due.exists():
        return
    with _queue():
        rows = list(due.select_for_update(of=("self",)).select_related("newspaper"))
        usable = Newspaper.objects.in_use().filter(_HAS_SOURCES, pk__in=[row.newspaper_id for row in rows])
        _add(list(usable), CrawlTurn.Why.DUE, None)
        for row in rows:
            row.due_at = next_due(every_hours=row.every_hours, daily_at=row.daily_at, before=row.due_at, now=now)
            row.save(update_fields=["due_at"])


# -- For the worker -------------------------------------------------------------------------------------------


def begin_crawl() -> Crawl | None:
    """Begin the crawl that waits; None if none does, or not yet. Call it only while none runs."""
    now = timezone.now()
    ready = Q(not_before=None) | Q(not_before__lte=now)
    with _queue():
        crawl = Crawl.objects.filter(ready, state=Crawl.State.WAITING).first()
        if crawl is not None:
            crawl.state, crawl.started_at = Crawl.State.RUNNING, now
            crawl.save(update_fields=["state", "started_at"])
    return crawl


def names_of(crawl: Crawl) -> list[str]:
    """Return the names of a crawl's newspapers."""
    return list(crawl.turns.order_by("pk").values_list("newspaper__name", flat=True))


def is_stop_asked(crawl: Crawl) -> bool:
    """Return whether somebody asked a crawl to stop, or another worker has ended it."""
    return not Crawl.objects.filter(pk=crawl.pk, state=Crawl.State.RUNNING, stop_asked_at=None).exists()


def holds_up_others(crawl: Crawl) -> bool:
    """Return whether a crawl has run for its TURN while another one waits."""
    if crawl.started_at is None or timezone.now() - crawl.started_at < TURN:
        return False
    return Crawl.objects.filter(state=Crawl.State.WAITING).exists()


def end_crawl(crawl: Crawl, state: Crawl.State, *, output: str, error: str) -> None:
    """Store how a crawl ended.

    What one that stopped unexpectedly has left is crawled again, once; what one that made way has left, always. Crawls
    are kept as long as visits.
    """
    with _queue():
        Crawl.objects.filter(finished_at__lt=timezone.now() - datetime.timedelta(days=KEPT_DAYS)).delete()
        values = {"state": state, "finished_at": timezone.now(), "output": output, "error": error}
        ended = Crawl.objects.filter(pk=crawl.pk, state=Crawl.State.RUNNING).update(**values)
        if not ended:
            return
        left = [turn for turn in crawl.turns.select_related("newspaper", "asked_by") if not _is_visited(turn)]
        for turn in left:
            if state == Crawl.State.BROKEN_OFF and turn.why != CrawlTurn.Why.AGAIN:
                _add([turn.newspaper], CrawlTurn.Why.AGAIN, None)
            elif state == Crawl.State.MADE_WAY:
                _add([turn.newspaper], CrawlTurn.Why(turn.why), turn.asked_by)


def wait_again(crawl: Crawl, *, after: datetime.timedelta = datetime.timedelta(0)) -> None:
    """Have a crawl wait that could not be done now, together with what waits meanwhile."""
    with _queue():
        turns = list(crawl.turns.select_related("newspaper"))
        Crawl.objects.filter(pk=crawl.pk, state=Crawl.State.RUNNING).delete()
        for turn in turns:
            _add([turn.newspaper], CrawlTurn.Why(turn.why), turn.asked_by)
        Crawl.objects.filter(state=Crawl.State.WAITING).update(not_before=timezone.now() + after)


def end_killed_crawls() -> None:
    """Mark crawls whose worker is gone as stopped unexpectedly. Call it only while holding Lock.CRAWL."""
    for crawl in Crawl.objects.filter(state=Crawl.State.RUNNING):
        end_crawl(crawl, Crawl.State.BROKEN_OFF, output="", error=_KILLED)


@contextmanager
def _queue() -> Iterator[None]:
    with transaction.atomic():
        lock_transaction(Lock.CRAWL_QUEUE)
        yield


def _add(newspapers: Sequence[Newspaper], why: CrawlTurn.Why, user: User | None) -> list[Newspaper]:
    """Add these newspapers to the crawl that waits; return those added. Hold the lock of the queue."""
    going_on = (Crawl.State.WAITING, Crawl.State.RUNNING)
    busy = set(CrawlTurn.objects.filter(crawl__state__in=going_on).values_list("newspaper_id", flat=True))
    new = [newspaper for newspaper in newspapers if newspaper.pk not in busy]
    if new:
        crawl, _ = Crawl.objects.get_or_create(state=Crawl.State.WAITING)
        CrawlTurn.objects.bulk_create(
            CrawlTurn(crawl=crawl, newspaper=newspaper, why=why, asked_by=user) for newspaper in new
        )
    return new


def _is_visited(turn: CrawlTurn) -> bool:
    """Return whether every spider has finished its visit of a newspaper in this crawl."""
    newspaper = turn.newspaper
    pages = () if newspaper.teasers else (newspaper.sitemap_urls, newspaper.section_urls)
    kinds = sum(map(bool, (newspaper.feed_urls, *pages)))
    visits = newspaper.visits.filter(started_at__gte=turn.crawl.started_at, state=Visit.State.FINISHED)
    return visits.count() >= kinds

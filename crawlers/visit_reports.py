"""Read-only queries for the pages about visits."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import Case, F, Max, Min, Q, QuerySet, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from articles.models import Job, Newspaper
from crawlers.models import Crawl, CrawlSchedule, PendingLink, Visit
from crawlers.reasons import Reason, find_reason
from crawlers.visits import SILENCE

# A newspaper is marked as failing after this many days of failed visits.
FAILING_DAYS = 3
# A visit is good if something on it worked, even if it found nothing new.
_GOOD = Q(visits__failed=0, visits__state=Visit.State.FINISHED)
for _count in ("stored", "known", "unchanged", "refused_earlier"):
    _GOOD |= Q(**{f"visits__{_count}__gt": 0})


@dataclass(frozen=True, slots=True)
class Failure:
    """A reason of failures, how often it was counted, an example URL, and its entry in the table of reasons."""

    reason: str
    number: int
    url: str
    entry: Reason


@dataclass(frozen=True, slots=True)
class VisitReport:
    """A visit as shown. A running visit without a sign of life for SILENCE seconds counts as broken off."""

    visit: Visit
    failures: list[Failure]
    state: Visit.State

    @property
    def only_failed(self) -> bool:
        """Whether the visit finished, but everything on it failed."""
        visit = self.visit
        good = visit.stored + visit.known + visit.unchanged + visit.refused_earlier
        return self.state == Visit.State.FINISHED and visit.failed > 0 and not good


@dataclass(frozen=True, slots=True)
class NewspaperReport:
    """A newspaper and its visits; `failing_since` is None unless every visit failed for FAILING_DAYS.

    `crawl` is its crawl by the worker that runs or waits, if there is one.
    """

    newspaper: Newspaper
    visits: list[VisitReport]
    failing_since: datetime.datetime | None
    failures: list[Failure]
    counts: Counter[str]
    waiting: int = 0
    refused: int = 0
    schedule: CrawlSchedule | None = None
    crawl: Crawl | None = None


def newspapers_by_need() -> QuerySet[Newspaper]:
    """Return the newspapers that are or were crawled: the longest failing first, then the latest visited."""
    visited = (
        Newspaper.objects.in_use()
        .annotate(
            last_visit=Max("visits__started_at"),
            first_visit=Min("visits__started_at"),
            last_good=Max("visits__started_at", filter=_GOOD),
        )
        .filter(~Q(last_visit=None) | Q(crawl=True))
    )
    fails = Q(last_good__lt=F("last_visit")) | Q(last_good=None, last_visit__isnull=False)
    since = Case(When(fails, then=Coalesce(F("last_good"), F("first_visit"))))
    return visited.alias(since=since).order_by(
        F("since").asc(nulls_last=True), F("last_visit").desc(nulls_last=True), "name"
    )


def reports_of(newspapers: Iterable[Newspaper]) -> list[NewspaperReport]:
    """Return a report for each newspaper, with its latest visit by each spider."""
    newspapers = list(newspapers)
    last = Visit.objects.filter(newspaper__in=newspapers).order_by("newspaper_id", "spider", "-started_at", "-pk")
    visits = list(last.distinct("newspaper_id", "spider"))
    schedules, crawls = _schedules(newspapers), _crawls(newspapers)
    return [
        replace(
            _report(newspaper, [visit for visit in visits if visit.newspaper_id == newspaper.pk]),
            schedule=schedules.get(newspaper.pk),
            crawl=crawls.get(newspaper.pk),
        )
        for newspaper in newspapers
    ]


def _schedules(newspapers: Sequence[Newspaper]) -> dict[int, CrawlSchedule]:
    return {row.newspaper_id: row for row in CrawlSchedule.objects.filter(newspaper__in=newspapers)}


def _crawls(newspapers: Sequence[Newspaper]) -> dict[int, Crawl]:
    rows = Crawl.objects.filter(newspaper__in=newspapers, job__state__in=Job.ACTIVE).select_related("job")
    return {row.newspaper_id: row for row in rows}


def newspaper_report(newspaper: Newspaper, number: int) -> NewspaperReport:
    """Return a newspaper's latest `number` visits, and how many links wait or were refused."""
    links = PendingLink.objects.filter(newspaper=newspaper)
    waiting = links.filter(refused_until=None).count()
    refused = links.filter(refused_until__gt=timezone.now()).count()
    return replace(
        _report(newspaper, list(newspaper.visits.all()[:number]), waiting, refused),
        schedule=_schedules([newspaper]).get(newspaper.pk),
        crawl=_crawls([newspaper]).get(newspaper.pk),
    )


def _report(newspaper: Newspaper, visits: list[Visit], waiting: int = 0, refused: int = 0) -> NewspaperReport:
    reports = [VisitReport(visit, _failures([visit]), _state(visit)) for visit in visits]
    counts: Counter[str] = Counter()
    for visit in visits:
        for name in ("stored", "known", "unchanged", "refused_earlier", "left_out", "paywalled", "failed"):
            counts[name] += getattr(visit, name)
    return NewspaperReport(newspaper, reports, _failing_since(newspaper), _failures(visits), counts, waiting, refused)


def _failures(visits: Iterable[Visit]) -> list[Failure]:
    """Return the visits' failures by reason, the most frequent first."""
    numbers: Counter[str] = Counter()
    urls: dict[str, str] = {}
    for visit in visits:
        for failure in visit.failures:
            numbers[failure["reason"]] += failure["number"]
            urls.setdefault(failure["reason"], failure["url"])
    return [Failure(reason, number, urls[reason], find_reason(reason)) for reason, number in numbers.most_common()]


def _state(visit: Visit) -> Visit.State:
    silent = timezone.now() - visit.seen_at > datetime.timedelta(seconds=SILENCE)
    return Visit.State.BROKEN_OFF if visit.state == Visit.State.RUNNING and silent else Visit.State(visit.state)


def _failing_since(newspaper: Newspaper) -> datetime.datetime | None:
    """Return since when every visit failed; None if for less than FAILING_DAYS. Takes a row of newspapers_by_need."""
    last, good = newspaper.last_visit, newspaper.last_good  # type: ignore[attr-defined]
    if last is None or (good is not None and good >= last):
        return None
    since: datetime.datetime = good or newspaper.first_visit  # type: ignore[attr-defined]
    return since if timezone.now() - since >= datetime.timedelta(days=FAILING_DAYS) else None

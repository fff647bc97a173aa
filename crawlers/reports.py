"""Read-only queries for the pages: the visits of newspapers, the crawls of the worker, and what trials gave."""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypeAlias

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from articles.grouping import by_key
from articles.models import Article, Job, Newspaper
from articles.storage.locks import Lock, held_numbers
from crawlers.models import Crawl, CrawlSchedule, PendingLink, Trial, Visit
from crawlers.reasons import find_reason
from crawlers.requested.queue import KIND, is_attended, visits_of
from crawlers.visits import SILENCE

# A newspaper is failing if every visit has failed for three days, from the first one to the last. A crawl of every day
# may begin a little earlier.
FAILING = datetime.timedelta(days=3) - datetime.timedelta(hours=1)
# A visit is good if something on it worked, even if it found nothing new; one that was stopped on purpose says nothing.
_WORKED = ("stored", "known", "unchanged", "refused_earlier")
_GOOD = Q(failed=0, state=Visit.State.FINISHED)
for _count in _WORKED:
    _GOOD |= Q(**{f"{_count}__gt": 0})
_ENDED = (Visit.State.FINISHED, Visit.State.STOPPED_UNEXPECTEDLY)
_NEVER = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
# The counts that are shown; `left_out` of newspapers alone.
_COUNTED = (*_WORKED, "paywalled", "failed")


# Of failures: a reason, how often it was counted, an example URL, and its entry in the table of reasons.
Failure: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class VisitReport:
    """A visit as shown. A running visit without a sign of life for SILENCE seconds counts as broken off."""

    visit: Visit

    @property
    def failures(self) -> list[Failure]:
        return _failures([self.visit])

    @property
    def state(self) -> Visit.State:
        silent = timezone.now() - self.visit.seen_at > datetime.timedelta(seconds=SILENCE)
        is_lost = self.visit.state == Visit.State.RUNNING and silent
        return Visit.State.STOPPED_UNEXPECTEDLY if is_lost else Visit.State(self.visit.state)

    @property
    def only_failed(self) -> bool:
        """Whether the visit finished, but everything on it failed."""
        good = any(getattr(self.visit, name) for name in _WORKED)
        return self.state == Visit.State.FINISHED and self.visit.failed > 0 and not good


@dataclass(frozen=True, slots=True)
class NewspaperReport:
    """A newspaper and its visits; `failing_since` is None unless it is failing.

    `crawl` is its crawl by the worker that runs or waits, if there is one.
    """

    newspaper: Newspaper
    visits: list[VisitReport]
    failing_since: datetime.datetime | None
    failures: list[Failure]
    counts: Counter[str]
    articles: int
    waiting: int = 0
    refused: int = 0
    schedule: CrawlSchedule | None = None
    crawl: Crawl | None = None


def with_visits() -> QuerySet[Any]:
    """Return the newspapers in use with the times of their last visit, their last good one, and of failures since.

    These are `last_visit`, `last_good`, `fails_since` and `fails_until`, each by the index visit_newspaper.
    """
    visits = Visit.objects.filter(newspaper=OuterRef("pk")).order_by("-started_at").values("started_at")
    failed = visits.filter(state__in=_ENDED, started_at__gt=Coalesce(OuterRef("last_good"), Value(_NEVER)))
    timed = Newspaper.objects.in_use().annotate(last_visit=Subquery(visits[:1]), last_good=visits.filter(_GOOD)[:1])
    return timed.annotate(fails_since=failed.reverse()[:1], fails_until=failed[:1])


def newspapers_by_need(words: str = "") -> QuerySet[Newspaper]:
    """Return the newspapers that have these words in a name, a host or an alias, also of one that was merged into them.

    The longest failing come first, then the latest visited.
    """
    found = with_visits()
    if words:
        called = Q(name__icontains=words) | Q(host__icontains=words) | Q(aliases__alias__icontains=words)
        named = Newspaper.objects.filter(called)
        found = found.filter(Q(pk__in=named.values("pk")) | Q(pk__in=named.values("merged_into")))
    return found.order_by(F("fails_since").asc(nulls_last=True), F("last_visit").desc(nulls_last=True), "name")


def failing_since(newspaper: Any) -> datetime.datetime | None:
    """Return since when every visit of a newspaper of `with_visits` has failed; None if it is not failing."""
    since: datetime.datetime | None = newspaper.fails_since
    return since if since and newspaper.fails_until - since >= FAILING else None


def reports_of(newspapers: Sequence[Newspaper]) -> list[NewspaperReport]:
    """Return a report for each newspaper, with its latest visit by each spider."""
    last = Visit.objects.filter(newspaper__in=newspapers).order_by("newspaper_id", "spider", "-started_at", "-pk")
    return list(_reports(newspapers, list(last.distinct("newspaper_id", "spider"))))


def newspaper_report(newspaper: Newspaper, number: int) -> NewspaperReport:
    """Return a newspaper's latest `number` visits, and how many links wait or were refused."""
    links = PendingLink.objects.filter(newspaper=newspaper)
    waiting = links.filter(refused_until=None).count()
    refused = links.filter(refused_until__gt=timezone.now()).count()
    [report] = _reports([newspaper], list(newspaper.visits.all()[:number]))
    return replace(report, waiting=waiting, refused=refused)


def _reports(newspapers: Sequence[Newspaper], all_visits: Sequence[Visit]) -> Iterator[NewspaperReport]:
    schedules = {row.newspaper_id: row for row in CrawlSchedule.objects.filter(newspaper__in=newspapers)}
    active = Crawl.objects.filter(newspaper__in=newspapers, job__state__in=Job.ACTIVE).select_related("job")
    crawls = {row.newspaper_id: row for row in active}
    stored = Article.objects.filter(newspaper__in=newspapers).order_by().values_list("newspaper")
    articles = dict(stored.annotate(Count("pk")))
    for newspaper in newspapers:
        visits = [visit for visit in all_visits if visit.newspaper_id == newspaper.pk]
        yield NewspaperReport(
            newspaper,
            [VisitReport(visit) for visit in visits],
            failing_since(newspaper),
            _failures(visits),
            _sums(visits, *_COUNTED, "left_out"),
            articles.get(newspaper.pk, 0),
            schedule=schedules.get(newspaper.pk),
            crawl=crawls.get(newspaper.pk),
        )


def _sums(visits: Iterable[Visit], *names: str) -> Counter[str]:
    return Counter({name: sum(getattr(visit, name) for visit in visits) for name in names})


def _failures(visits: Iterable[Visit]) -> list[Failure]:
    """Return the visits' failures by reason, the most frequent first."""
    found: dict[str, Failure] = {}
    for visit in visits:
        for failure in visit.failures:
            reason = failure["reason"]
            known = found.setdefault(reason, failure | {"number": 0, "entry": find_reason(reason)})
            known["number"] += failure["number"]
    return sorted(found.values(), key=itemgetter("number"), reverse=True)


# -- The crawls of the worker, and trials -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """A newspaper in a crawl, with its visits by that crawl so far, and the sums of their counts."""

    crawl: Crawl
    visits: list[Visit]

    @property
    def state(self) -> str:
        if any(visit.state == Visit.State.RUNNING for visit in self.visits):
            return "running"
        return "visited" if self.visits else "not yet"

    @property
    def counts(self) -> Counter[str]:
        return _sums(self.visits, *_COUNTED)


@dataclass(frozen=True, slots=True)
class WorkersCrawls:
    """The crawls of the worker now: the job that runs or is stopping, and the newspapers that wait.

    `attended`: whether a worker does crawls.
    """

    running: Job | None
    waiting: list[Crawl]
    attended: bool
    progress: list[CrawlProgress]

    @property
    def stopping(self) -> bool:
        """Whether the crawl was cancelled, and finishes the pages that it is fetching."""
        return self.running is not None and not self.running.is_active

    @property
    def state(self) -> str:
        """Changes whenever the page has to say something else than how far the crawl is."""
        parts = [f"{self.running.pk}-{self.running.state}" if self.running else "none"]
        parts += sorted({str(crawl.job_id) for crawl in self.waiting}) or ["none"]
        return "-".join([*parts, "attended" if self.attended else "unattended"])

    @property
    def counts(self) -> Counter[str]:
        """The sums over all newspapers."""
        return sum((progress.counts for progress in self.progress), Counter())

    @property
    def visited(self) -> int:
        """How many newspapers were visited, or are being visited."""
        return sum(bool(progress.visits) for progress in self.progress)


def crawl_jobs() -> QuerySet[Job]:
    """Return the crawls of the worker with their newspapers and who asked for them, the latest first."""
    jobs = Job.objects.filter(kind=KIND).select_related("cancelled_by").order_by("-pk")
    return jobs.prefetch_related("crawls__newspaper", "crawls__asked_by")


def crawls_now() -> WorkersCrawls:
    """Return the crawl that runs, with its newspapers and their visits, and the newspapers that wait."""
    stopping = Q(state=Job.State.CANCELLED, pk__in=held_numbers(Lock.JOBS))
    running = crawl_jobs().filter(Q(state=Job.State.RUNNING) | stopping).first()
    waiting = Crawl.objects.filter(job__state=Job.State.WAITING).select_related("job", "newspaper", "asked_by")
    visits = by_key((visit.newspaper_id, visit) for visit in (visits_of(running).order_by("pk") if running else ()))
    crawls = running.crawls.all() if running else ()
    progress = [CrawlProgress(crawl, visits[crawl.newspaper_id]) for crawl in crawls]
    return WorkersCrawls(running, list(waiting), is_attended(), progress)


def tried(trial: Trial) -> dict[str, Any] | None:
    """Return the sources and articles that a trial gave, each with the entry of its reason; None if there are none yet.

    `good` is how many articles would be stored.
    """
    if trial.results is None:
        return None
    rows: dict[str, Any] = {"sources": [], "articles": []}
    for name, found in rows.items():
        for row in trial.results[name]:
            day = datetime.date.fromisoformat(row["day"]) if row.get("day") else None
            found.append(row | {"day": day, "entry": find_reason(row["reason"]) if row.get("reason") else None})
    return rows | {"good": sum(not article["entry"] for article in rows["articles"])}

"""Read-only queries for the pages: the crawl that runs, the one that waits, and those that ended."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from articles.models import Job
from articles.storage.locks import Lock, held_numbers
from crawlers.models import Crawl, Trial, Visit
from crawlers.reasons import Reason, find_reason
from crawlers.requested.queue import KIND, is_attended, visits_of

_COUNTED = ("stored", "known", "unchanged", "refused_earlier", "paywalled", "failed")


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """A newspaper in a crawl, with its visits by that crawl so far, and the sums of their counts."""

    crawl: Crawl
    visits: list[Visit]

    @property
    def state(self) -> str:
        """In words."""
        if any(visit.state == Visit.State.RUNNING for visit in self.visits):
            return "running"
        return "visited" if self.visits else "not yet"

    @property
    def counts(self) -> Counter[str]:
        return Counter({name: sum(getattr(visit, name) for visit in self.visits) for name in _COUNTED})


@dataclass(frozen=True, slots=True)
class WorkersCrawls:
    """The crawls of the worker now: the job that runs or is stopping, and the newspapers that wait.

    `attended`: whether a worker does crawls.
    """

    running: Job | None
    waiting: list[Crawl]
    attended: bool
    progress: list[CrawlProgress] = field(default_factory=list)

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


def crawls_now() -> WorkersCrawls:
    """Return the crawl that runs, with its newspapers and their visits, and the newspapers that wait."""
    stopping = Q(state=Job.State.CANCELLED, pk__in=held_numbers(Lock.JOBS))
    running = crawl_jobs().filter(Q(state=Job.State.RUNNING) | stopping).first()
    waiting = Crawl.objects.filter(job__state=Job.State.WAITING).select_related("job", "newspaper", "asked_by")
    return WorkersCrawls(running, list(waiting), is_attended(), _progress(running) if running else [])


def crawl_jobs() -> QuerySet[Job]:
    """Return the crawls of the worker with their newspapers and who asked for them, the latest first."""
    jobs = Job.objects.filter(kind=KIND).select_related("cancelled_by").order_by("-pk")
    return jobs.prefetch_related("crawls__newspaper", "crawls__asked_by")


@dataclass(frozen=True, slots=True)
class TriedSource:
    """A source that a trial read: how many links it lists, or why it could not be read."""

    kind: str
    url: str
    links: int
    reason: str
    entry: Reason | None


@dataclass(frozen=True, slots=True)
class TriedArticle:
    """An article that a trial fetched, as it would be stored; or why it would not be."""

    url: str
    values: dict[str, Any]
    day: datetime.date | None
    reason: str
    entry: Reason | None


@dataclass(frozen=True, slots=True)
class Tried:
    """What a trial gave."""

    sources: list[TriedSource]
    articles: list[TriedArticle]

    @property
    def good(self) -> int:
        """How many articles would be stored."""
        return sum(not article.reason for article in self.articles)


def tried(trial: Trial) -> Tried | None:
    """Return what a trial gave; None if it has fetched nothing yet."""
    if trial.results is None:
        return None
    sources = [TriedSource(**row, entry=_entry(row["reason"])) for row in trial.results["sources"]]
    return Tried(sources, [_tried_article(row) for row in trial.results["articles"]])


def _tried_article(row: dict[str, Any]) -> TriedArticle:
    reason = row.get("reason", "")
    day = datetime.date.fromisoformat(row["day"]) if row.get("day") else None
    return TriedArticle(row["url"], row, day, reason, _entry(reason))


def _entry(reason: str) -> Reason | None:
    return find_reason(reason) if reason else None


def _progress(job: Job) -> list[CrawlProgress]:
    visits: defaultdict[int, list[Visit]] = defaultdict(list)
    for visit in visits_of(job).order_by("pk"):
        visits[visit.newspaper_id].append(visit)
    return [CrawlProgress(crawl, visits[crawl.newspaper_id]) for crawl in job.crawls.all()]

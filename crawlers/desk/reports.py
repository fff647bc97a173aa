"""Read-only queries for the pages: the crawl that runs, the one that waits, and those that ended."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from crawlers.desk.queue import is_attended
from crawlers.models import Crawl, CrawlTurn, Trial, Visit
from crawlers.reasons import Reason, find_reason

_COUNTED = ("stored", "known", "unchanged", "refused_earlier", "paywalled", "failed")


@dataclass(frozen=True, slots=True)
class TurnProgress:
    """A newspaper in a crawl, with its visits by that crawl so far, and the sums of their counts."""

    turn: CrawlTurn
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
class Desk:
    """The crawls of the worker now. `attended`: whether a worker does crawls."""

    running: Crawl | None
    waiting: Crawl | None
    attended: bool
    progress: list[TurnProgress] = field(default_factory=list)

    @property
    def state(self) -> str:
        """Changes whenever the page has to say something else than how far the crawl is."""
        parts = [
            f"{crawl.pk}{'-stops' if crawl.stop_asked_at else ''}" if crawl else "none"
            for crawl in (self.running, self.waiting)
        ]
        return "-".join([*parts, "attended" if self.attended else "unattended"])

    @property
    def counts(self) -> Counter[str]:
        """The sums over all newspapers."""
        return sum((progress.counts for progress in self.progress), Counter())

    @property
    def visited(self) -> int:
        """How many newspapers were visited, or are being visited."""
        return sum(bool(progress.visits) for progress in self.progress)


def desk() -> Desk:
    """Return the crawl that runs and the one that waits, with their newspapers."""
    going_on = (Crawl.State.RUNNING, Crawl.State.WAITING)
    crawls = {crawl.state: crawl for crawl in crawls_with_turns().filter(state__in=going_on)}
    running = crawls.get(Crawl.State.RUNNING)
    return Desk(
        running, crawls.get(Crawl.State.WAITING), is_attended(), _progress(running) if running is not None else []
    )


def crawls_with_turns() -> QuerySet[Crawl]:
    """Return the crawls with their newspapers and who asked for them, the latest first."""
    return Crawl.objects.select_related("stop_asked_by").prefetch_related("turns__newspaper", "turns__asked_by")


def ended_crawls() -> QuerySet[Crawl]:
    """Return the crawls that ended, the latest first."""
    return crawls_with_turns().exclude(state__in=(Crawl.State.RUNNING, Crawl.State.WAITING)).order_by("-pk")


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


def _progress(crawl: Crawl) -> list[TurnProgress]:
    turns = list(crawl.turns.all())
    visits: dict[int, list[Visit]] = {turn.newspaper_id: [] for turn in turns}
    # A visit begins after its crawl.
    for visit in Visit.objects.filter(newspaper__in=visits, started_at__gte=crawl.started_at).order_by("pk"):
        visits[visit.newspaper_id].append(visit)
    return [TurnProgress(turn, visits[turn.newspaper_id]) for turn in turns]

"""The whole way of a run, top to bottom: blocks of days, passes, evidence, clusters."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from django.db import InterfaceError, OperationalError, connection
from django.db.models import Count, Max, Min
from django.utils import timezone

from articles.models import Article, Newspaper
from dedup.clusters import rebuild_clusters
from dedup.models import Cluster, DetectionRun, Membership, Profile
from dedup.pairs import mark_stale, write_block
from dedup.passes import PASSES
from dedup.passes.base import PassConfig
from dedup.profiles import Configs, enabled, snapshot
from dedup.types import Candidate, Window

# One run at a time on a database, whichever process it is in. Arbitrary, but fixed.
_RUN_LOCK = 5_112_003
# A block of days ends when it has this many articles; its memory and its repetition after a crash follow.
BLOCK_ARTICLES = 4_000


class RunActiveError(RuntimeError):
    """Another run is under way on this database."""


class ScopeError(ValueError):
    """The articles to compare cannot be chosen as asked; the message says how they can."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run is about: which articles are compared with each other; None means no bound. Days are inclusive.

    A run of some `passes` says nothing of the others. A run of all (None) says of a pass that its
    profile switched off that it finds nothing any more.
    """

    since: datetime.date | None = None
    until: datetime.date | None = None
    newspaper_ids: tuple[int, ...] | None = None
    passes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.since and self.until and self.since > self.until:
            raise ScopeError(f"since {self.since} is after until {self.until}; exchange them")

    def parameters(self) -> dict[str, Any]:
        """Return the scope as the parameters of a statement."""
        newspapers = None if self.newspaper_ids is None else list(self.newspaper_ids)
        return {"since": self.since, "until": self.until, "newspaper_ids": newspapers}

    def stored(self) -> dict[str, Any]:
        """Return the scope as it is stored with a run."""
        return {
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            "newspapers": None if self.newspaper_ids is None else _newspaper_names(self.newspaper_ids),
            "passes": None if self.passes is None else list(self.passes),
        }


@dataclass(frozen=True, slots=True)
class Block:
    """A block of days, both included, and how many articles it has."""

    first_day: datetime.date
    last_day: datetime.date
    articles: int


class Progress(Protocol):
    """Who is told how a run comes along."""

    def start(self, pass_name: str, articles: int) -> None: ...
    def advance(self, pass_name: str, articles: int, pairs: int) -> None: ...


class NoProgress:
    """Tells nobody."""

    def start(self, pass_name: str, articles: int) -> None:
        """Do nothing."""

    def advance(self, pass_name: str, articles: int, pairs: int) -> None:
        """Do nothing."""


def start_run(
    configs: Configs, scope: Scope, *, profile: Profile | None = None, user_id: int | None = None
) -> DetectionRun:
    """Store a new run, or take up the last one where it stopped. Call inside `run_lock`.

    A run that stopped is taken up when it was asked the same of the same articles; what it found is kept and its
    finished blocks are not repeated. Otherwise it is marked as interrupted and a new run repairs after it.
    """
    asked_as = profile.name if profile else ""
    asked = {"config": snapshot(configs), "scope": scope.stored()}
    fingerprint = _fingerprint(scope)
    DetectionRun.objects.filter(state=DetectionRun.State.RUNNING).update(
        state=DetectionRun.State.INTERRUPTED, finished_at=timezone.now(), error="The process ended without a word."
    )
    last = DetectionRun.objects.order_by("-pk").first()
    stopped = (DetectionRun.State.INTERRUPTED, DetectionRun.State.FAILED)
    if (
        last is not None
        and last.state in stopped
        and {"config": last.config, "scope": last.scope} == asked
        and last.counts.get("fingerprint") == fingerprint
    ):
        last.state, last.finished_at, last.error = DetectionRun.State.RUNNING, None, ""
        last.profile, last.profile_name, last.requested_by_id = profile, asked_as, user_id
        last.save()
        return last
    return DetectionRun.objects.create(
        profile=profile,
        profile_name=asked_as,
        requested_by_id=user_id,
        counts={"fingerprint": fingerprint},
        **asked,
    )


def store_refused_run(scope: Scope, reason: str, *, profile: Profile, user_id: int | None) -> DetectionRun:
    """Store that a run could not begin, for those who asked for it on a page and see no terminal."""
    return DetectionRun.objects.create(
        profile=profile,
        profile_name=profile.name,
        requested_by_id=user_id,
        config={},
        scope=scope.stored(),
        state=DetectionRun.State.FAILED,
        error=reason,
        finished_at=timezone.now(),
    )


def run_detection(run: DetectionRun, configs: Configs, scope: Scope, *, progress: Progress) -> None:
    """Execute a run: every pass over every block, then stale evidence, then clusters. Call inside `run_lock`.

    Each block's evidence is stored with the block's mark in one transaction: a run that is killed repeats no
    more than a block. Whatever ends the run early is stored with it and raised.
    """
    try:
        blocks = blocks_of(scope)
        for name, config in enabled(configs).items():
            done = {mark.first_day: mark.pairs for mark in run.blocks.filter(pass_name=name)}
            progress.start(name, sum(block.articles for block in blocks))
            for block in blocks_for(name, blocks):
                if block.first_day in done:
                    progress.advance(name, block.articles, done[block.first_day])
                    continue
                candidates = _find(name, config, block, scope)
                pairs = write_block(run, name, config, candidates, (block.first_day, block.last_day))
                progress.advance(name, block.articles, pairs)
        stale = mark_stale(run, scope.passes or list(PASSES), scope.parameters())
        contradictions = len(rebuild_clusters().contradictions)
        _finish(run, DetectionRun.State.DONE, counts=_counts(run, scope, stale, contradictions))
    except KeyboardInterrupt:
        _finish(run, DetectionRun.State.INTERRUPTED, error="Interrupted.")
        raise
    except (OperationalError, InterfaceError):
        raise  # nobody is there to be told; whoever starts the next run marks this one as interrupted
    except BaseException as error:
        _finish(run, DetectionRun.State.FAILED, error=f"{type(error).__name__}: {error}")
        raise


def find_candidates(configs: Configs, scope: Scope, *, progress: Progress) -> Iterator[Candidate]:
    """Yield what a run would find, pass by pass, and store nothing."""
    blocks = blocks_of(scope)
    for name, config in enabled(configs).items():
        progress.start(name, sum(block.articles for block in blocks))
        for block in blocks_for(name, blocks):
            pairs = 0
            for candidate in _find(name, config, block, scope):
                pairs += 1
                yield candidate
            progress.advance(name, block.articles, pairs)


@contextmanager
def run_lock() -> Iterator[None]:
    """Hold the one lock of runs. Raises RunActiveError at once when another process holds it.

    The lock belongs to the database connection: it is free again when its process ends, however it ends.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_RUN_LOCK])
        if not cursor.fetchone()[0]:
            active = DetectionRun.objects.filter(state=DetectionRun.State.RUNNING).order_by("-pk").first()
            since = f" (run {active.pk}, since {active.started_at:%Y-%m-%d %H:%M} UTC)" if active else ""
            raise RunActiveError(f"another run is active on this database{since}; wait for it or stop it")
    try:
        yield
    finally:
        # Where the connection is lost, the lock is free already.
        with suppress(OperationalError, InterfaceError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_RUN_LOCK])


def blocks_of(scope: Scope) -> list[Block]:
    """Return the days of the scope that have articles, as blocks of at least BLOCK_ARTICLES articles, in order."""
    per_day = Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids)
    blocks: list[Block] = []
    first: datetime.date | None = None
    articles = 0
    day = None
    for day, count in per_day.order_by("date").values_list("date").annotate(count=Count("id")):
        first = first or day
        articles += count
        if articles >= BLOCK_ARTICLES:
            blocks.append(Block(first, day, articles))
            first, articles = None, 0
    if first is not None and day is not None:
        blocks.append(Block(first, day, articles))
    return blocks


def blocks_for(pass_name: str, blocks: list[Block]) -> list[Block]:
    """Return the blocks as this pass wants them: one after the other, or all days in one."""
    if PASSES[pass_name].by_days or not blocks:
        return blocks
    return [Block(blocks[0].first_day, blocks[-1].last_day, sum(block.articles for block in blocks))]


def _find(name: str, config: PassConfig, block: Block, scope: Scope) -> Iterator[Candidate]:
    window = Window(block.first_day, block.last_day, scope.since, scope.until, scope.newspaper_ids)
    return PASSES[name].find(window, config, connection)


def _fingerprint(scope: Scope) -> list[Any]:
    """Return what changes whenever an article is added to the scope: nothing else changes in the store."""
    articles = Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids)
    facts = articles.aggregate(count=Count("id"), last=Max("id"), first_day=Min("date"), last_day=Max("date"))
    return [facts["count"], facts["last"], str(facts["first_day"]), str(facts["last_day"])]


def _counts(run: DetectionRun, scope: Scope, stale: int, contradictions: int) -> dict[str, Any]:
    passes: dict[str, dict[str, Any]] = {}
    for mark in run.blocks.all():
        entry = passes.setdefault(mark.pass_name, {"pairs": 0, "seconds": 0.0})
        entry["pairs"] += mark.pairs
        entry["seconds"] = round(entry["seconds"] + mark.seconds, 3)
    clusters, members = Cluster.objects.count(), Membership.objects.count()
    articles = Article.objects.count()
    return {
        "fingerprint": run.counts.get("fingerprint"),
        "articles": Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids).count(),
        "passes": passes,
        "pairs": run.evidence.values("pair").distinct().count(),
        "stale": stale,
        "clusters": clusters,
        "clustered_articles": members,
        "duplicate_articles": members - clusters,
        "duplicate_share": round((members - clusters) / articles, 6) if articles else 0.0,
        "contradictions": contradictions,
    }


def _finish(
    run: DetectionRun, state: DetectionRun.State, *, error: str = "", counts: dict[str, Any] | None = None
) -> None:
    run.state, run.error, run.finished_at = state, error, timezone.now()
    run.counts = counts or run.counts
    run.save()


def _newspaper_names(newspaper_ids: tuple[int, ...]) -> list[str]:
    return sorted(Newspaper.objects.filter(pk__in=newspaper_ids).values_list("name", flat=True))

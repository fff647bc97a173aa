"""What a run is about: which articles it compares, and the blocks of days in which each pass takes them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Count, Max

from articles.boilerplate.mode import Mode
from articles.models import Article, Newspaper
from articles.querysets import days_fault
from dedup.models import DetectionRun
from dedup.passes import PASSES
from dedup.passes.base import NearConfig, PassConfig, Reach
from dedup.runs.profiles import Configs, enabled
from dedup.types import Window

# A block of days ends when it has this many articles; its memory and its repetition after a crash follow.
BLOCK_ARTICLES = 4_000


class ScopeError(ValueError):
    """The articles to compare cannot be chosen as asked; the message says how they can."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which pairs a run is about; None means no bound.

    The later article of a pair was published from `since` to `until`, both included; the earlier one may be older than
    `since`, so that a run from a day on finds what a run of all would find from that day on. Both are by one
    of `newspaper_ids`. With `newer_than`, the pairs of a pass have an article of a higher revision than is given
    for it; a pass that it does not name compares all. A run of some `passes` says nothing of the others; a run of all
    (None) says of a pass that its profile switched off that it finds nothing any more. Texts are compared with
    their `boilerplate` or without.
    """

    since: datetime.date | None = None
    until: datetime.date | None = None
    newspaper_ids: tuple[int, ...] | None = None
    passes: tuple[str, ...] | None = None
    newer_than: Mapping[str, int] | None = None
    boilerplate: Mode = Mode.KEEP

    def __post_init__(self) -> None:
        if fault := days_fault(self.since, self.until):
            raise ScopeError(fault)

    def stored(self) -> dict[str, Any]:
        """Return the scope as it is stored with a run."""
        return {
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
            "newspapers": None if self.newspaper_ids is None else _newspaper_names(self.newspaper_ids),
            "passes": None if self.passes is None else list(self.passes),
            "newer_than": None if self.newer_than is None else dict(self.newer_than),
            "boilerplate": self.boilerplate.value,
        }

    def answered(self, pass_name: str) -> dict[str, Any]:
        """Return which pairs a run answers for in this pass, as the parameters of a statement."""
        reach = PASSES[pass_name].reach
        return {
            "since": None if reach is Reach.STORE else self.since,
            "until": self.until,
            "newspaper_ids": None if self.newspaper_ids is None else list(self.newspaper_ids),
            "newer_than": (self.newer_than or {}).get(pass_name) if reach is Reach.PAIR else None,
        }


@dataclass(frozen=True, slots=True)
class Block:
    """A block of days, both included, and how many articles it has."""

    first_day: datetime.date
    last_day: datetime.date
    articles: int


def only_new(scope: Scope, configs: Configs) -> Scope:
    """Return the scope without the pairs of articles that each pass has compared with each other already.

    A pass is not restricted where no finished run over the whole store is known that had its settings, or where a later
    run with other settings has changed what it left.
    """
    compared = {
        name: _compared_up_to(name, dataclasses.asdict(config), scope.boilerplate)
        for name, config in enabled(configs).items()
    }
    return dataclasses.replace(scope, newer_than={name: up_to for name, up_to in compared.items() if up_to is not None})


def _compared_up_to(name: str, config: dict[str, Any], boilerplate: Mode) -> int | None:
    """Return the revision up to which all articles have been compared by this pass with these settings."""
    for run in DetectionRun.objects.order_by("-pk").only("config", "scope", "state", "counts").iterator(100):
        used = run.config.get(name, {})
        done = run.state == DetectionRun.State.DONE
        if not used.get("enabled"):
            if done and run.scope["passes"] is None:
                return None  # it has marked all evidence of this pass as stale
            continue
        if used != config or run.boilerplate is not boilerplate:
            return None
        whole = not any(run.scope[bound] for bound in ("since", "until", "newspapers"))
        if done and whole:
            up_to: int | None = run.counts.get("newest")
            return up_to
    return None


def blocks_of(scope: Scope) -> list[Block]:
    """Return the days of the scope that have articles, as blocks of at least BLOCK_ARTICLES articles, in order."""
    return list(_blocks(_articles_per_day(scope, scope.since)))


def blocks_for(pass_name: str, config: PassConfig, blocks: list[Block], scope: Scope) -> list[Block]:
    """Return the blocks as a pass wants them: one after the other, all days in one, or the whole store in one."""
    each = PASSES[pass_name]
    if each.reach is Reach.STORE and scope.since is not None:
        blocks = list(_blocks(_articles_per_day(scope, None)))
    if not each.by_days and blocks:
        blocks = [Block(blocks[0].first_day, blocks[-1].last_day, sum(block.articles for block in blocks))]
    newer_than = scope.answered(pass_name)["newer_than"]
    if newer_than is None:
        return blocks
    fresh = Article.objects.in_scope(None, scope.until, scope.newspaper_ids).filter(revision__gt=newer_than)
    days = [day.toordinal() for day in fresh.order_by("date").values_list("date", flat=True).distinct()]
    day_window = cast("NearConfig", config).day_window
    return [trimmed for block in blocks if (trimmed := _trimmed(block, days, day_window))]


def window_of(pass_name: str, block: Block, scope: Scope) -> Window:
    """Return what a pass is asked about a block."""
    newer_than = scope.answered(pass_name)["newer_than"]
    return Window(block.first_day, block.last_day, scope.newspaper_ids, newer_than, scope.boilerplate)


def state_of_articles(scope: Scope) -> list[int]:
    """Return what changes whenever an article is added to the scope or changes: how many there are, and the newest."""
    articles = Article.objects.in_scope(None, scope.until, scope.newspaper_ids)
    facts = articles.aggregate(count=Count("id"), newest=Max("revision"))
    return [facts["count"], facts["newest"] or 0]


def _articles_per_day(scope: Scope, since: datetime.date | None) -> Iterator[tuple[datetime.date, int]]:
    articles = Article.objects.in_scope(since, scope.until, scope.newspaper_ids)
    yield from articles.order_by("date").values_list("date").annotate(count=Count("id"))


def _blocks(per_day: Iterator[tuple[datetime.date, int]]) -> Iterator[Block]:
    first = day = None
    articles = 0
    for day, count in per_day:
        first = first or day
        articles += count
        if articles >= BLOCK_ARTICLES:
            yield Block(first, day, articles)
            first, articles = None, 0
    if first is not None and day is not None:
        yield Block(first, day, articles)


def _trimmed(block: Block, fresh_days: Sequence[int], day_window: int) -> Block | None:
    """Return the days of the block on which a pair with a fresh article can end; None where there is none."""
    first, last = block.first_day.toordinal(), block.last_day.toordinal()
    near = [day for day in fresh_days if first - day_window <= day <= last]
    if not near:
        return None
    begin, end = max(first, near[0]), min(last, near[-1] + day_window)
    return Block(datetime.date.fromordinal(begin), datetime.date.fromordinal(end), block.articles)


def _newspaper_names(newspaper_ids: tuple[int, ...]) -> list[str]:
    return sorted(Newspaper.objects.filter(pk__in=newspaper_ids).values_list("name", flat=True))

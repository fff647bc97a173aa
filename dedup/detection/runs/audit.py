"""Checks the trigram pass on a user's own articles by repeating some days with the plain SQL join.

In a dense group the pass keeps only some of the pairs. The others count as left out, not as missed.
"""

import datetime
import random
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from django.db.models import Count, Q

from articles.models import Article
from dedup.detection.bounds import widened
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import NearConfig
from dedup.detection.runs.blocks import allowed
from dedup.detection.runs.scope import Scope, earlier_runs
from dedup.detection.types import Candidate
from dedup.models import CrowdedArticle, Evidence
from dedup.models.base import read_rows

Pairs = dict[tuple[int, int], float]

_ONE_DAY = datetime.timedelta(days=1)
# Measured: similarity() of two starts of 1000 characters.
SECONDS_PER_PAIR = 0.0002

# The pass that can be repeated.
AUDITED = next(detection_pass for detection_pass in PASSES.values() if detection_pass.plain_join)


@dataclass(frozen=True, slots=True)
class AuditedDay:
    """The pairs whose later article is from one day: those of the plain join and those stored as evidence.

    `group_of` has the dense group of each article that the pass found to be a hub.
    """

    day: datetime.date
    articles: int
    plain: Pairs
    stored: Pairs
    group_of: Mapping[int, int]

    @property
    def left_out(self) -> list[tuple[int, int]]:
        """Return the pairs that only the plain join found, of two hubs of one dense group."""
        return sorted(pair for pair in self.plain.keys() - self.stored.keys() if self._is_inside(pair))

    @property
    def missed(self) -> list[tuple[int, int]]:
        """Return the other pairs that only the plain join found."""
        return sorted(pair for pair in self.plain.keys() - self.stored.keys() if not self._is_inside(pair))

    @property
    def extra(self) -> list[tuple[int, int]]:
        """Return the pairs that only the pass found."""
        return sorted(self.stored.keys() - self.plain.keys())

    @property
    def scored_differently(self) -> list[tuple[int, int]]:
        """Return the pairs that both found with different scores."""
        both = self.plain.keys() & self.stored.keys()
        return sorted(pair for pair in both if self.plain[pair] != self.stored[pair])

    @property
    def agrees(self) -> bool:
        """Return whether both found the same pairs with the same scores, apart from those left out."""
        return not (self.missed or self.extra or self.scored_differently)

    def _is_inside(self, pair: tuple[int, int]) -> bool:
        left, right = (self.group_of.get(article) for article in pair)
        return left is not None and left == right


def audit(days: Iterable[tuple[datetime.date, int]], config: NearConfig, scope: Scope) -> Iterator[AuditedDay]:
    """Yield each day's pairs by the plain join and by current evidence of runs with these settings and rules.

    Takes about 0.2 ms per pair in the window.
    """
    runs = earlier_runs(AUDITED.name, config, scope).same
    hubs = CrowdedArticle.objects.filter(pass_name=AUDITED.name, article__group_member__isnull=False)
    groups = hubs.values_list("article", "article__group_member__group")
    for day, articles in days:
        plain, stored = _plain_join(day, config, scope), _stored(day, scope, runs)
        not_stored = {article for pair in plain.keys() - stored.keys() for article in pair}
        group_of = {article: group for article, group in groups.iterator() if article in not_stored}
        yield AuditedDay(day, articles, plain, stored, group_of)


def audited_pairs(days: Iterable[tuple[datetime.date, int]], config: NearConfig, scope: Scope) -> int:
    """Return how many pairs the plain join of these days scores; each takes about SECONDS_PER_PAIR."""
    before = datetime.timedelta(days=cast("NearConfig", widened(AUDITED.name, config, scope.rules)).day_window)
    return sum(
        articles * (articles - 1) // 2
        + articles * Article.objects.in_scope(day - before, day - _ONE_DAY, scope.newspaper_ids).count()
        for day, articles in days
    )


def random_days(count: int, scope: Scope) -> list[tuple[datetime.date, int]]:
    """Return `count` random days of the scope with articles, or all if fewer, in order, with their article counts."""
    articles = Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids)
    days = list(articles.order_by("date").values_list("date").annotate(count=Count("id")))
    return sorted(random.SystemRandom().sample(days, min(count, len(days))))


def _plain_join(day: datetime.date, config: NearConfig, scope: Scope) -> Pairs:
    """Return the pairs of the plain join at the loosest bounds that the rules of the scope allow."""
    widest = widened(AUDITED.name, config, scope.rules)
    bounds = {name: getattr(widest, name) for name in ("day_window", "prefix", "threshold")}
    parameters = {"day": day, **bounds, **scope.bounds(), "boilerplate": scope.boilerplate.value}
    rows = read_rows(AUDITED.plain_join, **parameters)
    found = [Candidate(left, right, AUDITED.name, score) for left, right, score in rows]
    kept = allowed(AUDITED.name, config, scope.rules, found) if scope.rules else found
    return {(candidate.left, candidate.right): candidate.score for candidate in kept}


def _stored(day: datetime.date, scope: Scope, runs: Collection[int]) -> Pairs:
    # The later article is from this day.
    ends = Q(pair__left__date=day, pair__right__date__lte=day) | Q(pair__right__date=day, pair__left__date__lte=day)
    rows = Evidence.objects.filter(ends, pass_name=AUDITED.name, stale=False, run__in=runs)
    if scope.newspaper_ids is not None:
        rows = rows.filter(
            pair__left__newspaper__in=scope.newspaper_ids, pair__right__newspaper__in=scope.newspaper_ids
        )
    return {(left, right): score for left, right, score in rows.values_list("pair__left", "pair__right", "score")}

"""Checks the trigram pass on a user's own articles by repeating some days with the plain SQL join."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count

from articles.models import Article
from dedup.article_sql import article_sql
from dedup.models import Evidence
from dedup.passes.trigram import TrigramConfig, TrigramPass
from dedup.runs.scope import Scope

Pairs = dict[tuple[int, int], float]

# The join of the Skoli study: PostgreSQL scores every pair of the window, then filters. The later article of each pair
# is from the day. MATERIALIZED, or the planner would score each pair again to compare it with the threshold.
_PLAIN_JOIN_SQL = article_sql(
    """
WITH scored AS MATERIALIZED (
    SELECT least(a.id, b.id) AS left_id, greatest(a.id, b.id) AS right_id,
           similarity(left({a.text}, %(prefix)s), left({b.text}, %(prefix)s)) AS score
    FROM {articles} AS a
    JOIN {articles} AS b ON b.date = %(day)s AND a.date BETWEEN b.date - %(day_window)s AND b.date
    WHERE (a.date < b.date OR a.id < b.id)
      AND {a.in_newspapers} AND {b.in_newspapers}
)
SELECT left_id, right_id, score
FROM scored
WHERE score >= %(threshold)s::float4
""",
    "a",
    "b",
)


@dataclass(frozen=True, slots=True)
class AuditedDay:
    """The pairs whose later article is from one day: those of the plain join and those stored as evidence."""

    day: datetime.date
    articles: int
    plain: Pairs
    stored: Pairs

    @property
    def missed(self) -> list[tuple[int, int]]:
        """Return the pairs that only the plain join found."""
        return sorted(self.plain.keys() - self.stored.keys())

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
        """Return whether both found the same pairs with the same scores."""
        return self.plain == self.stored


def audit(days: Iterable[tuple[datetime.date, int]], config: TrigramConfig, scope: Scope) -> Iterator[AuditedDay]:
    """Yield each day's pairs by the plain join and by current evidence. Takes about 0.2 ms per pair in the window."""
    for day, articles in days:
        yield AuditedDay(day, articles, _plain_join(day, config, scope), _stored(day, scope))


def random_days(count: int, scope: Scope) -> list[tuple[datetime.date, int]]:
    """Return `count` random days of the scope with articles, or all if fewer, in order, with their article counts."""
    articles = Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids)
    days = list(articles.order_by("date").values_list("date").annotate(count=Count("id")))
    return sorted(random.SystemRandom().sample(days, min(count, len(days))))


def _plain_join(day: datetime.date, config: TrigramConfig, scope: Scope) -> Pairs:
    newspaper_ids = None if scope.newspaper_ids is None else list(scope.newspaper_ids)
    parameters: dict[str, Any] = {
        "day": day,
        "day_window": config.day_window,
        "prefix": config.prefix,
        "threshold": config.threshold,
        "newspaper_ids": newspaper_ids,
        "boilerplate": scope.boilerplate.value,
    }
    with connection.cursor() as cursor:
        cursor.execute(_PLAIN_JOIN_SQL, parameters)
        return {(left, right): score for left, right, score in cursor}


def _stored(day: datetime.date, scope: Scope) -> Pairs:
    rows = Evidence.objects.filter(pass_name=TrigramPass.name, stale=False).ending_on(day)
    if scope.newspaper_ids is not None:
        rows = rows.filter(
            pair__left__newspaper__in=scope.newspaper_ids, pair__right__newspaper__in=scope.newspaper_ids
        )
    return {(left, right): score for left, right, score in rows.values_list("pair__left", "pair__right", "score")}

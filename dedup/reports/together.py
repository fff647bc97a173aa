"""What the reports on duplicates share: how their SQL reads the scope, and which newspapers share clusters.

An article counts if it was published in the days of the scope by one of its newspapers. A pair counts if both of its
articles do. A duplicate is an article of a cluster that does not represent it; the article that does need not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, LiteralString, TypeVar
from urllib.parse import urlencode

from django.db import connection
from django.urls import reverse

from dedup.detection.article_sql import article_sql
from dedup.detection.runs.scope import Scope
from dedup.reports.columns import column

Row = TypeVar("Row")

# Every two newspapers with a cluster in common, once, and every newspaper that has two articles of a cluster. A cluster
# is one row for each of its newspapers, so the work grows with newspapers, not with pairs of articles.
_TOGETHER_SQL = article_sql(
    """
WITH part AS MATERIALIZED (
    SELECT member.cluster_id, article.newspaper_id, count(*) AS articles, min(article.date) AS first_day
    FROM dedup_membership AS member
    JOIN {articles} AS article ON article.id = member.article_id
    WHERE {article.in_scope}
    GROUP BY member.cluster_id, article.newspaper_id
), counted AS (
    SELECT one.newspaper_id AS one_id, other.newspaper_id AS other_id, count(*) AS clusters,
        sum(CASE
            WHEN one.newspaper_id = other.newspaper_id THEN one.articles * (one.articles - 1) / 2
            ELSE one.articles * other.articles
        END)::bigint AS pairs,
        count(*) FILTER (WHERE one.first_day < other.first_day) AS one_first,
        count(*) FILTER (WHERE other.first_day < one.first_day) AS other_first
    FROM part AS one
    JOIN part AS other ON other.cluster_id = one.cluster_id AND other.newspaper_id >= one.newspaper_id
    WHERE one.newspaper_id <> other.newspaper_id OR one.articles > 1
    GROUP BY one.newspaper_id, other.newspaper_id
)
SELECT one_id, one.name, other_id, other.name, clusters, pairs, one_first, other_first
FROM counted
JOIN articles_newspaper AS one ON one.id = one_id
JOIN articles_newspaper AS other ON other.id = other_id
""",
    "article",
)


@dataclass(frozen=True, slots=True)
class Together:
    """Two newspapers that have articles in the same clusters, the one whose name comes first left.

    `pairs` counts every two articles of one cluster, one from each newspaper. Of the clusters, `left_first` begin with
    the left one, by days, `right_first` with the right one, and `same_day` with both. If both are one newspaper, it has
    two or more articles of each of these clusters.
    """

    left: Annotated[str, column("Newspaper", link="address")]
    right: Annotated[str, column("And newspaper")]
    left_id: int
    right_id: int
    clusters: Annotated[int, column("Clusters")]
    pairs: Annotated[int, column("Pairs", named="shared_pairs")]
    left_first: Annotated[int, column("First one earlier", unless="is_one")]
    right_first: Annotated[int, column("Second one earlier", unless="is_one")]
    same_day: Annotated[int, column("Same day", unless="is_one")]

    @property
    def is_one(self) -> bool:
        """Return whether both are one newspaper."""
        return self.left_id == self.right_id

    @property
    def address(self) -> str:
        """Return the address of the list of all pairs of the two that were judged duplicates."""
        ends = {"newspaper": self.left_id, "other": self.right_id}
        return f"{reverse('queue')}?{urlencode({'tab': 'pairs', **ends, 'verdict': 'duplicate', 'state': 'any'})}"


def duplicates_address(newspaper_id: int) -> str:
    """Return the address of the list of a newspaper's duplicates."""
    return f"{reverse('articles')}?{urlencode({'newspaper': newspaper_id, 'look': 'duplicate'})}"


def rows_of(statement: LiteralString, scope: Scope, row: Callable[..., Row], **values: Any) -> list[Row]:
    """Return the rows of a statement over the articles of a scope, each as `row` makes it of its columns."""
    with connection.cursor() as cursor:
        cursor.execute(statement, scope.bounds() | values)
        return [row(*columns) for columns in cursor]


def of_both(scope: Scope, pair: str = "") -> dict[str, Any]:
    """Return the conditions for both articles of a pair to be in the scope; `pair` is the way to the pair."""
    bounds: dict[str, Any] = {}
    for side in ("left", "right"):
        bounds[f"{pair}{side}__date__gte"] = scope.since
        bounds[f"{pair}{side}__date__lte"] = scope.until
        bounds[f"{pair}{side}__newspaper_id__in"] = scope.newspaper_ids
    return bounds


def newspapers_together(scope: Scope) -> list[Together]:
    """Return every two newspapers with a cluster in common, and each with itself; most pairs first, then by name."""
    found = rows_of(_TOGETHER_SQL, scope, _in_order)
    return sorted(found, key=lambda row: (-row.pairs, row.left, row.right))


def share(part: int, whole: int) -> float | None:
    """Return a share, 0..1; None of nothing."""
    return part / whole if whole else None


def _in_order(*row: Any) -> Together:
    one_id, one, other_id, other, clusters, pairs, one_first, other_first = row
    same_day = clusters - one_first - other_first
    if one <= other:
        return Together(one, other, one_id, other_id, clusters, pairs, one_first, other_first, same_day)
    return Together(other, one, other_id, one_id, clusters, pairs, other_first, one_first, same_day)

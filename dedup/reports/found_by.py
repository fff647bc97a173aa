"""Which passes find which pairs and duplicates, and which of them editors have decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from functools import cached_property
from operator import add

from dedup.detection.article_sql import article_sql
from dedup.detection.passes import PASSES
from dedup.detection.runs.facts import label
from dedup.detection.runs.scope import Scope
from dedup.reports.together import rows_of

_NAMES_SQL = "SELECT DISTINCT pass_name FROM dedup_evidence WHERE NOT stale"
# One reading of all evidence. The passes of a pair are the bits of a number, so there are few rows to return. Articles
# are joined with LEFT, so that PostgreSQL leaves them out where the scope has no bounds.
_FOUND_SQL = article_sql(
    """
WITH named AS (
    SELECT pass_name, (1 << (place - 1)::int) AS bit
    FROM unnest(%(passes)s::text[]) WITH ORDINALITY AS given (pass_name, place)
), found AS (
    SELECT evidence.pair_id, bit_or(named.bit) AS passes
    FROM dedup_evidence AS evidence
    JOIN named ON named.pass_name = evidence.pass_name
    WHERE NOT evidence.stale
    GROUP BY evidence.pair_id
), counted AS MATERIALIZED (
    SELECT found.passes, pair.left_id, pair.right_id,
        coalesce(left_member.cluster_id = right_member.cluster_id, false) AS clustered,
        NOT pair.implied AND pair.state = 'confirmed' AS confirmed,
        NOT pair.implied AND pair.state IN ('rejected', 'template') AS refused
    FROM found
    JOIN dedup_pair AS pair ON pair.id = found.pair_id
    LEFT JOIN {articles} AS left_article ON left_article.id = pair.left_id
    LEFT JOIN {articles} AS right_article ON right_article.id = pair.right_id
    LEFT JOIN dedup_membership AS left_member ON left_member.article_id = pair.left_id
    LEFT JOIN dedup_membership AS right_member ON right_member.article_id = pair.right_id
    WHERE {left_article.in_scope} AND {right_article.in_scope}
), found_article AS (
    SELECT either.article_id, bit_or(counted.passes) AS passes
    FROM counted
    CROSS JOIN LATERAL (VALUES (counted.left_id), (counted.right_id)) AS either (article_id)
    WHERE counted.clustered
    GROUP BY either.article_id
)
SELECT passes, count(*), count(*) FILTER (WHERE clustered), count(*) FILTER (WHERE confirmed),
    count(*) FILTER (WHERE refused), 0
FROM counted GROUP BY passes
UNION ALL
SELECT passes, 0, 0, 0, 0, count(*)
FROM found_article
JOIN dedup_membership AS member USING (article_id)
JOIN dedup_cluster AS cluster ON cluster.id = member.cluster_id AND cluster.kept_id <> found_article.article_id
GROUP BY passes
""",
    "left_article",
    "right_article",
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Pairs, those of them with both articles in one cluster, those decided by themselves, and duplicates."""

    pairs: int = 0
    clustered: int = 0
    confirmed: int = 0
    refused: int = 0
    duplicates: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*map(add, astuple(self), astuple(other)))


class FoundBy:
    """How much each combination of passes finds; `passes` has their names, in the order of a run.

    A pass finds a pair if its current evidence proposes it, and a duplicate if it finds a pair of it with another
    article of its cluster.
    """

    def __init__(self, passes: list[str], rows: Iterable[tuple[int, Counts]]) -> None:
        self.passes = passes
        self._of: dict[frozenset[str], Counts] = {}
        for bits, counts in rows:
            combined = frozenset(name for place, name in enumerate(passes) if bits >> place & 1)
            self._of[combined] = self._of.get(combined, Counts()) + counts

    def all_of(self, *names: str) -> Counts:
        """Return what each of these passes finds, whatever others find it too; everything for no name."""
        return sum((counts for found, counts in self._of.items() if found.issuperset(names)), Counts())

    def only(self, name: str) -> Counts:
        """Return what this pass finds and no other one."""
        return self._of.get(frozenset([name]), Counts())

    @cached_property
    def labels(self) -> dict[str, str]:
        """The passes' labels by their names."""
        return {name: label(name) for name in self.passes}


def found_by(scope: Scope) -> FoundBy:
    """Count what each combination of passes finds. Reads all evidence."""
    names = set(rows_of(_NAMES_SQL, scope, str))
    passes = [*(name for name in PASSES if name in names), *sorted(names.difference(PASSES))]
    return FoundBy(passes, rows_of(_FOUND_SQL, scope, _row, passes=passes) if passes else [])


def _row(bits: int, *counts: int) -> tuple[int, Counts]:
    return bits, Counts(*counts)

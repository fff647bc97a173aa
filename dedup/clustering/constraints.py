"""The constraints in force: editors' decisions on pairs of articles, which runs and reviews both obey."""

from __future__ import annotations

from collections.abc import Collection
from typing import LiteralString, NamedTuple

from django.db import connection
from psycopg.sql import SQL, Identifier

from articles.storage.locks import Lock, lock_transaction
from dedup.models import Link

# The view dedup_standing_link holds, for each two articles, the latest link whose decision has not been undone.
# The casts let PostgreSQL look thousands of articles up by hash; it compares numbers of other sizes one by one.
_IN_FORCE_SQL = """
SELECT left_id, right_id, kind
FROM dedup_standing_link
WHERE %(articles)s::bigint[] IS NULL
    OR left_id = ANY (%(articles)s::bigint[]) OR right_id = ANY (%(articles)s::bigint[])
ORDER BY left_id, right_id
"""

# The state of a pair: by the latest decision on its two articles or, if none is in force, by the cluster they share,
# which may be confirmed without a constraint on every two of its articles.
_PAIR_STATE = SQL("""
    coalesce(in_force.state, CASE WHEN cluster.state = 'confirmed' THEN 'confirmed' END, 'undecided')
""")
_PAIR_STATE_JOINS = SQL("""
    LEFT JOIN dedup_membership AS left_member ON left_member.article_id = {pair}.left_id
    LEFT JOIN dedup_membership AS right_member
        ON right_member.article_id = {pair}.right_id AND right_member.cluster_id = left_member.cluster_id
    LEFT JOIN dedup_cluster AS cluster ON cluster.id = right_member.cluster_id
    LEFT JOIN LATERAL (
        SELECT link.state FROM dedup_standing_link AS link
        WHERE link.left_id = {pair}.left_id AND link.right_id = {pair}.right_id
    ) AS in_force ON true
""")


class Constraints(NamedTuple):
    """Pairs of article ids, left < right, ordered."""

    must: list[tuple[int, int]]
    cannot: list[tuple[int, int]]
    stay: list[tuple[int, int]]


def lock_review() -> None:
    """Lock pairs and clusters against other writers until the transaction ends; wait for the lock if needed."""
    lock_transaction(Lock.REVIEW)


def constraints_in_force(articles: Collection[int] | None = None) -> Constraints:
    """Return the constraints of all decisions that are not undone; only those on these articles, if given."""
    constraints = Constraints([], [], [])
    lists = {
        Link.Kind.MUST: constraints.must,
        Link.Kind.CANNOT: constraints.cannot,
        Link.Kind.STAY: constraints.stay,
    }
    with connection.cursor() as cursor:
        cursor.execute(_IN_FORCE_SQL, {"articles": None if articles is None else list(articles)})
        for left, right, kind in cursor:
            if kind in lists:
                lists[kind].append((left, right))
    return constraints


def with_pair_state(statement: LiteralString, *, of: str) -> str:
    """Return the statement with {state}, the state of a pair, and {state_joins}, the joins it needs, filled in.

    `of` is the statement's name for the table whose left_id and right_id are the articles of the pair.
    """
    joins = _PAIR_STATE_JOINS.format(pair=Identifier(of))
    return SQL(statement).format(state=_PAIR_STATE, state_joins=joins).as_string()

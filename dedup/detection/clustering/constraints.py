"""The constraints in force: editors' decisions on pairs of articles, which runs and reviews both obey."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import LiteralString, NamedTuple

from django.db import connection
from psycopg.sql import SQL, Identifier

from articles.storage.locks import Lock, lock_transaction

# The view dedup_standing_link holds, for each two articles, the latest link whose decision has not been undone, and its
# effect on clusters: a template keeps apart, a version as the default profile says.
# The casts let PostgreSQL look thousands of articles up by hash; it compares numbers of other sizes one by one.
_IN_FORCE_SQL = """
SELECT left_id, right_id, effect
FROM dedup_standing_link
WHERE %(articles)s::bigint[] IS NULL
    OR left_id = ANY (%(articles)s::bigint[]) OR right_id = ANY (%(articles)s::bigint[])
ORDER BY left_id, right_id
"""

# The state of a pair: by the latest decision on its two articles or, if none is in force, by what other decisions
# imply: both are tied to each other, or a cannot-link separates those that they are tied to.
_PAIR_STATE = SQL("""
    coalesce(in_force.state, CASE
        WHEN left_tied.first = right_tied.first THEN 'confirmed'
        WHEN separate.one IS NOT NULL THEN 'rejected'
    END, 'undecided')
""")
_PAIR_IMPLIED = SQL("""
    (in_force.state IS NULL AND (left_tied.first IS NOT DISTINCT FROM right_tied.first AND left_tied.first IS NOT NULL
        OR separate.one IS NOT NULL))
""")
_PAIR_STATE_JOINS = SQL("""
    LEFT JOIN dedup_confirmedarticle AS left_tied ON left_tied.article_id = {pair}.left_id
    LEFT JOIN dedup_confirmedarticle AS right_tied ON right_tied.article_id = {pair}.right_id
    LEFT JOIN dedup_separatearticles AS separate
        ON separate.one = least(coalesce(left_tied.first, {pair}.left_id), coalesce(right_tied.first, {pair}.right_id))
        AND separate.other
            = greatest(coalesce(left_tied.first, {pair}.left_id), coalesce(right_tied.first, {pair}.right_id))
    LEFT JOIN LATERAL (
        SELECT link.state FROM dedup_standing_link AS link
        WHERE link.left_id = {pair}.left_id AND link.right_id = {pair}.right_id
        {one_by_one}
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
    with connection.cursor() as cursor:
        cursor.execute(_IN_FORCE_SQL, {"articles": None if articles is None else list(articles)})
        return _by_effect(cursor)


def _by_effect(links: Iterable[tuple[int, int, str]]) -> Constraints:
    constraints = Constraints([], [], [])
    lists = constraints._asdict()
    for left, right, effect in links:
        if effect in lists:
            lists[effect].append((left, right))
    return constraints


class KnownConstraints:
    """Reads the constraints in force on articles, and those of an article only once.

    Make one for the steps that follow a decision, which ask about nearly the same articles, after `lock_review`.
    """

    def __init__(self) -> None:
        self._read: set[int] = set()
        self._of: defaultdict[int, set[tuple[int, int, str]]] = defaultdict(set)

    def on(self, articles: Collection[int]) -> Constraints:
        """Return what constraints_in_force(articles) returns."""
        if unread := set(articles) - self._read:
            for effect, pairs in constraints_in_force(unread)._asdict().items():
                for left, right in pairs:
                    self._of[left].add((left, right, effect))
                    self._of[right].add((left, right, effect))
            self._read |= unread
        return _by_effect(sorted({said for article in articles for said in self._of.get(article, ())}))


def with_pair_state(statement: LiteralString, *, of: str, few: bool = False) -> str:
    """Return the statement with {state}, {implied} and {state_joins} filled in: a pair's state and the joins for it.

    `of` is the statement's name for the table whose left_id and right_id are the articles of the pair. With `few`, the
    links are looked up pair by pair; else PostgreSQL may read and sort all of them, which is quicker for many pairs.
    """
    joins = _PAIR_STATE_JOINS.format(pair=Identifier(of), one_by_one=SQL("LIMIT 1" if few else ""))
    return SQL(statement).format(state=_PAIR_STATE, implied=_PAIR_IMPLIED, state_joins=joins).as_string()

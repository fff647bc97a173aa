"""The constraints in force: editors' decisions on pairs of articles, which runs and reviews both obey.

And what they imply for other articles: the closure of must-links, and what cannot-links separate.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, LiteralString, NamedTuple

from django.db import transaction
from psycopg.sql import SQL, Identifier

from articles.storage.locks import Lock, lock_transaction
from dedup.answers import LINKS_BY_PROFILE
from dedup.detection.kernels.disjoint_sets import lowest_connected
from dedup.detection.types import SameAs
from dedup.models import Link
from dedup.models.base import Asked, read_each

# The view dedup_standing_link holds, for each two articles, the latest link whose decision has not been undone, and its
# effect on clusters: a template keeps apart, a version as the default profile says.
# The casts let PostgreSQL look thousands of articles up by hash; it compares numbers of other sizes one by one.
_IN_FORCE_SQL = """
SELECT left_id, right_id,
    CASE WHEN kind = ANY (%(by_profile)s) THEN coalesce(%(instead)s, effect) ELSE effect END
FROM dedup_standing_link
WHERE %(articles)s::bigint[] IS NULL
    OR left_id = ANY (%(articles)s::bigint[]) OR right_id = ANY (%(articles)s::bigint[])
ORDER BY left_id, right_id
"""

# The state of a pair: by the latest decision on its two articles or, if none is in force, by what other decisions
# imply: both are tied to each other, or a cannot-link separates those that they are tied to.
_IMPLIED_STATE = SQL("""
    CASE WHEN left_tied.first = right_tied.first THEN 'confirmed' WHEN separate.one IS NOT NULL THEN 'rejected' END
""")
_PAIR_STATE = SQL("coalesce(in_force.state, {}, 'undecided')").format(_IMPLIED_STATE)
_PAIR_IMPLIED = SQL("(in_force.state IS NULL AND ({}) IS NOT NULL)").format(_IMPLIED_STATE)
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


def constraints_in_force(articles: Collection[int] | None = None, *, same_as: SameAs | None = None) -> Constraints:
    """Return the constraints of all decisions that are not undone; only those on these articles, if given.

    With `same_as`, version answers have the effect that they would have under it.
    """
    return _by_effect(read_each(_ask_links(articles, same_as))[0])


def _ask_links(articles: Collection[int] | None, same_as: SameAs | None = None) -> Asked:
    instead = None if same_as is None else "stay" if same_as is SameAs.UPDATES else "cannot"
    of = None if articles is None else list(articles)
    return _IN_FORCE_SQL, {"articles": of, "by_profile": LINKS_BY_PROFILE, "instead": instead}


def _by_effect(links: Iterable[tuple[int, int, str]]) -> Constraints:
    constraints = Constraints([], [], [])
    lists = constraints._asdict()
    for left, right, effect in links:
        if effect in lists:
            lists[effect].append((left, right))
    return constraints


class KnownConstraints:
    """Reads the constraints in force on articles, and what is stored of what they imply; of an article only once.

    Make one for the steps that follow a decision, which ask about nearly the same articles, after `lock_review`.
    """

    def __init__(self) -> None:
        self._read: set[int] = set()
        self._of: defaultdict[int, set[tuple[int, int, str]]] = defaultdict(set)
        self._firsts: dict[int, int] = {}
        self._separate: dict[tuple[int, int], int] = {}

    def read(self, articles: Collection[int], *more: Asked) -> list[list[tuple[Any, ...]]]:
        """Read what is not known of these articles, and `more` in the same round trip, whose rows are returned."""
        unread = set(articles) - self._read
        about = {"articles": list(unread)}
        own: list[Asked] = [_ask_links(unread), (_STORED_SQL, about), (_SEPARATE_SQL, about)] if unread else []
        if not (own or more):
            return []
        found = read_each(*own, *more)
        if unread:
            for effect, pairs in _by_effect(found[0])._asdict().items():
                for left, right in pairs:
                    self._of[left].add((left, right, effect))
                    self._of[right].add((left, right, effect))
            self._firsts |= dict(found[1])
            self._separate |= {(one, other): number for one, other, number in found[2]}
            self._read |= unread
        return found[len(own) :]

    def on(self, articles: Collection[int]) -> Constraints:
        """Return what constraints_in_force(articles) returns."""
        self.read(articles)
        return _by_effect(sorted({said for article in articles for said in self._of.get(article, ())}))

    def tied(self, articles: Collection[int]) -> dict[int, int]:
        """Return the stored groups of these articles, whole: the first article of each that is in one."""
        self.read(articles)
        firsts = {self._firsts[article] for article in articles if article in self._firsts}
        return {article: first for article, first in self._firsts.items() if first in firsts}

    def separate(self, firsts: Collection[int]) -> dict[tuple[int, int], int]:
        """Return the stored separations of the groups that these articles name, each with its number."""
        self.read(firsts)
        return {both: number for both, number in self._separate.items() if not set(both).isdisjoint(firsts)}


@cache
def with_pair_state(statement: LiteralString, *, of: str, few: bool = False) -> str:
    """Return the statement with {state}, {implied} and {state_joins} filled in: a pair's state and the joins for it.

    `of` is the statement's name for the table whose left_id and right_id are the articles of the pair. With `few`, the
    links are looked up pair by pair; else PostgreSQL may read and sort all of them, which is quicker for many pairs.
    """
    joins = _PAIR_STATE_JOINS.format(pair=Identifier(of), one_by_one=SQL("LIMIT 1" if few else ""))
    return SQL(statement).format(state=_PAIR_STATE, implied=_PAIR_IMPLIED, state_joins=joins).as_string()


# ---- what they imply -------------------------------------------------------------------------------

# A pair's state depends on the decisions on its two articles and on those that they are tied to.
_STATES_SQL: LiteralString = """
WITH concerned AS MATERIALIZED (
    SELECT id FROM dedup_pair WHERE left_id = ANY (%(articles)s::bigint[])
    UNION
    SELECT id FROM dedup_pair WHERE right_id = ANY (%(articles)s::bigint[])
), decided AS (
    SELECT pair.id, {state} AS state, {implied} AS implied
    FROM concerned
    JOIN dedup_pair AS pair ON pair.id = concerned.id
    {state_joins}
)
UPDATE dedup_pair AS pair
SET state = decided.state, implied = decided.implied
FROM decided
WHERE decided.id = pair.id AND (pair.state, pair.implied) <> (decided.state, decided.implied)
"""
# The stored groups of these articles, whole.
_STORED_SQL: LiteralString = """
SELECT article_id, first FROM dedup_confirmedarticle
WHERE first = ANY (ARRAY(SELECT first FROM dedup_confirmedarticle WHERE article_id = ANY (%(articles)s::bigint[])))
"""
_SEPARATE_SQL: LiteralString = """
SELECT one, other, id FROM dedup_separatearticles
WHERE one = ANY (%(articles)s::bigint[]) OR other = ANY (%(articles)s::bigint[])
"""
_FORGET_TIES_SQL: LiteralString = "DELETE FROM dedup_confirmedarticle WHERE article_id = ANY (%(articles)s::bigint[])"
_TIE_SQL: LiteralString = """
INSERT INTO dedup_confirmedarticle (article_id, first)
SELECT * FROM unnest(%(articles)s::bigint[], %(firsts)s::bigint[])
"""
_FORGET_SEPARATIONS_SQL: LiteralString = "DELETE FROM dedup_separatearticles WHERE id = ANY (%(numbers)s::bigint[])"
_SEPARATED_SQL: LiteralString = """
INSERT INTO dedup_separatearticles (one, other) SELECT * FROM unnest(%(ones)s::bigint[], %(others)s::bigint[])
"""
# Up to so many articles have few pairs.
_FEW = 200


def implications(articles: Collection[int], known: KnownConstraints) -> list[Asked]:
    """Return what brings up to date what decisions imply about these articles and all that they are, or were, tied to.

    Run it in the transaction that stores the decision, after `lock_review`, with the constraints that are read
    already. Pairs get their states; clusters are rebuilt elsewhere. Rows that stay as they are are not written.
    """
    reached, before = _tied_to(articles, known)
    constraints = known.on(reached)
    firsts = lowest_connected(constraints.must)
    gone = [article for article, first in before.items() if firsts.get(article) != first]
    fresh = {article: first for article, first in firsts.items() if before.get(article) != first}
    outside = {end for pair in constraints.cannot for end in pair}.difference(reached)
    separate = _separate({**firsts, **known.tied(outside)}, constraints.cannot)
    # By its lowest id, a group that was reached is named by an article that was reached, also as it was before.
    stored = known.separate(reached)
    parted = [number for both, number in stored.items() if both not in separate]
    newly = sorted(separate - stored.keys())
    return [
        (_FORGET_TIES_SQL, {"articles": gone}),
        (_TIE_SQL, {"articles": list(fresh), "firsts": list(fresh.values())}),
        (_FORGET_SEPARATIONS_SQL, {"numbers": parted}),
        (_SEPARATED_SQL, {"ones": [one for one, _ in newly], "others": [other for _, other in newly]}),
        (with_pair_state(_STATES_SQL, of="pair", few=len(reached) <= _FEW), {"articles": list(reached)}),
    ]


class Implied(NamedTuple):
    """What all decisions in force imply: the first article of each that is tied to others, and what is separate."""

    firsts: dict[int, int]
    separate: set[tuple[int, int]]


def expected_implications() -> Implied:
    """Return what should be stored as ConfirmedArticle and SeparateArticles now; nothing is stored."""
    constraints = constraints_in_force()
    firsts = lowest_connected(constraints.must)
    return Implied(firsts, _separate(firsts, constraints.cannot))


def update_version_implications() -> None:
    """Bring up to date what version answers imply, which depends on what the default profile counts as the same."""
    with transaction.atomic():
        lock_review()
        ends = Link.objects.filter(kind__in=LINKS_BY_PROFILE, decision__undone_by=None).values_list("left", "right")
        if articles := {end for pair in ends for end in pair}:
            read_each(*implications(articles, KnownConstraints()))


def _tied_to(articles: Collection[int], known: KnownConstraints) -> tuple[set[int], dict[int, int]]:
    """Return these articles and all that must-links in force tie them to, or tied them to before the last decision.

    With them, the stored groups: the first article of each that is in one.
    """
    reached: set[int] = set()
    stored: dict[int, int] = {}
    frontier = set(articles)
    while frontier:
        reached |= frontier
        stored |= known.tied(frontier)
        ends = {end for pair in known.on(frontier).must for end in pair}
        frontier = (ends | stored.keys()) - reached
    return reached, stored


def _separate(firsts: Mapping[int, int], cannot: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return which groups these cannot-links separate, each named by its first article."""
    tied = set(firsts.values())
    return {
        (min(one, other), max(one, other))
        for one, other in ((firsts.get(left, left), firsts.get(right, right)) for left, right in cannot)
        # Where both are single articles, the link itself says it.
        if one != other and (one in tied or other in tied)
    }

"""What decisions in force imply for other articles: the closure of must-links, and what cannot-links separate."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

from django.db import connection, transaction

from dedup.clustering.constraints import constraints_in_force, lock_review, with_pair_state
from dedup.models import ConfirmedArticle, Link, SeparateArticles

_BATCH = 5_000
# A pair's state depends on the decisions on its two articles and on those that they are tied to.
_STATES_SQL = with_pair_state(
    """
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
""",
    of="pair",
)


def update_implications(articles: Collection[int]) -> None:
    """Bring up to date what decisions imply about these articles and all that they are, or were, tied to.

    Call it in the transaction that stores the decision, after `lock_review`. Pairs get their states; clusters are
    rebuilt elsewhere.
    """
    reached = _tied_to(articles)
    groups = _groups(constraints_in_force(reached).must)
    ConfirmedArticle.objects.filter(article__in=reached).delete()
    rows = (ConfirmedArticle(article_id=each, first=min(group)) for group in groups for each in group)
    while batch := list(islice(rows, _BATCH)):
        ConfirmedArticle.objects.bulk_create(batch)
    _update_separations(reached)
    with connection.cursor() as cursor:
        cursor.execute(_STATES_SQL, {"articles": list(reached)})


def update_version_implications() -> None:
    """Bring up to date what version answers imply, which depends on whether the default profile joins versions."""
    with transaction.atomic():
        lock_review()
        ends = Link.objects.filter(kind=Link.Kind.VERSION, decision__undone_by=None).values_list("left", "right")
        if articles := {end for pair in ends for end in pair}:
            update_implications(articles)


def _tied_to(articles: Collection[int]) -> set[int]:
    """Return these articles and all that must-links in force tie them to, or tied them to before the last decision."""
    reached: set[int] = set()
    frontier = set(articles)
    while frontier:
        reached |= frontier
        firsts = ConfirmedArticle.objects.filter(article__in=frontier).values("first").distinct()
        ends = set(ConfirmedArticle.objects.filter(first__in=firsts).values_list("article", flat=True))
        ends |= {end for pair in constraints_in_force(frontier).must for end in pair}
        frontier = ends - reached
    return reached


def _groups(pairs: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Return the connected components of these pairs."""
    group_of: dict[int, set[int]] = {}
    for pair in pairs:
        fewer, more = sorted((group_of.setdefault(each, {each}) for each in pair), key=len)
        if fewer is not more:
            more |= fewer
            group_of.update(dict.fromkeys(fewer, more))
    return list({id(group): group for group in group_of.values()}.values())


def _update_separations(reached: Collection[int]) -> None:
    """Store which groups cannot-links separate, of those with an article that was reached."""
    cannot = constraints_in_force(reached).cannot
    ends = {end for pair in cannot for end in pair}
    firsts = dict(ConfirmedArticle.objects.filter(article__in=ends).values_list("article", "first"))
    separate = {
        (min(one, other), max(one, other))
        for one, other in ((firsts.get(left, left), firsts.get(right, right)) for left, right in cannot)
        if one != other
    }
    tied = set(firsts.values())
    # By its lowest id, a group that was reached is named by an article that was reached, also as it was before.
    SeparateArticles.objects.filter(one__in=reached).delete()
    SeparateArticles.objects.filter(other__in=reached).delete()
    # Where both are single articles, the link itself says it.
    rows = [SeparateArticles(one=one, other=other) for one, other in sorted(separate) if one in tied or other in tied]
    SeparateArticles.objects.bulk_create(rows, batch_size=_BATCH)

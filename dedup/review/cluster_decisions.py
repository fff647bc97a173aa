"""Decisions on parts of clusters: splitting one in two, and merging two into one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise, product
from typing import Any

from django.db import connection, transaction

from dedup.detection.clustering.constraints import constraints_in_force, lock_review
from dedup.detection.clustering.rebuild import loose_parts
from dedup.detection.clustering.ties import Tie, parts_of
from dedup.models import Cluster, Decision, Link, Pair
from dedup.review.decisions import ReviewError, append_decision, in_order, members_as_seen, members_of

# Every article of one part gets a link with every article of the other.
MAX_PARTED = 45_000


def split_cluster(
    cluster_id: int, part: Collection[int], seen: Collection[int] | str, *, user: Any, note: str = ""
) -> Decision:
    """Append that these articles of a cluster are no duplicates of the others; each part stays together.

    `seen` as for confirm_cluster. Raises ReviewError.
    """
    with transaction.atomic():
        lock_review()
        members = members_as_seen(cluster_id, seen)
        one = sorted(set(part))
        other = sorted(set(members) - set(one))
        _check_parts(cluster_id, one, other, members)
        confirmed = Cluster.objects.filter(pk=cluster_id, state=Cluster.State.CONFIRMED).exists()
        tie = Link.Kind.MUST if confirmed else Link.Kind.STAY
        links = {ends: tie for side in (one, other) for ends in pairwise(loose_parts(side, confirmed=confirmed))}
        links |= {in_order(*ends): Link.Kind.CANNOT for ends in product(one, other)}
        decision = Decision(kind=Decision.Kind.SPLIT_CLUSTER, cluster_number=cluster_id, articles=members)
        return append_decision(decision, links, user=user, note=note)


def _check_parts(cluster_id: int, one: list[int], other: list[int], members: list[int]) -> None:
    if strangers := sorted(set(one) - set(members)):
        raise ReviewError(f"Article {strangers[0]} is not in cluster {cluster_id}. Look again.")
    if not one or not other:
        raise ReviewError(
            f"You ticked {len(one)} of {len(members):,} articles; to split a cluster, tick at least one and not all."
        )
    if len(one) * len(other) > MAX_PARTED:
        raise ReviewError(
            f"The parts have {len(one):,} and {len(other):,} articles, which is {len(one) * len(other):,} pairs; at "
            f"most {MAX_PARTED:,} can be separated at once. Tick fewer articles."
        )


def merge_clusters(
    cluster_id: int, other_id: int, seen: Collection[int] | str, *, user: Any, note: str = ""
) -> Decision:
    """Append that two clusters are one: their kept articles are duplicates, and all stored pairs between them.

    Decisions that say otherwise of these pairs are overridden. `seen` has the articles of the first cluster, as for
    confirm_cluster. Raises ReviewError.
    """
    with transaction.atomic():
        lock_review()
        if cluster_id == other_id:
            raise ReviewError(f"Cluster {cluster_id} cannot be merged with itself; name another cluster.")
        one, other = members_as_seen(cluster_id, seen), members_of(other_id)
        kept = Cluster.objects.in_bulk([cluster_id, other_id])
        links = dict.fromkeys([*_held(one), *_held(other)], Link.Kind.STAY)
        between = [*_stored_between(one, other), in_order(kept[cluster_id].kept_id, kept[other_id].kept_id)]
        links |= dict.fromkeys(between, Link.Kind.MUST)
        decision = Decision(
            kind=Decision.Kind.MERGE_CLUSTERS, cluster_number=cluster_id, articles=sorted({*one, *other})
        )
        return append_decision(decision, links, user=user, note=note)


def _stored_between(one: Collection[int], other: Collection[int]) -> list[tuple[int, int]]:
    """Return the pairs between two clusters that a pass found or a decision keeps apart."""
    found = [*Pair.objects.filter(left__in=one, right__in=other).values_list("left", "right")]
    found += Pair.objects.filter(left__in=other, right__in=one).values_list("left", "right")
    first, second = set(one), set(other)
    return found + [
        (left, right)
        for left, right in constraints_in_force(one).cannot
        if (left in first and right in second) or (left in second and right in first)
    ]


_SPOKEN_OF_SQL = """
SELECT left_id, right_id
FROM dedup_standing_link
WHERE left_id = ANY (%(articles)s::bigint[]) AND right_id = ANY (%(articles)s::bigint[])
"""


def _held(members: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the links that hold the articles of a cluster together, whatever else joins them; decisions hold some.

    They leave alone, if possible, the pairs of which a decision in force says anything.
    """
    inside = set(members)
    constraints = constraints_in_force(members)
    ties = [Tie(*ends, 1.0) for ends in (*constraints.must, *constraints.stay) if inside.issuperset(ends)]
    firsts = [part[0] for part in parts_of(members, ties, at_most=0)]
    with connection.cursor() as cursor:
        cursor.execute(_SPOKEN_OF_SQL, {"articles": members})
        spoken_of = set(cursor.fetchall())
    for place, article in enumerate(firsts[1:], 1):
        before = ((first, article) for first in reversed(firsts[:place]))
        yield next((ends for ends in before if ends not in spoken_of), (firsts[place - 1], article))

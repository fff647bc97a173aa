"""Decisions on parts of clusters: splitting one in two, merging two into one; and what a decision would do.

For its preview, a decision is made, looked at, and rolled back.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import product
from typing import Any, NamedTuple

from django.db import transaction

from articles.models import Article
from articles.normalization.times import publication_order
from dedup.answers import Effect, with_effect
from dedup.detection.clustering.components import Tie, parts_of
from dedup.detection.clustering.constraints import constraints_in_force
from dedup.models import Cluster, Decision, Link, Membership, Pair
from dedup.models.base import read_rows
from dedup.review.answers.decisions import (
    ReviewError,
    append_decision,
    cluster_of,
    in_order,
    locked_review,
    members_as_seen,
    members_of,
    ties_within,
)
from dedup.review.answers.history import with_actors

# Every article of one part gets a link with every article of the other.
MAX_PARTED = 45_000


def split_cluster(cluster_id: int, tick: Collection[int], seen: str, *, user: Any, note: str = "") -> Decision:
    """Append that the ticked articles of a cluster are no duplicates of the others; each part stays together.

    `seen` as for confirm_cluster. Raises ReviewError.
    """
    with locked_review():
        members = members_as_seen(cluster_id, seen)
        one = sorted(set(tick))
        other = sorted(set(members) - set(one))
        _check_parts(cluster_id, one, other, members)
        links = ties_within(cluster_id, one, other)
        links |= {in_order(*ends): Link.Kind.CANNOT for ends in product(one, other)}
        decision = Decision(kind=Decision.Kind.SPLIT_CLUSTER, cluster_number=cluster_id, articles=members)
        return append_decision(decision, links, user=user, note=note)


def _check_parts(cluster_id: int, one: list[int], other: list[int], members: list[int]) -> None:
    if outside := sorted(set(one) - set(members)):
        raise ReviewError(f"Article {outside[0]} is not in cluster {cluster_id}. Look again.")
    if not one or not other:
        raise ReviewError(
            f"You ticked {len(one)} of {len(members):,} articles; to split a cluster, tick at least one and not all."
        )
    if len(one) * len(other) > MAX_PARTED:
        raise ReviewError(
            f"The parts have {len(one):,} and {len(other):,} articles, which is {len(one) * len(other):,} pairs; at "
            f"most {MAX_PARTED:,} can be separated at once. Tick fewer articles."
        )


def merge_clusters(cluster_id: int, other: int, seen: str, *, user: Any, note: str = "") -> Decision:
    """Append that two clusters are one: their kept articles are duplicates, and all stored pairs between them.

    Decisions that say otherwise of these pairs are overridden. `seen` is of the first cluster, as for confirm_cluster.
    Raises ReviewError.
    """
    with locked_review():
        if cluster_id == other:
            raise ReviewError(f"Cluster {cluster_id} cannot be merged with itself; name another cluster.")
        members, others = members_as_seen(cluster_id, seen), members_of(other)
        kept = [cluster.kept_id for cluster in Cluster.objects.in_bulk([cluster_id, other]).values()]
        links: dict[tuple[int, int], str] = dict.fromkeys([*_held(members), *_held(others)], Link.Kind.STAY)
        links |= dict.fromkeys([*_stored_between(members, others), in_order(*kept)], Link.Kind.MUST)
        every = sorted({*members, *others})
        decision = Decision(kind=Decision.Kind.MERGE_CLUSTERS, cluster_number=cluster_id, articles=every)
        return append_decision(decision, links, user=user, note=note)


def _stored_between(one: Collection[int], other: Collection[int]) -> list[tuple[int, int]]:
    """Return the pairs between two clusters that a pass found or a decision keeps apart."""
    found = [*Pair.objects.filter(left__in=one, right__in=other).values_list("left", "right")]
    found += Pair.objects.filter(left__in=other, right__in=one).values_list("left", "right")
    first, second = set(one), set(other)
    apart = constraints_in_force(one).cannot
    return found + [ends for ends in apart if first.intersection(ends) and second.intersection(ends)]


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
    spoken_of = set(read_rows(_SPOKEN_OF_SQL, articles=members))
    for place, article in enumerate(firsts[1:], 1):
        before = ((first, article) for first in reversed(firsts[:place]))
        yield next((ends for ends in before if ends not in spoken_of), (firsts[place - 1], article))


ARTICLES_SHOWN = 30
DECISIONS_SHOWN = 20


class Together(NamedTuple):
    """Articles that would be one cluster, by publication, or that would be in none. `number`: None if it is new."""

    articles: list[Article]
    size: int
    number: int | None = None
    kept_id: int | None = None
    confirmed: bool = False

    @property
    def left_out(self) -> int:
        """How many articles are not listed."""
        return self.size - len(self.articles)


class Preview(NamedTuple):
    """The clusters after a decision, the largest first, the articles in none, and the decisions it contradicts."""

    clusters: list[Together]
    alone: Together
    overridden: list[tuple[Decision, int]]  # each for so many pairs of articles
    overridden_left_out: int
    pairs_decided: int


def preview(act: Callable[[], Decision], articles: Collection[int]) -> Preview:
    """Return what a decision would do to these articles and those that it is about; nothing is stored."""
    with transaction.atomic():
        known = set(Membership.objects.filter(article__in=articles).values_list("cluster", flat=True))
        decision = act()
        of = cluster_of(decision.articles)
        clusters = Cluster.objects.filter(pk__in=set(of.values())).order_by("-size", "pk")
        overridden = _overridden(decision)
        alone = [article for article in decision.articles if article not in of]
        result = Preview(
            clusters=[_together(cluster, known) for cluster in clusters],
            alone=Together(_articles(alone), len(alone)),
            overridden=overridden[:DECISIONS_SHOWN],
            overridden_left_out=max(len(overridden) - DECISIONS_SHOWN, 0),
            pairs_decided=decision.links.filter(kind__in=("must", "cannot")).count(),
        )
        transaction.set_rollback(True)
    return result


def _together(cluster: Cluster, known: Collection[int]) -> Together:
    members = list(Membership.objects.filter(cluster=cluster).values_list("article", flat=True))
    number = cluster.pk if cluster.pk in known else None
    confirmed = cluster.state == Cluster.State.CONFIRMED
    return Together(_articles(members), cluster.size, number, cluster.kept_id, confirmed)


def _articles(ids: Collection[int]) -> list[Article]:
    """Return the first of these articles to be published, without their texts."""
    found = Article.objects.filter(pk__in=ids)
    order = publication_order(found.order_by().values_list("pk", "date", "published_at"))[:ARTICLES_SHOWN]
    shown = found.without_texts().select_related("newspaper").in_bulk(order)
    return [shown[pk] for pk in order]


# The latest earlier link in force of each two articles of which the decision says something. Uses index link_latest.
_OVERRIDDEN_SQL = """
SELECT earlier.decision_id, count(*)
FROM dedup_link AS link
CROSS JOIN LATERAL (
    SELECT before.decision_id, before.kind
    FROM dedup_link AS before
    WHERE before.left_id = link.left_id AND before.right_id = link.right_id AND before.decision_id < link.decision_id
        AND NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = before.decision_id)
    ORDER BY before.decision_id DESC
    LIMIT 1
) AS earlier
WHERE link.decision_id = %(decision)s AND link.kind IN ('must', 'cannot')
    AND earlier.kind <> ALL (%(silent)s) AND (earlier.kind = 'must') <> (link.kind = 'must')
GROUP BY earlier.decision_id
ORDER BY earlier.decision_id DESC
"""


# Links that say nothing of whether two articles are duplicates.
_SILENT = [Link.Kind.STAY, *(answer.link for answer in with_effect(Effect.NONE))]


def _overridden(decision: Decision) -> list[tuple[Decision, int]]:
    pairs = dict(read_rows(_OVERRIDDEN_SQL, decision=decision.pk, silent=_SILENT))
    made = with_actors(Decision.objects.select_related("pair__left", "pair__right")).in_bulk(pairs)
    return [(made[number], pairs[number]) for number in pairs]

"""The writer of decisions: each act of an editor is appended to the history, and pairs and clusters follow.

Nothing is ever changed or removed: a later decision on the same two articles replaces the earlier one, and an undo is a
decision too. Pair.state and the clusters are derived from the decisions in force.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations, pairwise
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from dedup.clustering.constraints import lock_review, with_pair_state
from dedup.clustering.rebuild import loose_parts, rebuild_clusters
from dedup.models import Cluster, Decision, Link, Membership, Pair

_PAIR_LINKS = {
    Decision.Kind.CONFIRM: Link.Kind.MUST,
    Decision.Kind.REJECT: Link.Kind.CANNOT,
    Decision.Kind.UNSURE: Link.Kind.UNSURE,
}
MAX_NOTE_CHARACTERS = 2_000
# Every two of them get a link of their own: 45,000 links.
MAX_DISSOLVED = 300


class ReviewError(ValueError):
    """A decision that cannot be taken; the message is for the editor."""


class StaleClusterError(ReviewError):
    """The cluster is no longer what the editor saw."""


class AlreadyDecidedError(ReviewError):
    """Somebody else has decided on the pair since the editor opened it."""


class AlreadyUndoneError(ReviewError):
    """The decision has been undone before."""


def decide_pair(pair_id: int, kind: str, *, user: Any, note: str = "", seen: int | None = None) -> Decision:
    """Append that the editor confirms, rejects or leaves open a pair. Raises ReviewError.

    `seen` is the number of the latest decision that the editor saw (0: there was none); where another one has
    come since, AlreadyDecidedError says who took it. None: whatever has been decided is overruled.
    """
    if kind not in _PAIR_LINKS:
        raise ReviewError(f"A pair cannot be decided with {kind!r}; use one of {', '.join(_PAIR_LINKS)}.")
    with transaction.atomic():
        lock_review()
        pair = Pair.objects.filter(pk=pair_id).first()
        if pair is None:
            raise ReviewError(f"There is no pair {pair_id}.")
        latest = decisions_on(pair).select_related("decided_by").order_by("-pk").first()
        if seen is not None and latest is not None and latest.pk > seen:
            raise AlreadyDecidedError(
                f"Meanwhile {latest.decided_by} {latest.get_kind_display()} "
                f"({latest.decided_at:%H:%M}, decision {latest.pk}). Look again, and decide anew if you differ."
            )
        ends = (pair.left_id, pair.right_id)
        link_kind = _PAIR_LINKS[Decision.Kind(kind)]
        return _append(Decision(kind=kind, pair=pair, articles=list(ends)), {ends: link_kind}, user=user, note=note)


def decisions_on(pair: Pair) -> QuerySet[Decision]:
    """Return the decisions on a pair, and those on a cluster that said something of its two articles."""
    said = Link.objects.filter(decision=OuterRef("pk"), left=pair.left_id, right=pair.right_id)
    return Decision.objects.filter(Q(pair=pair) | Exists(said))


def confirm_cluster(cluster_id: int, article_ids: Collection[int], *, user: Any, note: str = "") -> Decision:
    """Append that all articles of a cluster are duplicates of each other.

    `article_ids` are the articles as the editor saw them. Raises StaleClusterError when they differ by now.
    """
    with transaction.atomic():
        lock_review()
        members = _members_as_seen(cluster_id, article_ids)
        # A link to the first one ties each article; all pairs would be half a million of 1,000 articles.
        found = Pair.objects.among(members).order_by().values_list("left", "right")
        links = dict.fromkeys([*((members[0], each) for each in members[1:]), *found], Link.Kind.MUST)
        decision = Decision(kind=Decision.Kind.CONFIRM_CLUSTER, cluster_number=cluster_id, articles=members)
        return _append(decision, links, user=user, note=note)


def reject_cluster(cluster_id: int, article_ids: Collection[int], *, user: Any, note: str = "") -> Decision:
    """Append that no two articles of a cluster are duplicates: a template, or what was left of unlike articles.

    `article_ids` as for confirm_cluster. Raises ReviewError for more than MAX_DISSOLVED articles.
    """
    with transaction.atomic():
        lock_review()
        members = _members_as_seen(cluster_id, article_ids)
        if len(members) > MAX_DISSOLVED:
            raise ReviewError(
                f"The cluster has {len(members):,} articles; at most {MAX_DISSOLVED} are dissolved at once. "
                "Have a stricter profile find it anew."
            )
        links = dict.fromkeys(combinations(members, 2), Link.Kind.CANNOT)
        decision = Decision(kind=Decision.Kind.REJECT_CLUSTER, cluster_number=cluster_id, articles=members)
        return _append(decision, links, user=user, note=note)


def take_out(cluster_id: int, article_id: int, *, user: Any, note: str = "") -> Decision:
    """Append that one article is no duplicate of the others of its cluster, which stay together. Raises ReviewError."""
    with transaction.atomic():
        lock_review()
        members = _members_with(cluster_id, article_id)
        confirmed = Cluster.objects.filter(pk=cluster_id, state=Cluster.State.CONFIRMED).exists()
        others = [each for each in members if each != article_id]
        # Where the others hung together by this article alone, they are tied to each other.
        tie = Link.Kind.MUST if confirmed else Link.Kind.STAY
        links = dict.fromkeys(pairwise(loose_parts(others, confirmed=confirmed)), tie)
        links |= {_in_order(article_id, each): Link.Kind.CANNOT for each in others}
        decision = Decision(
            kind=Decision.Kind.TAKE_OUT, cluster_number=cluster_id, articles=members, article_id=article_id
        )
        return _append(decision, links, user=user, note=note)


def keep_article(cluster_id: int, article_id: int, *, user: Any, note: str = "") -> Decision:
    """Append which article stands for its cluster. Raises ReviewError."""
    with transaction.atomic():
        lock_review()
        members = _members_with(cluster_id, article_id)
        decision = Decision(kind=Decision.Kind.KEEP, cluster_number=cluster_id, articles=members, article_id=article_id)
        return _append(decision, {}, user=user, note=note)


def undo(decision_id: int, *, user: Any, note: str = "") -> Decision:
    """Append that a decision is undone; the one before it is in force again. Raises AlreadyUndoneError."""
    with transaction.atomic():
        lock_review()
        undone = Decision.objects.filter(pk=decision_id).first()
        if undone is None:
            raise ReviewError(f"There is no decision {decision_id}.")
        if undone.kind == Decision.Kind.UNDO:
            raise ReviewError("An undo is not undone; decide anew instead.")
        if Decision.objects.filter(undoes=undone).exists():
            raise AlreadyUndoneError(f"Decision {decision_id} has been undone before.")
        decision = Decision(
            kind=Decision.Kind.UNDO,
            undoes=undone,
            pair_id=undone.pair_id,
            cluster_number=undone.cluster_number,
            articles=undone.articles,
            article_id=undone.article_id,
        )
        return _append(decision, {}, user=user, note=note)


def _append(decision: Decision, links: dict[tuple[int, int], Link.Kind], *, user: Any, note: str) -> Decision:
    """Store a decision with its links, and let pair states and clusters follow."""
    if len(note) > MAX_NOTE_CHARACTERS:
        raise ReviewError(f"The note has {len(note):,} characters; at most {MAX_NOTE_CHARACTERS:,} are kept.")
    decision.decided_by = user
    decision.note = note.replace("\0", "").strip()
    decision.save(force_insert=True)
    Link.objects.bulk_create(
        [Link(decision=decision, left_id=left, right_id=right, kind=kind) for (left, right), kind in links.items()],
        batch_size=5000,
    )
    rebuild_clusters(decision.articles)
    _update_states(decision.articles)
    return decision


# Of the pairs among some articles and those that share a cluster with them.
_STATES_SQL = with_pair_state(
    """
WITH concerned AS MATERIALIZED (
    SELECT unnest(%(articles)s::bigint[]) AS article_id
    UNION
    SELECT other.article_id
    FROM dedup_membership AS own
    JOIN dedup_membership AS other ON other.cluster_id = own.cluster_id
    WHERE own.article_id = ANY (%(articles)s)
), decided AS (
    SELECT pair.id, {state} AS state
    FROM dedup_pair AS pair
    {state_joins}
    WHERE pair.left_id IN (SELECT article_id FROM concerned) AND pair.right_id IN (SELECT article_id FROM concerned)
)
UPDATE dedup_pair AS pair
SET state = decided.state
FROM decided
WHERE decided.id = pair.id AND pair.state <> decided.state
""",
    of="pair",
)


def _update_states(articles: Iterable[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_STATES_SQL, {"articles": list(articles)})


def _members(cluster_id: int) -> list[int]:
    if not Cluster.objects.filter(pk=cluster_id).exists():
        raise StaleClusterError(f"Cluster {cluster_id} is no longer there; its articles were clustered anew.")
    return sorted(Membership.objects.filter(cluster=cluster_id).values_list("article", flat=True))


def _members_as_seen(cluster_id: int, article_ids: Collection[int]) -> list[int]:
    members = _members(cluster_id)
    if set(article_ids) != set(members):
        raise StaleClusterError(
            f"The articles of cluster {cluster_id} have changed since you opened it "
            f"(you saw {len(set(article_ids))}, there are {len(members)} now). Look again."
        )
    return members


def _members_with(cluster_id: int, article_id: int) -> list[int]:
    members = _members(cluster_id)
    if article_id not in members:
        raise StaleClusterError(f"Article {article_id} is no longer in cluster {cluster_id}. Look again.")
    return members


def _in_order(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first < second else (second, first)

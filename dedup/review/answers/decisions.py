"""The writer of decisions: appends each decision of an editor to the history, and updates pairs and clusters.

Decisions are never changed or removed: a later decision on the same two articles overrides the earlier one, and an undo
is a decision too. The states of pairs and the clusters are derived from the decisions in force.

A pair that an editor declares has no evidence, and so a best score of 0: it is never in the queue, and only the
decision on it joins its articles. Runs leave it as it is, unless a pass finds it later.
"""

import datetime
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations, pairwise
from typing import Any, LiteralString

from django.db import connection, transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from articles.models import Article
from articles.numbers import read_number
from articles.storage.fingerprints import fingerprint
from dedup.answers import Answer
from dedup.detection.clustering.constraints import KnownConstraints, constraints_in_force, implications, lock_review
from dedup.detection.clustering.questions import renewed_questions
from dedup.detection.clustering.rebuild import loose_parts, rebuild_clusters
from dedup.detection.judging.judge import JudgedRow
from dedup.models import Cluster, Decision, DenseGroup, GroupMember, Link, Membership, Pair
from dedup.models.base import read_each, read_rows
from dedup.models.decisions import KEEPS, OF_CLUSTERS

# The fields that say what a decision is about, besides its pair.
_ABOUT = ("cluster_number", "group_number", "article_id", "articles")
_REPEATABLE = (*OF_CLUSTERS.values(), Decision.Kind.CONFIRM_GROUP, *KEEPS)
# The same decision of the same editor counts as sent again for so long.
SENT_AGAIN_WITHIN = datetime.timedelta(hours=1)
MAX_NOTE_CHARACTERS = 2_000
# Every two articles get a link: 300 articles make 45,000 links.
MAX_DISSOLVED = 300


class ReviewError(ValueError):
    """A decision cannot be made; the message is for the editor."""


class StaleClusterError(ReviewError):
    """The cluster, or the dense group, has changed since the editor saw it."""


class AlreadyDecidedError(ReviewError):
    """Someone else has decided on the pair, or the cluster, since the editor opened it: `decision`."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(
            f"{decision.decided_by} {decision.get_kind_display()} after you opened it "
            f"({decision.decided_at:%H:%M}, decision {decision.pk}). Look again, and decide again if you disagree."
        )
        self.decision = decision


class AlreadyUndoneError(ReviewError):
    """The decision has already been undone."""


@contextmanager
def locked_review() -> Iterator[None]:
    """Run the lines inside in a transaction, during which nobody else decides."""
    with transaction.atomic():
        lock_review()
        yield


def checked_note(note: str) -> str:
    """Return a note as it is stored. Raises ReviewError if it is too long."""
    if len(note) > MAX_NOTE_CHARACTERS:
        raise ReviewError(f"The note has {len(note):,} characters; at most {MAX_NOTE_CHARACTERS:,} are allowed.")
    return plain_note(note)


def plain_note(note: str) -> str:
    """Return a note without what cannot be stored and surrounding blanks."""
    return note.replace("\0", "").strip()


def decide_pair(pair_id: int, kind: str, *, user: Any, note: str = "", seen: int | None = None) -> Decision:
    """Append what two articles are to the editor: an Answer. Raises ReviewError.

    `seen` is the id of the latest decision that the editor saw, 0 for none. If there is a newer one,
    AlreadyDecidedError says who made it. With None, earlier decisions are overridden without a check.
    """
    if kind not in list(Answer):
        raise ReviewError(f"A pair cannot be decided with {kind!r}; use one of {', '.join(Answer)}.")
    with locked_review():
        found = read_rows(_LATEST_ON_SQL, pair=pair_id)
        if not found:
            raise ReviewError(f"There is no pair {pair_id}.")
        ((*ends, latest),) = found
        if seen is not None and latest > seen:
            raise AlreadyDecidedError(Decision.objects.select_related("decided_by").get(pk=latest))
        decision = Decision(kind=kind, pair_id=pair_id, articles=ends)
        return append_decision(decision, {tuple(ends): Answer(kind).link}, user=user, note=note)


def decisions_on(pair: Pair) -> QuerySet[Decision]:
    """Return the decisions on a pair, and those on clusters that link its two articles."""
    said = Link.objects.filter(left=pair.left_id, right=pair.right_id).order_by().values("decision")
    # As a union, each part is looked up by its index; "one or the other" would read all decisions.
    return Decision.objects.filter(pk__in=said.union(Decision.objects.filter(pair=pair).order_by().values("pk")))


# The same decisions. From the index link_latest.
_LATEST_ON_SQL: LiteralString = """
SELECT left_id, right_id, coalesce(greatest(
    (SELECT max(decision_id) FROM dedup_link WHERE (left_id, right_id) = (pair.left_id, pair.right_id)),
    (SELECT max(id) FROM dedup_decision WHERE pair_id = pair.id)
), 0)
FROM dedup_pair AS pair WHERE id = %(pair)s
"""


def latest_decision(left: int, right: int) -> int:
    """Return the number of the latest decision that links two articles, in order of id; 0 for none."""
    latest = Link.objects.filter(left=left, right=right).aggregate(latest=Max("decision"))["latest"]
    return latest or 0


def confirm_cluster(cluster_id: int, seen: str, *, user: Any, note: str = "") -> Decision:
    """Append that all articles of a cluster are duplicates of each other.

    `seen` is what seen_as says of the articles that the editor saw. Raises what members_as_seen raises.
    """
    with locked_review():
        members = members_as_seen(cluster_id, seen, user)
        # Linking each article to the first is enough; all pairs of 1,000 articles would be half a million.
        found = Pair.objects.among(members).order_by().values_list("left", "right")
        links = dict.fromkeys([*((members[0], member) for member in members[1:]), *found], Link.Kind.MUST)
        decision = Decision(kind=Decision.Kind.CONFIRM_CLUSTER, cluster_number=cluster_id, articles=members)
        return append_decision(decision, links, user=user, note=note)


def reject_cluster(
    cluster_id: int, seen: str, *, user: Any, note: str = "", answer: Answer = Answer.REJECT
) -> Decision:
    """Append that no two articles of a cluster are duplicates; or that every two are versions, or templates.

    `seen` as for confirm_cluster. Raises ReviewError for more than MAX_DISSOLVED articles.
    """
    with locked_review():
        members = members_as_seen(cluster_id, seen, user)
        if len(members) > MAX_DISSOLVED:
            raise ReviewError(
                f"The cluster has {len(members):,} articles; at most {MAX_DISSOLVED} can be dissolved, or called "
                "versions or templates. Run a stricter profile to get smaller clusters, or make a rule on its dense "
                "group, if it has one."
            )
        links = dict.fromkeys(combinations(members, 2), answer.link)
        decision = Decision(kind=OF_CLUSTERS[answer], cluster_number=cluster_id, articles=members)
        return append_decision(decision, links, user=user, note=note)


def confirm_group(group_id: int, *, seen: str, user: Any, note: str = "") -> Decision:
    """Append that all articles of a dense group are duplicates of each other, each linked to the first.

    `seen` is the fingerprint of the articles that the editor saw. Raises StaleClusterError if they have changed, and
    ReviewError if a rule or other decisions say the contrary.
    """
    with locked_review():
        group = DenseGroup.objects.filter(pk=group_id).first()
        if group is None or group.fingerprint != seen:
            raise StaleClusterError(
                f"The articles of dense group {group_id} have changed since you opened it. Look again."
            )
        if group.ruled_at:
            raise ReviewError("A rule says that the articles of this group are never duplicates. End the rule first.")
        members = sorted(GroupMember.objects.filter(group=group).values_list("article", flat=True))
        links = dict.fromkeys(((members[0], member) for member in members[1:]), Link.Kind.MUST)
        decision = Decision(kind=Decision.Kind.CONFIRM_GROUP, group_number=group_id, articles=members)
        confirmed = append_decision(decision, links, user=user, note=note)
        _refuse_contradictions(members[0])
        return confirmed


def append_batch(articles: list[int], links: Mapping[tuple[int, int], str], *, user: Any, note: str) -> Decision:
    """Append one decision on many pairs: `links` says what it is about each. batches.py makes them."""
    with locked_review():
        return append_decision(Decision(kind=Decision.Kind.BATCH, articles=articles), links, user=user, note=note)


def take_out(cluster_id: int, article: int, *, user: Any, note: str = "") -> Decision:
    """Append that an article is not a duplicate of the others in its cluster, which stay together.

    Raises ReviewError.
    """
    with locked_review():
        members = _members_with(cluster_id, article)
        others = [member for member in members if member != article]
        # If only this article connected the others, link them to each other.
        links = ties_within(cluster_id, others)
        links |= {in_order(article, other): Link.Kind.CANNOT for other in others}
        decision = Decision(
            kind=Decision.Kind.TAKE_OUT, cluster_number=cluster_id, articles=members, article_id=article
        )
        return append_decision(decision, links, user=user, note=note)


def ties_within(cluster_id: int, *parts: Collection[int]) -> dict[tuple[int, int], str]:
    """Return the links that each of these parts of a cluster needs to stay together when it is parted."""
    confirmed = Cluster.objects.filter(pk=cluster_id, state=Cluster.State.CONFIRMED).exists()
    tie = Link.Kind.MUST if confirmed else Link.Kind.STAY
    return {ends: tie for part in parts for ends in pairwise(loose_parts(part, confirmed=confirmed))}


def keep_article(
    cluster_id: int, article: int, *, user: Any, note: str = "", kind: Decision.Kind = Decision.Kind.KEEP
) -> Decision:
    """Append which article represents its cluster, or, with KEEP_TEXT, whose text does. Raises ReviewError."""
    with locked_review():
        members = _members_with(cluster_id, article)
        decision = Decision(kind=kind, cluster_number=cluster_id, articles=members, article_id=article)
        return append_decision(decision, {}, user=user, note=note)


def undo(decision_id: int, *, user: Any, note: str = "") -> Decision:
    """Append that a decision is undone; the one before it is in force again. Raises AlreadyUndoneError."""
    with locked_review():
        undone = Decision.objects.filter(pk=decision_id).first()
        if undone is None:
            raise ReviewError(f"There is no decision {decision_id}.")
        if undone.kind == Decision.Kind.UNDO:
            raise ReviewError("An undo cannot be undone; make a new decision instead.")
        if not undone.is_undoable:
            raise ReviewError("A rule cannot be undone here; end it, or make it again, on the page of its group.")
        if Decision.objects.filter(undoes=undone).exists():
            raise AlreadyUndoneError(f"Decision {decision_id} has already been undone.")
        about = {name: getattr(undone, name) for name in (*_ABOUT, "pair_id", "tombstone")}
        return append_decision(Decision(kind=Decision.Kind.UNDO, undoes=undone, **about), {}, user=user, note=note)


_COPY_LINKS_SQL = "COPY dedup_link (decision_id, left_id, right_id, kind) FROM STDIN"


def append_decision(decision: Decision, links: Mapping[tuple[int, int], str], *, user: Any, note: str) -> Decision:
    """Store a decision with its links, and update pair states and clusters."""
    decision.decided_by, decision.note = user, checked_note(note)
    if sent_before := _sent_before(decision):
        return sent_before
    decision.save(force_insert=True)
    with connection.cursor() as cursor, cursor.copy(_COPY_LINKS_SQL) as copy:
        for ends, kind in links.items():
            copy.write_row((decision.pk, *ends, kind))
    known = KnownConstraints()
    rebuilt = rebuild_clusters(decision.articles, known)
    read_each(*implications(decision.articles, known), *renewed_questions(rebuilt.articles))
    return decision


def _sent_before(decision: Decision) -> Decision | None:
    """Return the decision that this one repeats if nothing about its articles was decided in between; None if new.

    If the database is lost after it has stored a decision and before it says so, the editor sends the form again. The
    forms of pairs and the undo name what the editor saw, and refuse it themselves.
    """
    if decision.kind not in _REPEATABLE:
        return None
    said = {name: getattr(decision, name) for name in (*_ABOUT, "kind", "decided_by", "note")}
    same = Decision.objects.filter(decided_at__gte=timezone.now() - SENT_AGAIN_WITHIN, **said).first()
    if same is None or Decision.objects.filter(pk__gt=same.pk, articles__overlap=decision.articles).exists():
        return None
    return same


def _refuse_contradictions(article_id: int) -> None:
    """Raise ReviewError if decisions in force keep apart two articles of this article's cluster."""
    members = set(Membership.objects.filter(cluster__memberships__article=article_id).values_list("article", flat=True))
    parted = [ends for ends in constraints_in_force(members).cannot if members.issuperset(ends)]
    if not parted:
        return
    left, right = parted[0]
    said = Link.objects.filter(left=left, right=right, decision__undone_by=None).order_by("-decision").first()
    by = f"Decision {said.decision_id}" if said else "A decision"
    others = len(parted) - 1
    more = f" (and {others:,} more {'pair is' if others == 1 else 'pairs are'} kept apart)" if others else ""
    raise ReviewError(
        f"{by} says that articles {left} and {right} are not duplicates{more}. Undo this first, or decide on the pairs "
        "and clusters of the group one by one."
    )


def members_of(cluster_id: int) -> list[int]:
    """Return the articles of a cluster, ascending. Raises StaleClusterError if it is gone."""
    if not Cluster.objects.filter(pk=cluster_id).exists():
        raise StaleClusterError(f"Cluster {cluster_id} no longer exists; its articles have been clustered again.")
    return sorted(Membership.objects.filter(cluster=cluster_id).values_list("article", flat=True))


def cluster_of(articles: Collection[int]) -> dict[int, int]:
    """Return the cluster of each of these articles that is in one."""
    return dict(Membership.objects.filter(article__in=articles).order_by().values_list("article", "cluster"))


def seen_as(article_ids: Collection[int], after: int | None = None) -> str:
    """Return the number and the fingerprint of the articles of a cluster, short enough for a form.

    With the number of the latest decision `after`, what others decide later on these articles counts as unseen.
    """
    seen = f"{len(article_ids)}-{fingerprint(sorted(article_ids))}"
    return seen if after is None else f"{seen}_{after}"


def members_as_seen(cluster_id: int, seen: str, user: Any = None) -> list[int]:
    """Return the articles of a cluster if they are those that this user saw.

    Raises StaleClusterError, and AlreadyDecidedError if others have decided on two of them unseen.
    """
    members, (shown, _, after) = members_of(cluster_id), seen.partition("_")
    if shown != seen_as(members):
        raise StaleClusterError(
            f"The articles of cluster {cluster_id} have changed since you opened it "
            f"(you saw {seen.partition('-')[0]}, now there are {len(members)}). Look again."
        )
    said = Link.objects.filter(left__in=members, right__in=members, decision__undone_by=None)
    others = said.exclude(kind=Link.Kind.STAY).exclude(decision__decided_by=user).select_related("decision")
    if after and (latest := others.filter(decision__gt=read_number(after) or 0).order_by("-decision").first()):
        raise AlreadyDecidedError(latest.decision)
    return members


def _members_with(cluster_id: int, article_id: int) -> list[int]:
    members = members_of(cluster_id)
    if article_id not in members:
        raise StaleClusterError(f"Article {article_id} is no longer in cluster {cluster_id}. Look again.")
    return members


def in_order(first: int, second: int) -> tuple[int, int]:
    """Return two article ids as links and pairs store them."""
    return (first, second) if first < second else (second, first)


def declare_pair(
    left: Article, right: Article, kind: str, *, judged: JudgedRow, user: Any, note: str = "", seen: int | None = None
) -> Decision:
    """Append an editor's decision on two articles, and make them a pair with this verdict if they are none.

    `kind`, `note` and `seen` as for decide_pair. Raises ReviewError, and then there is no new pair.
    """
    if left.pk == right.pk:
        raise ReviewError(f"Both are article {left.pk}; choose two articles.")
    first, second = sorted((left, right), key=lambda article: article.pk)
    with locked_review():
        pair, _ = Pair.objects.get_or_create(
            left=first,
            right=second,
            defaults={
                **{name: getattr(judged, name) for name in JudgedRow._fields if name != "id"},
                "reasons": json.loads(judged.reasons),
                "days_apart": abs((first.date - second.date).days),
                "same_newspaper": first.newspaper_id == second.newspaper_id,
            },
        )
        return decide_pair(pair.pk, kind, user=user, note=note, seen=seen)

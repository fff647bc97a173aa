"""What a decision on clusters would do: it is made, looked at, and rolled back."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.db import connection, transaction

from articles.models import Article
from articles.normalization.times import publication_order
from dedup.answers import Effect, with_effect
from dedup.models import Cluster, Decision, Link, Membership
from dedup.review.queries.history import with_actors

ARTICLES_SHOWN = 30
DECISIONS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Together:
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


@dataclass(frozen=True, slots=True)
class Overridden:
    """A decision in force of which the new one says the contrary, for so many pairs of articles."""

    decision: Decision
    pairs: int


@dataclass(frozen=True)
class Preview:
    """The clusters after a decision, the largest first, the articles in none, and the decisions it contradicts."""

    clusters: list[Together]
    alone: Together
    overridden: list[Overridden]
    overridden_left_out: int
    pairs_decided: int


def preview(act: Callable[[], Decision], articles: Collection[int]) -> Preview:
    """Return what a decision would do to these articles and those that it is about; nothing is stored."""
    with transaction.atomic():
        known = set(Membership.objects.filter(article__in=articles).values_list("cluster", flat=True))
        decision = act()
        result = _result(decision, known)
        transaction.set_rollback(True)
    return result


def _result(decision: Decision, known: Collection[int]) -> Preview:
    of = dict(Membership.objects.filter(article__in=decision.articles).values_list("article", "cluster"))
    clusters = Cluster.objects.filter(pk__in=set(of.values())).order_by("-size", "pk")
    overridden = _overridden(decision)
    alone = [article for article in decision.articles if article not in of]
    return Preview(
        clusters=[_together(cluster, known) for cluster in clusters],
        alone=Together(_articles(alone), len(alone)),
        overridden=overridden[:DECISIONS_SHOWN],
        overridden_left_out=max(len(overridden) - DECISIONS_SHOWN, 0),
        pairs_decided=decision.links.filter(kind__in=("must", "cannot")).count(),
    )


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


def _overridden(decision: Decision) -> list[Overridden]:
    with connection.cursor() as cursor:
        cursor.execute(_OVERRIDDEN_SQL, {"decision": decision.pk, "silent": _SILENT})
        pairs = dict(cursor.fetchall())
    made = with_actors(Decision.objects.select_related("pair__left", "pair__right")).in_bulk(pairs)
    return [Overridden(made[number], pairs[number]) for number in pairs]

"""The page of a pair, and the comparison of any two articles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import LiteralString, NamedTuple

from django.db import connection
from django.db.models import prefetch_related_objects

from articles.models import Article, in_order
from dedup.answers import PARTING
from dedup.detection.clustering.doubts import Doubt, doubts_of_pair
from dedup.detection.comparison.differences import Differences, Segment, compare_headlines, compare_texts
from dedup.detection.comparison.evidence_marks import NO_MARKS, PairMarks
from dedup.detection.comparison.highlighting import MarkedText, Passage, passages
from dedup.models import Decision, DenseGroup, Evidence, Membership, Pair, Series, Verdict
from dedup.review.decisions import decisions_on
from dedup.review.declared_pairs import declaration_among
from dedup.review.implied import implied_by
from dedup.review.queries.boilerplate import compared_texts
from dedup.review.queries.conflicts import Conflict, conflict_between
from dedup.review.queries.history import with_actors
from dedup.review.queries.series import series_of_both


@dataclass(frozen=True)
class ClustersOf:
    """The cluster ids of two articles, and whether both are in the same cluster."""

    left: int | None
    right: int | None
    shared: bool


@dataclass(frozen=True)
class PairDetails:
    """What the page of a pair shows besides its two articles; the latest decision comes first."""

    evidence: list[Evidence]
    decisions: list[Decision]
    implied_by: list[Decision]  # the decisions on other pairs that imply the state of this one
    seen: int  # the id of the latest decision, 0 for none
    clusters: ClustersOf
    kept_apart: bool  # joined by the verdict, but not by the clusters
    conflict: Conflict | None  # what keeps them apart, if it is still there
    series: Series | None
    group: DenseGroup | None  # the dense group of both
    declared: Decision | None  # the decision that made a pair of them, if no pass ever proposed it
    read_again: bool  # by a second editor
    has_revisions: bool  # later versions of either article are stored
    doubts: list[Doubt]  # of a pair judged to be duplicates


class _Around(NamedTuple):
    """What is stored about a pair elsewhere."""

    earlier_cluster: int | None
    later_cluster: int | None
    group: int | None
    read_again: bool
    decided: bool
    has_revisions: bool


# Most pairs have none of it: a statement each would take longer to make than to run.
_AROUND_SQL: LiteralString = """
SELECT
    (SELECT cluster_id FROM dedup_membership WHERE article_id = %(earlier)s),
    (SELECT cluster_id FROM dedup_membership WHERE article_id = %(later)s),
    (
        SELECT one.group_id
        FROM dedup_groupmember AS one
        JOIN dedup_groupmember AS other ON other.group_id = one.group_id AND other.article_id = %(right)s
        WHERE one.article_id = %(left)s
    ),
    EXISTS (SELECT FROM dedup_secondreading WHERE pair_id = %(pair)s),
    EXISTS (SELECT FROM dedup_link WHERE left_id = %(left)s AND right_id = %(right)s)
        OR EXISTS (SELECT FROM dedup_decision WHERE pair_id = %(pair)s),
    EXISTS (SELECT FROM articles_articlerevision WHERE article_id IN (%(left)s, %(right)s))
"""

_OF_EVIDENCE = ("pair", "pass_name", "score", "details", "stale", "run__config", "run__scope")


def pair_details(pair: Pair) -> PairDetails:
    """Return what the page of a pair shows."""
    with connection.cursor() as cursor:
        ends = {"left": pair.left_id, "right": pair.right_id, "earlier": pair.earlier.pk, "later": pair.later.pk}
        cursor.execute(_AROUND_SQL, {"pair": pair.pk, **ends})
        around = _Around(*cursor.fetchone())
    decisions = list(with_actors(decisions_on(pair)).order_by("-pk")) if around.decided else []
    clusters = _clusters(around.earlier_cluster, around.later_cluster)
    joins = pair.joins and pair.best_score > 0 and pair.state not in [answer.state for answer in PARTING]
    found = pair.evidence.select_related("run").only(*_OF_EVIDENCE)
    evidence = list(found.order_by("stale", "-score", "id"))
    return PairDetails(
        evidence=evidence,
        decisions=decisions,
        implied_by=implied_by(pair),
        seen=decisions[0].pk if decisions else 0,
        clusters=clusters,
        kept_apart=joins and not clusters.shared,
        conflict=conflict_between(pair, clusters.left, clusters.right) if joins and not clusters.shared else None,
        series=series_of_both(pair.left, pair.right),
        group=DenseGroup.objects.get(pk=around.group) if around.group else None,
        declared=None if evidence else declaration_among(decisions, pair),
        read_again=around.read_again,
        has_revisions=around.has_revisions,
        doubts=doubts_of_pair(pair) if pair.verdict == Verdict.DUPLICATE else [],
    )


def clusters_of(left_id: int, right_id: int) -> ClustersOf:
    """Return the clusters of two articles."""
    of = dict(
        Membership.objects.filter(article__in=[left_id, right_id]).order_by().values_list("article_id", "cluster_id")
    )
    return _clusters(of.get(left_id), of.get(right_id))


def _clusters(left: int | None, right: int | None) -> ClustersOf:
    return ClustersOf(left, right, shared=left is not None and left == right)


def pair_of(left: Article, right: Article) -> Pair | None:
    """Return the pair of two articles, given in order of id, if a pass has found it."""
    return Pair.objects.filter(left=left, right=right).first()


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two articles, and the names of the facts in which it differs from the other."""

    name: str
    article: Article
    urls: list[str]
    words: int
    differs: frozenset[str]
    headline: list[Segment]
    text: MarkedText

    @property
    def passages(self) -> Iterator[Passage]:
        """The content in stretches, each marked or not."""
        return passages(self.text)


@dataclass(frozen=True)
class SideBySide:
    """Two articles and their differences."""

    sides: list[Side]
    text: Differences
    has_boilerplate: bool
    days_apart: int
    headlines_differ: bool


def side_by_side(left: Article, right: Article, found: PairMarks = NO_MARKS) -> SideBySide:
    """Compare the texts and the facts of two articles, the earlier one on the left; mark what a pass has found in both.

    `found` is by the articles as they are given.
    """
    if in_order(left, right) != (left, right):
        return side_by_side(right, left, PairMarks(found.right, found.left, found.shared))
    prefetch_related_objects([left, right], "urls")
    texts = compared_texts((left, right))
    marked_texts = texts[0]._replace(found=found.left), texts[1]._replace(found=found.right)
    text = compare_texts(*marked_texts)
    differs = {
        "newspaper": left.newspaper_id != right.newspaper_id,
        "date": left.date != right.date or left.publication_time != right.publication_time,
        "words": text.left_words != text.right_words,
    }
    marked = frozenset(name for name, fact in differs.items() if fact)
    headline = compare_headlines(left.headline, right.headline)
    lefts = [segment for block in headline.blocks for segment in block.left]
    rights = [segment for block in headline.blocks for segment in block.right]
    return SideBySide(
        sides=[
            Side("First article", left, _urls(left), text.left_words, marked, lefts, marked_texts[0]),
            Side("Second article", right, _urls(right), text.right_words, marked, rights, marked_texts[1]),
        ],
        text=text,
        has_boilerplate=bool(left.boilerplate or right.boilerplate),
        days_apart=abs((left.date - right.date).days),
        headlines_differ=not headline.identical,
    )


def _urls(article: Article) -> list[str]:
    return [each.url for each in article.urls.all()] or [article.url]

"""The page of a pair: its two articles side by side, its evidence, and what a pass found in both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple

from django.db import connection
from django.db.models import prefetch_related_objects

from articles.models import Article, in_order
from dedup.answers import PARTING
from dedup.detection.clustering.doubts import Doubt, doubts_of_pair
from dedup.detection.comparison.differences import Differences, compare_headlines, compare_texts
from dedup.detection.comparison.evidence_marks import NO_MARKS, PairMarks, marks_of
from dedup.detection.comparison.located import compared_text
from dedup.detection.comparison.shown_text import MarkedText, Segment, passages
from dedup.detection.passes import PASSES
from dedup.detection.types import Mark
from dedup.models import Decision, DenseGroup, Evidence, Membership, Pair, Series, Verdict
from dedup.review.answers.decisions import decisions_on, declaration_among
from dedup.review.answers.history import implied_by, with_actors
from dedup.review.queries.boilerplate import compared_texts
from dedup.review.queries.cluster_pairs import Conflict, conflict_between
from dedup.review.queries.series_and_groups import series_of_both


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
    def passages(self) -> Iterator[Segment]:
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
    return [url.url for url in article.urls.all()] or [article.url]


_IN_TEXTS = frozenset(Mark) - {Mark.NOTHING, Mark.HEADLINE, Mark.URLS}


@dataclass(frozen=True)
class MarkedEvidence:
    """The marks of a pass and what they mean; `marked` is "" if nothing is marked."""

    marked: str = ""
    marked_note: str = ""
    marked_in: str = ""
    marks: PairMarks = NO_MARKS
    shared_urls: frozenset[str] = frozenset()


def markable() -> frozenset[str]:
    """Return the passes whose finds are marked: in the texts, or in the key that both articles have."""
    return frozenset(name for name, detection_pass in PASSES.items() if detection_pass.marked_note)


def marked_evidence(pair: Pair, evidence: Iterable[Evidence], name: str) -> MarkedEvidence:
    """Return what the pass of this name found in the two articles of a pair; nothing if it did not propose the pair."""
    found = next((row for row in evidence if row.pass_name == name and name in markable()), None)
    if found is None:
        return MarkedEvidence()
    mark, settings = PASSES[name].mark, _settings_of(found)
    if mark not in _IN_TEXTS:
        note = PASSES[name].marked_note.format(**settings)
        return MarkedEvidence(name, note, mark.value, shared_urls=_shared_urls(pair.left, pair.right))
    mode = found.run.boilerplate
    left, right = (compared_text(article.content, article.boilerplate, mode) for article in (pair.left, pair.right))
    marks = marks_of(mark, left, right, settings)
    return MarkedEvidence(name, _note(found, marks, settings), marks=marks)


def _settings_of(found: Evidence) -> dict[str, Any]:
    """Return the settings that the pass had; the defaults where the run did not record them."""
    return dataclasses.asdict(PASSES[found.pass_name].config_class()) | found.run.config.get(found.pass_name, {})


def _note(found: Evidence, marks: PairMarks, settings: dict[str, Any]) -> str:
    if not marks.shared:
        return "nothing is left of it: the articles have changed since."
    note = PASSES[found.pass_name].marked_note.format(**settings)
    counted = found.details.get("shared")
    if isinstance(counted, int) and counted < marks.shared:
        most = settings["most_articles"]
        note += f" {counted:,} of these {marks.shared:,} count; the others are in more than {most:,} articles."
    return note


def _shared_urls(left: Article, right: Article) -> frozenset[str]:
    known = [{url.url: url.normalized_url for url in article.urls.all()} for article in (left, right)]
    shared = set(known[0].values()) & set(known[1].values())
    return frozenset(url for urls in known for url, reduced in urls.items() if reduced in shared)

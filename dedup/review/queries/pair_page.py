"""The page of a pair: its two articles side by side, its evidence, and what a pass found in both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, LiteralString, NamedTuple

from django.db.models import prefetch_related_objects

from articles.models import Article, in_order
from dedup.answers import PARTING
from dedup.detection.clustering.doubts import doubts_of_pair
from dedup.detection.comparison.differences import compare_headlines, compare_texts
from dedup.detection.comparison.evidence_marks import NO_MARKS, PairMarks, marks_of
from dedup.detection.comparison.located import compared_text
from dedup.detection.comparison.shown_text import MarkedText, Segment, passages
from dedup.detection.passes import PASSES
from dedup.detection.types import Mark
from dedup.models import DenseGroup, Evidence, Pair, Verdict
from dedup.models.querysets import read_rows
from dedup.review.answers.decisions import cluster_of, decisions_on
from dedup.review.answers.history import implied_by, with_actors
from dedup.review.queries.articles import versions_of
from dedup.review.queries.boilerplate import compared_texts
from dedup.review.queries.cluster_pairs import conflict_between
from dedup.review.queries.series_and_groups import series_of_both


class ClustersOf(NamedTuple):
    """The cluster ids of two articles, and whether both are in the same cluster."""

    left: int | None
    right: int | None
    shared: bool


# What is stored about a pair elsewhere: the clusters of the earlier and the later article, the group of both, and
# whether the pair was read again, was decided, and has revisions. Most pairs have none of it: a statement each would
# take longer to make than to run.
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


def pair_details(pair: Pair) -> dict[str, Any]:
    """Return what the page of a pair shows besides its two articles; the latest decision comes first."""
    ends = {"left": pair.left_id, "right": pair.right_id, "earlier": pair.earlier.pk, "later": pair.later.pk}
    ((earlier, later, group, read_again, is_decided, is_revised),) = read_rows(_AROUND_SQL, pair=pair.pk, **ends)
    decisions = list(with_actors(decisions_on(pair)).order_by("-pk")) if is_decided else []
    own = [decision for decision in decisions if decision.pair_id == pair.pk]
    clusters = _clusters(earlier, later)
    joins = pair.joins and pair.best_score > 0 and pair.state not in [answer.state for answer in PARTING]
    found = pair.evidence.select_related("run").only(*_OF_EVIDENCE)
    evidence = list(found.order_by("stale", "-score", "id"))
    kept_apart = joins and not clusters.shared
    return {
        "evidence": evidence,
        "decisions": decisions,
        "implied_by": implied_by(pair),  # the decisions on other pairs that imply the state of this one
        "seen": decisions[0].pk if decisions else 0,
        "clusters": clusters,
        "kept_apart": kept_apart,  # joined by the verdict, but not by the clusters
        # What keeps them apart, if it is still there.
        "conflict": conflict_between(pair, clusters.left, clusters.right) if kept_apart else None,
        "series": series_of_both(pair.left, pair.right),
        "group": DenseGroup.objects.get(pk=group) if group else None,
        # The decision that made a pair of them, if no pass ever proposed it.
        "declared": own[-1] if own and not evidence else None,
        "read_again": read_again,  # by a second editor
        "versions": versions_of(pair.earlier, pair.later) if is_revised else [],
        "doubts": doubts_of_pair(pair) if pair.verdict == Verdict.DUPLICATE else [],
    }


def clusters_of(left_id: int, right_id: int) -> ClustersOf:
    """Return the clusters of two articles."""
    of = cluster_of([left_id, right_id])
    return _clusters(of.get(left_id), of.get(right_id))


def _clusters(left: int | None, right: int | None) -> ClustersOf:
    return ClustersOf(left, right, shared=left is not None and left == right)


class Side(NamedTuple):
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


def side_by_side(left: Article, right: Article, found: PairMarks) -> dict[str, Any]:
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
    return {
        "sides": [
            Side("First article", left, _urls(left), text.left_words, marked, lefts, marked_texts[0]),
            Side("Second article", right, _urls(right), text.right_words, marked, rights, marked_texts[1]),
        ],
        "text": text,
        "has_boilerplate": bool(left.boilerplate or right.boilerplate),
        "days_apart": abs((left.date - right.date).days),
        "headlines_differ": not headline.identical,
    }


def _urls(article: Article) -> list[str]:
    return [url.url for url in article.urls.all()] or [article.url]


_IN_TEXTS = frozenset(Mark) - {Mark.NOTHING, Mark.HEADLINE, Mark.URLS}


class MarkedEvidence(NamedTuple):
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
    mark = PASSES[name].mark
    # The defaults where the run did not record what the pass had.
    settings = dataclasses.asdict(PASSES[name].config_class()) | found.run.config.get(name, {})
    if mark not in _IN_TEXTS:
        note = PASSES[name].marked_note.format(**settings)
        return MarkedEvidence(name, note, mark.value, shared_urls=_shared_urls(pair.left, pair.right))
    mode = found.run.boilerplate
    left, right = (compared_text(article.content, article.boilerplate, mode) for article in (pair.left, pair.right))
    marks = marks_of(mark, left, right, settings)
    return MarkedEvidence(name, _note(found, marks, settings), marks=marks)


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

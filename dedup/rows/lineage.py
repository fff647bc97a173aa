"""The export of lineages: a row for each article that follows another one of its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import QuerySet

from dedup.detection.lineage.articles import Edge, Lineage, LineageArticle
from dedup.review.queries.lineage import traced_clusters
from dedup.rows.columns import Column, ColumnType, Rows
from dedup.rows.files import Export


def _published(article: LineageArticle) -> str:
    return str(article.time) if article.time else article.date.isoformat()


def _article(side: str, words: str, more: str = "") -> tuple[Column, ...]:
    """Return the columns of one of the two articles; `words` say which one it is."""
    return (
        Column(side, f"number of {words}{more}", ColumnType.INTEGER, source=f"{side}.number"),
        Column(f"{side}_newspaper", f"newspaper of {words}", source=f"{side}.name"),
        Column(
            f"{side}_published",
            f"time of publication of {words} in ISO 8601, or the day alone",
            source=lambda step: _published(getattr(step, side)),
        ),
    )


def _sentences(name: str, label: str) -> Column:
    return Column(name, label, ColumnType.COUNT, source=lambda step: len(getattr(step.edge, name)))


class _Step(NamedTuple):
    """An article that follows another one of its cluster."""

    cluster: int
    lineage: Lineage
    edge: Edge
    source: LineageArticle
    follower: LineageArticle


_STEP = Rows(
    "An article that follows another one of its cluster.",
    (
        Column("cluster", "number of the cluster", ColumnType.INTEGER),
        Column(
            "cluster_kind",
            help="Wire, release, newspaper, common, or own (of one newspaper or owner).",
            source="lineage.kind.value",
        ),
        Column(
            "cluster_confidence",
            help="How well that is supported: clear, likely or doubtful.",
            source="lineage.confidence.value",
        ),
        *_article("source", "the likely source", ": the article before it that it shares most with, or names"),
        *_article("follower", "the article that follows"),
        Column("kind", "kind of reuse between these two", source="edge.kind.value"),
        Column(
            "direction",
            help="How sure it is that the source came first: clear, likely or doubtful (unknown).",
            source="edge.direction.value",
        ),
        Column(
            "hours",
            type=ColumnType.NUMBER,
            help="Hours from the source to the follower, negative if the source has the later time; empty if unknown.",
            source=lambda step: None if step.edge.hours is None else round(step.edge.hours, 3),
        ),
        Column("days", "days between their days of publication", ColumnType.COUNT, source="edge.days"),
        _sentences("added", "number of sentences that the follower has and the source has not"),
        _sentences("dropped", "number of sentences that the source has and the follower has not"),
        _sentences("changed", "number of sentences that the follower has in other words"),
        Column("reasons", "why, in words", source=lambda step: " ".join(step.edge.reasons)),
    ),
)


def _steps(clusters: QuerySet[Any]) -> Iterator[_Step]:
    for number, lineage, _ in traced_clusters(clusters):
        articles = {article.number: article for article in lineage.articles}
        for edge in lineage.edges:
            yield _Step(number, lineage, edge, articles[edge.source], articles[edge.follower])


# Not among the lists of the page Exports: to trace all clusters takes minutes, which a page has not.
LINEAGE = Export("lineage", "which article of a cluster follows which, a row for each follower", _STEP, _steps)

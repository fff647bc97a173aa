"""The export of lineages: a row for each article that follows another one of its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from dedup.detection.lineage.articles import LineageArticle
from dedup.review.queries.lineage import traced_clusters
from dedup.rows.exports.base import Export

_COLUMNS = {
    "cluster": "number of the cluster",
    "cluster_kind": "wire, release, newspaper, common, or own (of one newspaper or owner)",
    "cluster_confidence": "how well that is supported: clear, likely or doubtful",
    "source": "number of the likely source: the article before it that it shares most with, or names",
    "source_newspaper": "newspaper of the source",
    "source_published": "time of publication of the source in ISO 8601, or the day alone",
    "follower": "number of the article that follows",
    "follower_newspaper": "newspaper of the follower",
    "follower_published": "time of publication of the follower in ISO 8601, or the day alone",
    "kind": "kind of reuse between these two",
    "direction": "how sure it is that the source came first: clear, likely or doubtful (unknown)",
    "hours": "hours from the source to the follower, negative if the source has the later time; empty if unknown",
    "days": "days between their days of publication",
    "added": "number of sentences that the follower has and the source has not",
    "dropped": "number of sentences that the source has and the follower has not",
    "changed": "number of sentences that the follower has in other words",
    "reasons": "why, in words",
}


def _rows(clusters: QuerySet[Any]) -> Iterator[dict[str, Any]]:
    for number, lineage, _ in traced_clusters(clusters):
        articles = {article.number: article for article in lineage.articles}
        for edge in lineage.edges:
            source, follower = articles[edge.source], articles[edge.follower]
            yield {
                "cluster": number,
                "cluster_kind": lineage.kind.value,
                "cluster_confidence": lineage.confidence.value,
                "source": source.number,
                "source_newspaper": source.name,
                "source_published": _published(source),
                "follower": follower.number,
                "follower_newspaper": follower.name,
                "follower_published": _published(follower),
                "kind": edge.kind.value,
                "direction": edge.direction.value,
                "hours": None if edge.hours is None else round(edge.hours, 3),
                "days": edge.days,
                "added": len(edge.added),
                "dropped": len(edge.dropped),
                "changed": len(edge.changed),
                "reasons": " ".join(edge.reasons),
            }


def _published(article: LineageArticle) -> str:
    return str(article.time) if article.time else article.date.isoformat()


# Not among the lists of the page Exports: to trace all clusters takes minutes, which a page has not.
LINEAGE = Export("lineage", _COLUMNS, _rows)

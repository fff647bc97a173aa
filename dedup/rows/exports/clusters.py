"""The export of clusters: a row for each of their articles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from articles.querysets import LONG_TEXTS
from dedup.models import Membership
from dedup.rows.exports.base import Export, article_columns, article_values, in_batches

_COLUMNS = {
    "cluster": "number of the cluster",
    "state": "proposed, or confirmed: held together by decisions alone",
    "size": "number of its articles",
    "lowest_probability": "lowest probability of the pairs that hold it together, 0 to 1",
    "kept": "whether this article represents the cluster",
    **article_columns(),
}


def _rows(clusters: QuerySet[Any]) -> Iterator[dict[str, Any]]:
    members = Membership.objects.filter(cluster__in=clusters.order_by().values("pk"))
    full = members.select_related("cluster", "article__newspaper").defer(*(f"article__{name}" for name in LONG_TEXTS))
    for batch in in_batches(full.order_by("cluster_id", "article_id")):
        for member in batch:
            yield {
                "cluster": member.cluster_id,
                "state": member.cluster.state,
                "size": member.cluster.size,
                "lowest_probability": member.cluster.lowest_score,
                "kept": member.cluster.kept_id == member.article_id,
                **article_values(member.article),
            }


CLUSTERS = Export("clusters", _COLUMNS, _rows)

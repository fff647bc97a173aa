"""Connected components by alternating stars, and the clusters of each component.

Source: Kiveris, Lattanzi, Mirrokni, Rastogi and Vassilvitskii, Connected components in MapReduce and beyond, SoCC 2014.
The clusters of all articles are those of each component: nothing that cluster() does reaches beyond one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from dedup.detection.clustering.components import Apart, Clustering, Component, DisjointSets, Edge, Rank, cluster
from dedup.detection.clustering.group_pairs import RANKS
from dedup.detection.spark.schema import CLUSTERS

# Two articles that must be in one component, first < second; after the stars, `first` is the lowest of its component.
EDGES: Final = pa.schema(
    [pa.field("first", pa.int64(), nullable=False), pa.field("second", pa.int64(), nullable=False)]
)


def local_stars(edges: pa.Table) -> pa.Table:
    """Return for each article of these edges its lowest connected one, apart from the lowest itself (EDGES)."""
    sets = DisjointSets()
    for first, second in zip(edges["first"].to_pylist(), edges["second"].to_pylist(), strict=True):
        sets.unite(first, second)
    rows = sorted((sets.root(article), article) for article in list(sets.parent))
    rows = [(first, article) for first, article in rows if first != article]
    return pa.table({"first": [row[0] for row in rows], "second": [row[1] for row in rows]}, schema=EDGES)


def clustering_of(rows: Sequence[Mapping[str, Any]], groups: Mapping[int, int] | None = None) -> Clustering:
    """Return what cluster() does of the rows of some components.

    A row has left, right and what it says: `effect` must, cannot or stay of a decision; or "" of a verdict, with the
    columns of VERDICTS.
    """
    links: dict[str, list[tuple[int, int]]] = {"must": [], "cannot": [], "stay": []}
    edges: list[Edge] = []
    apart: list[Apart] = []
    for row in sorted(rows, key=lambda each: (each["left"], each["right"])):
        ends = (row["left"], row["right"])
        if row["effect"]:
            links[row["effect"]].append(ends)
        elif row["joins"]:
            shares = (row["left_matched"], row["right_matched"])
            edges.append(Edge(*ends, row["probability"], RANKS[row["verdict"]], *shares))
        else:
            apart.append(Apart(*ends, row["duplicate_probability"]))
    stay = [Edge(*ends, 1.0, Rank.DECISION) for ends in links["stay"]]
    return cluster([*edges, *stay], links["must"], links["cannot"], apart, groups)


def cluster_rows(components: Sequence[Component]) -> pa.Table:
    """Return the articles of clusters (CLUSTERS)."""
    rows = [(article, component) for component in components for article in component.articles]
    return pa.table(
        {
            "article": [article for article, _ in rows],
            "cluster": [each.articles[0] for _, each in rows],
            "lowest_score": [each.lowest_score for _, each in rows],
            "confirmed": [each.confirmed for _, each in rows],
        },
        schema=CLUSTERS,
    )

"""Components and clusters on Spark."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from dedup.detection.clustering.components import Apart, Clustering, Component, Edge, Rank, cluster
from dedup.detection.clustering.group_pairs import RANKS
from dedup.detection.kernels.disjoint_sets import lowest_connected
from dedup.detection.spark.schema import CLUSTERS, VERDICTS, Bundle, ddl, needed, table_of
from dedup.detection.spark.stages import f, kept, stored, united

# Edges of components that one task joins: 100 MB.
_EDGES_ALONE = 500_000
# The columns of verdicts and links that clusters rest on.
_ROW = (
    "left", "right", "effect", "verdict", "probability", "duplicate_probability", "joins", "left_matched",
    "right_matched",
)  # fmt: skip


def write_clusters(spark: Any, bundle: Bundle, folder: Path) -> dict[str, int]:
    """Write the clusters that verdicts and decisions make; return how many, and how many must-links contradict."""
    rows = _rows(spark, bundle)
    joining = rows.where("joins or effect in ('must', 'stay')").select("left", "right").toDF("first", "second")
    stars = components(joining, folder)
    members = members_of(stars, "first")
    left, right = (members.toDF(side, f"{side}_first") for side in ("left", "right"))
    inside = rows.join(left, "left").join(right, "right").where("left_first = right_first")
    buckets = max(spark.sparkContext.defaultParallelism, stars.count() // 20_000)
    bucket = f.pmod(f.xxhash64("left_first"), f.lit(buckets)).alias("bucket")
    clusters = inside.groupBy(bucket).applyInArrow(_clusters_of, f"{ddl(CLUSTERS)}, contradictions int")
    made = kept(clusters, folder / "clusters")
    found = kept(made.where("contradictions = 0").select(*CLUSTERS.names), bundle.clusters)
    contradictions = made.agg(f.coalesce(f.sum("contradictions"), f.lit(0)).alias("sum"))
    return {
        "clusters": found.select("cluster").distinct().count(),
        "clustered_articles": found.count(),
        "contradictions": contradictions.first()["sum"],
    }


def components(edges: Any, folder: Path, *, alone: int = _EDGES_ALONE) -> Any:
    """Return for each article of edges (first, second) its lowest connected one, `first`, apart from that one itself.

    Up to `alone` edges that the partitions leave go to one task; more are joined iteration by iteration. What each
    iteration leaves is stored under its number in the folder, which is that of a stage of one run: no other run or
    iteration reads it for its own.
    """

    def contract(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = [pa.Table.from_batches([batch]).cast(EDGES) for batch in batches]
        yield from local_stars(pa.concat_tables([EDGES.empty_table(), *some])).to_batches()

    # What is read again has a short plan.
    current = kept(edges.mapInArrow(contract, ddl(EDGES)), folder / "stars-0")
    state = _state(current)
    if state[0] <= alone:
        return kept(current.coalesce(1).mapInArrow(contract, ddl(EDGES)), folder / "stars")
    for iteration in count(1):
        large = kept(_large_stars(current), folder / f"stars-{iteration}-large")
        current = kept(_small_stars(large), folder / f"stars-{iteration}")
        before, state = state, _state(current)
        for old in (f"stars-{iteration - 1}", f"stars-{iteration}-large"):
            shutil.rmtree(folder / old, ignore_errors=True)
        if state == before:
            break
    return current


def members_of(stars: Any, name: str) -> Any:
    """Return every `article` of components(), with the lowest of its component in a column of this name."""
    lowest = stars.select("first").distinct().select("first", "first")
    return stars.select("second", "first").union(lowest).toDF("article", name)


def _large_stars(edges: Any) -> Any:
    """Join each article's higher neighbours to the lowest of its neighbours and itself."""
    both = edges.union(edges.select("second", "first")).toDF("one", "other")
    lowest = both.groupBy("one").agg(f.least(f.min("other"), f.col("one")).alias("first"))
    higher = both.join(lowest, "one").where("other > one")
    return higher.select("first", f.col("other").alias("second")).distinct()


def _small_stars(edges: Any) -> Any:
    """Join each article and its lower neighbours to the lowest of these."""
    lower = edges.groupBy("second").agg(f.min("first").alias("lowest"))
    every = edges.join(lower, "second")
    ends = every.select("lowest", "first").union(every.select("lowest", "second")).toDF("first", "second")
    return ends.where("first <> second").distinct()


def _state(edges: Any) -> tuple[int, int]:
    """Return numbers that change whenever the edges do."""
    total = f.coalesce(f.sum(f.xxhash64("first", "second").cast("decimal(38,0)")), f.lit(0))
    row = edges.agg(f.count("*").alias("count"), total.alias("total")).first()
    return row["count"], int(row["total"])


def _rows(spark: Any, bundle: Bundle) -> Any:
    """Return verdicts and decisions as clustering_of reads them."""
    folders = (bundle.verdicts, bundle.group_checks)
    parts = [stored(spark, folder, VERDICTS).withColumn("effect", f.lit("")).select(*_ROW) for folder in folders]
    links = spark.read.parquet(str(bundle.table("links")))
    return united(parts).unionByName(links, allowMissingColumns=True)


def _clusters_of(rows: pa.Table) -> pa.Table:
    """Return the clusters of some components; a last row has the number of their contradictions, if any."""
    result = clustering_of(rows.to_pylist())
    found = cluster_rows(result.components)
    contradictions = [0] * found.num_rows
    if result.contradictions:
        found = pa.concat_tables([found, table_of([(0, 0, 0.0, False)], CLUSTERS)])
        contradictions.append(len(result.contradictions))
    return found.append_column("contradictions", pa.array(contradictions, pa.int32()))


# Two articles that must be in one component, first < second; after the stars, `first` is the lowest of its component.
EDGES: Final = needed(first=pa.int64(), second=pa.int64())


def local_stars(edges: pa.Table) -> pa.Table:
    """Return for each article of these edges its lowest connected one, apart from the lowest itself (EDGES)."""
    lowest = lowest_connected(zip(edges["first"].to_pylist(), edges["second"].to_pylist(), strict=True))
    return table_of(sorted((first, article) for article, first in lowest.items() if first != article), EDGES)


def clustering_of(rows: Sequence[Mapping[str, Any]]) -> Clustering:
    """Return what cluster() does of the rows of some components.

    A row has left, right and what it says: `effect` must, cannot or stay of a decision; or "" of a verdict, with the
    columns of VERDICTS.
    """
    links: dict[str, list[tuple[int, int]]] = {"must": [], "cannot": [], "stay": []}
    edges: list[Edge] = []
    apart: list[Apart] = []
    for row in sorted(rows, key=lambda row: (row["left"], row["right"])):
        ends = (row["left"], row["right"])
        if row["effect"]:
            links[row["effect"]].append(ends)
        elif row["joins"]:
            shares = (row["left_matched"], row["right_matched"])
            edges.append(Edge(*ends, row["probability"], RANKS[row["verdict"]], *shares))
        else:
            apart.append(Apart(*ends, row["duplicate_probability"]))
    stay = [Edge(*ends, 1.0, Rank.DECISION) for ends in links["stay"]]
    return cluster([*edges, *stay], links["must"], links["cannot"], apart)


def cluster_rows(components: Sequence[Component]) -> pa.Table:
    """Return the articles of clusters (CLUSTERS)."""
    rows = [
        (article, component.articles[0], component.lowest_score, component.confirmed)
        for component in components
        for article in component.articles
    ]
    return table_of(rows, CLUSTERS)

"""Components and clusters on Spark."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from dedup.detection.clustering.components import Apart, Clustering, Component, DisjointSets, Edge, Rank, cluster
from dedup.detection.clustering.group_pairs import RANKS
from dedup.detection.spark.schema import CLUSTERS, Bundle, ddl, needed
from dedup.detection.spark.stages import files_of

# Edges of components that one task joins: 100 MB.
_EDGES_ALONE = 500_000
# The columns of verdicts and links that clusters rest on.
_ROW = (
    "left", "right", "effect", "verdict", "probability", "duplicate_probability", "joins", "left_matched",
    "right_matched",
)  # fmt: skip


def write_clusters(spark: Any, bundle: Bundle, folder: Path, fingerprint: str) -> dict[str, int]:
    """Write the clusters that verdicts and decisions make; return how many, and how many must-links contradict."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

    rows = _rows(spark, bundle)
    joining = rows.where("joins or effect in ('must', 'stay')").select(
        f.col("left").alias("first"), f.col("right").alias("second")
    )
    stars = components(joining, folder, fingerprint)
    members = members_of(stars, "first")
    left, right = (
        members.select(f.col("article").alias(side), f.col("first").alias(f"{side}_first"))
        for side in ("left", "right")
    )
    inside = rows.join(left, "left").join(right, "right").where("left_first = right_first")
    buckets = max(spark.sparkContext.defaultParallelism, stars.count() // 20_000)
    bucket = f.pmod(f.xxhash64("left_first"), f.lit(buckets)).alias("bucket")
    clusters = inside.groupBy(bucket).applyInArrow(_clusters_of, f"{ddl(CLUSTERS)}, contradictions int")
    clusters.write.mode("overwrite").parquet(str(folder / "clusters"))
    made = spark.read.parquet(str(folder / "clusters"))
    made.where("contradictions = 0").select(*CLUSTERS.names).write.mode("overwrite").parquet(str(bundle.clusters))
    found = spark.read.parquet(str(bundle.clusters))
    contradictions = made.agg(f.coalesce(f.sum("contradictions"), f.lit(0)).alias("sum"))
    return {
        "clusters": found.select("cluster").distinct().count(),
        "clustered_articles": found.count(),
        "contradictions": contradictions.first()["sum"],
    }


def components(edges: Any, folder: Path, fingerprint: str, *, alone: int = _EDGES_ALONE) -> Any:
    """Return for each article of edges (first, second) its lowest connected one, `first`, apart from that one itself.

    Up to `alone` edges that the partitions leave go to one task; more are joined iteration by iteration. What each
    iteration leaves is stored under its number and a fingerprint of the run: another run, or another iteration, never
    reads it for its own.
    """

    def contract(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = [pa.Table.from_batches([batch]).cast(EDGES) for batch in batches]
        yield from local_stars(pa.concat_tables([EDGES.empty_table(), *some])).to_batches()

    current = _kept(edges.mapInArrow(contract, ddl(EDGES)), folder, f"stars-{fingerprint}-0")
    state = _state(current)
    if state[0] <= alone:
        return _kept(current.coalesce(1).mapInArrow(contract, ddl(EDGES)), folder, f"stars-{fingerprint}")
    iteration = 0
    while True:
        iteration += 1
        large = _kept(_large_stars(current), folder, f"stars-{fingerprint}-{iteration}-large")
        current = _kept(_small_stars(large), folder, f"stars-{fingerprint}-{iteration}")
        before, state = state, _state(current)
        for old in (f"stars-{fingerprint}-{iteration - 1}", f"stars-{fingerprint}-{iteration}-large"):
            shutil.rmtree(folder / old, ignore_errors=True)
        if state == before:
            return current


def members_of(stars: Any, name: str) -> Any:
    """Return every `article` of components(), with the lowest of its component in a column of this name."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    lowest = stars.select(f.col("first").alias("article"), f.col("first").alias(name)).distinct()
    return stars.select(f.col("second").alias("article"), f.col("first").alias(name)).union(lowest)


def _large_stars(edges: Any) -> Any:
    """Join each article's higher neighbours to the lowest of its neighbours and itself."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    both = _lowest(edges)
    return both.where("other > one").select(f.col("lowest").alias("first"), f.col("other").alias("second")).distinct()


def _small_stars(edges: Any) -> Any:
    """Join each article and its lower neighbours to the lowest of these."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    lower = edges.groupBy("second").agg(f.min("first").alias("lowest"))
    every = edges.join(lower, "second")
    ends = every.select(f.col("lowest").alias("first"), f.col("first").alias("second")).union(
        every.select(f.col("lowest").alias("first"), "second")
    )
    return ends.where("first <> second").distinct()


def _lowest(edges: Any) -> Any:
    """Return the edges both ways, each with the lowest of one's neighbours and one itself."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    both = edges.select(f.col("first").alias("one"), f.col("second").alias("other")).union(
        edges.select(f.col("second").alias("one"), f.col("first").alias("other"))
    )
    lowest = both.groupBy("one").agg(f.least(f.min("other"), f.col("one")).alias("lowest"))
    return both.join(lowest, "one")


def _kept(frame: Any, folder: Path, name: str) -> Any:
    """Store a frame and return it as it is stored: its plan is then short."""
    frame.write.mode("overwrite").parquet(str(folder / name))
    return frame.sparkSession.read.parquet(str(folder / name))


def _state(edges: Any) -> tuple[int, int]:
    """Return numbers that change whenever the edges do."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    total = f.coalesce(f.sum(f.xxhash64("first", "second").cast("decimal(38,0)")), f.lit(0))
    row = edges.agg(f.count("*").alias("count"), total.alias("total")).first()
    return row["count"], int(row["total"])


def _rows(spark: Any, bundle: Bundle) -> Any:
    """Return verdicts and decisions as clustering_of reads them."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    types = {"probability": "double", "duplicate_probability": "double", "left_matched": "double",
             "right_matched": "double", "joins": "boolean", "verdict": "string"}  # fmt: skip
    folders = [folder for folder in (bundle.verdicts, bundle.group_checks) if any(files_of(folder))]
    parts = [spark.read.parquet(str(folder)).withColumn("effect", f.lit("")).select(*_ROW) for folder in folders]
    judged = reduce(lambda one, other: one.union(other), parts)
    links = spark.read.parquet(str(bundle.table("links")))
    for name, kind in types.items():
        links = links.withColumn(name, f.lit(None).cast(kind))
    return judged.unionByName(links.select(*_ROW))


def _clusters_of(rows: pa.Table) -> pa.Table:
    """Return the clusters of some components; a last row has the number of their contradictions, if any."""
    result = clustering_of(rows.to_pylist())
    found = cluster_rows(result.components)
    found = found.append_column("contradictions", pa.array([0] * found.num_rows, pa.int32()))
    if not result.contradictions:
        return found
    note = {"article": [0], "cluster": [0], "lowest_score": [0.0], "confirmed": [False]}
    counted = pa.table(note, schema=CLUSTERS)
    counted = counted.append_column("contradictions", pa.array([len(result.contradictions)], pa.int32()))
    return pa.concat_tables([found, counted])


# Two articles that must be in one component, first < second; after the stars, `first` is the lowest of its component.
EDGES: Final = needed(first=pa.int64(), second=pa.int64())


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
    return cluster([*edges, *stay], links["must"], links["cannot"], apart, groups)


def cluster_rows(components: Sequence[Component]) -> pa.Table:
    """Return the articles of clusters (CLUSTERS)."""
    rows = [(article, component) for component in components for article in component.articles]
    return pa.table(
        {
            "article": [article for article, _ in rows],
            "cluster": [component.articles[0] for _, component in rows],
            "lowest_score": [component.lowest_score for _, component in rows],
            "confirmed": [component.confirmed for _, component in rows],
        },
        schema=CLUSTERS,
    )

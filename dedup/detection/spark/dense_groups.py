"""Dense groups on Spark: the crowded articles that kept pairs connect (runs/dense_groups.py)."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

from dedup.detection.spark.clustering import components, members_of
from dedup.detection.spark.schema import Bundle
from dedup.detection.spark.stages import Counts, files_of

# Articles of dense groups that one task compares more pairs of.
_ARTICLES_A_TASK = 5_000


def write_groups(spark: Any, bundle: Bundle, folder: Path, fingerprint: str) -> Counts:
    """Write the articles of dense groups into the folder `members`, and those of groups with a rule into `ruled`."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

    rules = spark.read.parquet(str(bundle.table("group_rules")))
    has_rules = bundle.read("group_rules").num_rows > 0
    kept = _kept_pairs(spark, bundle)
    # A group with a rule keeps its articles.
    edges = [*kept, rules.select("first", f.col("article").alias("second"))] if has_rules else kept
    if not edges:
        return {"members": 0}
    stars = components(reduce(lambda one, other: one.union(other), edges), folder, fingerprint)
    members_of(stars, "group").write.mode("overwrite").parquet(str(folder / "members"))
    members = spark.read.parquet(str(folder / "members"))
    if has_rules:
        with_rule = members.join(rules.select("article"), "article").select("group").distinct()
        ruled = members.join(with_rule, "group").select("article", "group")
        ruled.write.mode("overwrite").parquet(str(folder / "ruled"))
    return {"members": members.count()}


def _kept_pairs(spark: Any, bundle: Bundle) -> list[Any]:
    """Return the pairs (first, second) of two articles that one pass found crowded, by pass."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    found = []
    for folder in sorted(bundle.crowded.glob("pass_name=*")):
        crowded = spark.read.parquet(str(folder)).select("article")
        pairs = spark.read.parquet(str(bundle.evidence / folder.name)).select("left", "right")
        for side in ("left", "right"):
            pairs = pairs.join(crowded.withColumnRenamed("article", side), side)
        found.append(pairs.select(f.col("left").alias("first"), f.col("right").alias("second")))
    return found


def deal_groups(spark: Any, bundle: Bundle, groups: Path, folder: Path, fingerprint: str) -> list[int]:
    """Write what group_checks.check reads, of groups dealt to tasks; return the numbers of the tasks.

    Groups that decisions connect are dealt to one task. `groups` is the folder of write_groups().
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    members = spark.read.parquet(str(groups / "members"))
    links = _links(spark, bundle, members)
    nodes = _dealt(spark, members, links, folder, fingerprint)
    day = (f.datediff("day", f.lit("1970-01-01")) + 719_163).cast("long").alias("day")
    articles = spark.read.parquet(str(bundle.articles)).select(f.col("id").alias("article"), day, "newspaper")
    nodes.join(articles, "article").write.mode("overwrite").partitionBy("task").parquet(str(folder / "members"))
    dealt = spark.read.parquet(str(folder / "members")).select("article", "group", "task")
    left, right = (dealt.toDF(side, f"{side}_group", f"{side}_task") for side in ("left", "right"))
    verdicts = spark.read.parquet(str(bundle.verdicts)).drop("month")
    judged = verdicts.join(left, "left").join(right.drop("right_task"), "right").where("left_group = right_group")
    judged = judged.select(*verdicts.columns, f.lit("").alias("effect"), f.col("left_task").alias("task"))
    # A link that two tasks have an end of, which must not be in one cluster, matters to neither.
    linked = links.join(left.select("left", f.col("left_task").alias("task")), "left")
    judged.unionByName(linked.select("left", "right", "effect", "task"), allowMissingColumns=True).write.mode(
        "overwrite"
    ).partitionBy("task").parquet(str(folder / "judged"))
    return sorted({int(path.parent.name.partition("=")[2]) for path in files_of(folder / "members")})


def _links(spark: Any, bundle: Bundle, members: Any) -> Any:
    """Return the decisions that must or cannot link an article of a group, with the groups of both ends, if any."""
    links = spark.read.parquet(str(bundle.table("links"))).where("effect in ('must', 'cannot')")
    for side in ("left", "right"):
        links = links.join(members.toDF(side, f"{side}_group"), side, "left")
    return links.where("left_group is not null or right_group is not null")


def _dealt(spark: Any, members: Any, links: Any, folder: Path, fingerprint: str) -> Any:
    """Return the articles of groups, and of links with them, each with its group, if any, and the number of a task."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    ends = [
        links.select(f.col(side).alias("article"), f.col(f"{side}_group").alias("group")) for side in ("left", "right")
    ]
    every = reduce(lambda one, other: one.union(other), [members.select("article", "group"), *ends]).distinct()
    every = every.withColumn("node", f.coalesce("group", "article"))
    tied = links.where("effect = 'must'").select(
        *(f.coalesce(f"{side}_group", side).alias(name) for side, name in (("left", "first"), ("right", "second")))
    )
    if tied.head(1):
        parts = members_of(components(tied, folder, fingerprint), "part").withColumnRenamed("article", "node")
        every = every.join(parts, "node", "left").withColumn("node", f.coalesce("part", "node"))
    tasks = max(spark.sparkContext.defaultParallelism, members.count() // _ARTICLES_A_TASK)
    return every.select("article", "group", f.pmod(f.xxhash64("node"), f.lit(tasks)).alias("task"))

"""The pairs that clusters of dense groups need apart from those proposed: a task compares those of some groups."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from dedup.detection.clustering.group_pairs import IdPair, by_month, compared_in_groups
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.spark.clustering import components, members_of
from dedup.detection.spark.parts import write
from dedup.detection.spark.schema import VERDICTS, Bundle, month_of, needed
from dedup.detection.spark.stages import Counts, Done, files_of
from dedup.detection.spark.verdicts import TO_JUDGE
from dedup.detection.spark.work import Work, learnt_from, read_all, verdicts

# Whose pairs are compared: the articles of dense groups (`group` is the lowest of each), and those that links connect
# with them, which are in none.
MEMBERS = pa.schema([*needed(article=pa.int64(), day=pa.int64(), newspaper=pa.int64()), pa.field("group", pa.int64())])
# The verdicts on proposed pairs of one group, with `effect` "", and the decisions that must or cannot link articles.
JUDGED = pa.schema([*(field.with_nullable(True) for field in VERDICTS), pa.field("effect", pa.string())])


class Groups(NamedTuple):
    """The folders of MEMBERS and JUDGED of some groups; where the verdicts on their pairs are written, by month."""

    number: int
    members: Path
    judged: Path
    to: Path


def check(work: Work, terms: Mapping[str, Any], groups: Groups) -> Done:
    """Compare the pairs that the clusters of some groups need, and write their VERDICTS."""
    members = {row["article"]: row for row in read_all(files_of(groups.members), MEMBERS).to_pylist()}
    rows = read_all(files_of(groups.judged), JUDGED).to_pylist()
    compared = compared_in_groups(
        {_ends(row): _judged(row) for row in sorted(rows, key=_ends) if not row["effect"]},
        {article: row["group"] for article, row in members.items() if row["group"] is not None},
        _links(rows, "must"),
        _links(rows, "cannot"),
        partial(_verdicts_on, work, terms, members),
    )
    for month, pairs in by_month(sorted(compared), _days(members)):
        write(_table([(ends, compared[ends]) for ends in pairs]), _file(groups, month))
    return Done(pairs=len(compared))


def _file(groups: Groups, month: datetime.date) -> Path:
    return groups.to / f"month={month_of(month)}" / f"{groups.number:06}.parquet"


def _ends(row: Mapping[str, Any]) -> IdPair:
    return row["left"], row["right"]


def _links(rows: Sequence[Mapping[str, Any]], effect: str) -> list[IdPair]:
    return sorted({_ends(row) for row in rows if row["effect"] == effect})


def _judged(row: Mapping[str, Any]) -> JudgedRow:
    return JudgedRow(0, *(row[name] for name in JudgedRow._fields[1:]))


def _table(rows: Sequence[tuple[IdPair, JudgedRow]]) -> pa.Table:
    values = [{"left": left, "right": right, **row._asdict()} for (left, right), row in rows]
    return pa.Table.from_pylist([{name: value[name] for name in VERDICTS.names} for value in values], schema=VERDICTS)


def _verdicts_on(
    work: Work, terms: Mapping[str, Any], members: Mapping[int, Mapping[str, Any]], asked: Sequence[IdPair]
) -> dict[IdPair, JudgedRow]:
    """Return the verdicts on pairs of any months, by month; `members` are their articles."""
    found: dict[IdPair, JudgedRow] = {}
    for month, ends in by_month(asked, _days(members)):
        rows = [
            {"left": left, "right": right, "leftover": 0}
            | {f"left_{name}": members[left][name] for name in ("day", "newspaper")}
            | {f"right_{name}": members[right][name] for name in ("day", "newspaper")}
            for left, right in ends
        ]
        pairs = pa.Table.from_pylist(rows, schema=TO_JUDGE)
        made = verdicts(work, pairs, learnt_from(work, month, (0, 1), pairs), terms).to_pylist()
        known = {_ends(row): _judged(row) for row in made}
        found |= {end: known[end] for end in ends}
    return found


def _days(members: Mapping[int, Mapping[str, Any]]) -> dict[int, datetime.date]:
    return {article: datetime.date.fromordinal(row["day"]) for article, row in members.items()}


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
    """Return the pairs (first, second) of two articles that one pass found to be hubs, by pass."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    found = []
    for folder in sorted(bundle.hubs.glob("pass_name=*")):
        hubs = spark.read.parquet(str(folder)).select("article")
        pairs = spark.read.parquet(str(bundle.evidence / folder.name)).select("left", "right")
        for side in ("left", "right"):
            pairs = pairs.join(hubs.withColumnRenamed("article", side), side)
        found.append(pairs.select(f.col("left").alias("first"), f.col("right").alias("second")))
    return found


def deal_groups(spark: Any, bundle: Bundle, groups: Path, folder: Path, fingerprint: str) -> list[int]:
    """Write what group_checks.check reads, of groups dealt to tasks; return the numbers of the tasks.

    Groups that decisions connect are dealt to one task. `groups` is the folder of write_groups().
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    members = spark.read.parquet(str(groups / "members"))
    links = _deciding_links(spark, bundle, members)
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


def _deciding_links(spark: Any, bundle: Bundle, members: Any) -> Any:
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

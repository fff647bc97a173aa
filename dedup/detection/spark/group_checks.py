"""The pairs that clusters of dense groups need apart from those proposed: a task compares those of some groups."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from dedup.detection.clustering.group_pairs import IdPair, by_month, compared_in_groups
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.spark.clustering import components, members_of
from dedup.detection.spark.parts import Work, read_all, write
from dedup.detection.spark.schema import EVIDENCE, VERDICTS, Bundle, month_of, needed, of_month
from dedup.detection.spark.stages import Counts, Done, day_number, f, files_of, kept, store, stored, united
from dedup.detection.spark.verdicts import TO_JUDGE, Basis, judged_pairs, judged_row, learnt_from, verdict_table

# Whose pairs are compared: the articles of dense groups (`group` is the lowest of each), and those that links connect
# with them, which are in none.
MEMBERS = pa.schema([*needed(article=pa.int64(), day=pa.int64(), newspaper=pa.int64()), pa.field("group", pa.int64())])
# The verdicts on proposed pairs of one group, with `effect` "", and the decisions that must or cannot link articles.
JUDGED = pa.schema([*(field.with_nullable(True) for field in VERDICTS), pa.field("effect", pa.string())])


def check(work: Work, basis: Basis, folder: Path, to: Path, task: int) -> Done:
    """Compare the pairs that the clusters of some groups need, and write their VERDICTS into a folder, by month.

    `folder` is that of deal_groups(), which dealt these groups to the task with this number.
    """
    read = read_all(files_of(folder / f"members/task={task}"), MEMBERS)
    members = {row["article"]: row for row in read.to_pylist()}
    days = {article: datetime.date.fromordinal(row["day"]) for article, row in members.items()}
    rows: dict[str, dict[IdPair, JudgedRow]] = {"": {}, "must": {}, "cannot": {}}
    judged = read_all(files_of(folder / f"judged/task={task}"), JUDGED)
    for row in judged.sort_by([("left", "ascending"), ("right", "ascending")]).to_pylist():
        rows[row["effect"]][row["left"], row["right"]] = judged_row(row)
    compared = compared_in_groups(
        rows[""],
        {article: row["group"] for article, row in members.items() if row["group"] is not None},
        list(rows["must"]),
        list(rows["cannot"]),
        lambda _pairs: days,
        partial(_judged, work, basis, members),
    )
    for month, pairs in by_month(sorted(compared), days):
        table = verdict_table({ends: compared[ends] for ends in pairs})
        write(table, of_month(to, month_of(month)) / f"{task:06}.parquet")
    return Done(pairs=len(compared))


def _judged(
    work: Work, basis: Basis, members: Mapping[int, Mapping[str, Any]], month: datetime.date, pairs: Sequence[IdPair]
) -> Iterator[JudgedRow]:
    """Yield the verdicts on pairs of a month; `members` are their articles."""
    rows = [
        {"left": left, "right": right, "leftover": 0}
        | {f"left_{name}": members[left][name] for name in ("day", "newspaper")}
        | {f"right_{name}": members[right][name] for name in ("day", "newspaper")}
        for left, right in pairs
    ]
    asked = pa.Table.from_pylist(rows, schema=TO_JUDGE)
    found = judged_pairs(work, asked, learnt_from(work, month, (0, 1), asked), basis)
    yield from (found[ends] for ends in pairs)


# Articles of dense groups that one task compares more pairs of.
_ARTICLES_A_TASK = 5_000


def write_groups(spark: Any, bundle: Bundle, folder: Path) -> Counts:
    """Write the articles of dense groups into the folder `members`, and those of groups with a rule into `ruled`."""
    rules = spark.read.parquet(str(bundle.table("group_rules")))
    has_rules = bundle.read("group_rules").num_rows > 0
    # A group with a rule keeps its articles.
    edges = [*_kept_pairs(spark, bundle), *([rules.select("first", "article")] if has_rules else [])]
    if not edges:
        return {"members": 0}
    stars = components(united(edges).toDF("first", "second"), folder)
    members = kept(members_of(stars, "group"), folder / "members")
    if has_rules:
        with_rule = members.join(rules.select("article"), "article").select("group").distinct()
        kept(members.join(with_rule, "group").select("article", "group"), folder / "ruled")
    return {"members": members.count()}


def _kept_pairs(spark: Any, bundle: Bundle) -> list[Any]:
    """Return the pairs (left, right) of two articles that one pass found to be hubs, by pass."""
    found = []
    for folder in sorted(bundle.hubs.glob("pass_name=*")):
        hubs = spark.read.parquet(str(folder)).select("article")
        pairs = stored(spark, bundle.evidence / folder.name, EVIDENCE).select("left", "right")
        for side in ("left", "right"):
            pairs = pairs.join(hubs.withColumnRenamed("article", side), side)
        found.append(pairs.select("left", "right"))
    return found


def deal_groups(spark: Any, bundle: Bundle, groups: Path, folder: Path) -> list[int]:
    """Write what check() reads, of groups dealt to tasks; return the numbers of the tasks.

    Groups that decisions connect are dealt to one task. `groups` is the folder of write_groups().
    """
    members = spark.read.parquet(str(groups / "members"))
    links = _deciding_links(spark, bundle, members)
    nodes = _dealt(spark, members, links, folder)
    articles = spark.read.parquet(str(bundle.articles))
    articles = articles.select(f.col("id").alias("article"), day_number(), "newspaper")
    placed = kept(nodes.join(articles, "article"), folder / "members", by="task")
    dealt = placed.select("article", "group", "task")
    left, right = (dealt.toDF(side, f"{side}_group", f"{side}_task") for side in ("left", "right"))
    verdicts = spark.read.parquet(str(bundle.verdicts)).drop("month")
    judged = verdicts.join(left, "left").join(right.drop("right_task"), "right").where("left_group = right_group")
    judged = judged.select(*verdicts.columns, f.lit("").alias("effect"), f.col("left_task").alias("task"))
    # A link that two tasks have an end of, which must not be in one cluster, matters to neither.
    linked = links.join(left.select("left", f.col("left_task").alias("task")), "left")
    every = judged.unionByName(linked.select("left", "right", "effect", "task"), allowMissingColumns=True)
    store(every, folder / "judged", by="task")
    return sorted({int(path.parent.name.partition("=")[2]) for path in files_of(folder / "members")})


def _deciding_links(spark: Any, bundle: Bundle, members: Any) -> Any:
    """Return the decisions that must or cannot link an article of a group, with the groups of both ends, if any."""
    links = spark.read.parquet(str(bundle.table("links"))).where("effect in ('must', 'cannot')")
    for side in ("left", "right"):
        links = links.join(members.toDF(side, f"{side}_group"), side, "left")
    return links.where("left_group is not null or right_group is not null")


def _dealt(spark: Any, members: Any, links: Any, folder: Path) -> Any:
    """Return the articles of groups, and of links with them, each with its group, if any, and the number of a task."""
    ends = [links.select(side, f"{side}_group") for side in ("left", "right")]
    every = united([members.select("article", "group"), *ends]).distinct()
    every = every.withColumn("node", f.coalesce("group", "article"))
    tied = links.where("effect = 'must'").select(*(f.coalesce(f"{side}_group", side) for side in ("left", "right")))
    tied = tied.toDF("first", "second")
    if tied.head(1):
        parts = members_of(components(tied, folder), "part").withColumnRenamed("article", "node")
        every = every.join(parts, "node", "left").withColumn("node", f.coalesce("part", "node"))
    tasks = max(spark.sparkContext.defaultParallelism, members.count() // _ARTICLES_A_TASK)
    return every.select("article", "group", f.pmod(f.xxhash64("node"), f.lit(tasks)).alias("task"))

"""The passes whose pairs share a key on Spark: a shuffle brings together the articles of each key (passes/keyed.py)."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup.detection.kernels.masked_shingles import READ_CHARACTERS
from dedup.detection.passes.base import Pass
from dedup.detection.passes.keyed import KeyedArticle, KeyedPass
from dedup.detection.spark.manifest import BundleError
from dedup.detection.spark.pairs import PAIRS, pair_table
from dedup.detection.spark.parts import Keys, read_part
from dedup.detection.spark.schema import Bundle, ddl
from dedup.detection.spark.stages import Counts
from dedup.detection.spark.work import Work
from dedup.detection.types import Candidate, Window

_KEPT = tuple(PAIRS.names)
# The articles of a newspaper under a key, and a key that is generic in a newspaper.
_ASKED = pa.schema({"id": pa.int64(), "day": pa.int64(), "newspaper": pa.int64(), "key": pa.string()})
_GENERIC = pa.schema({"newspaper": pa.int64(), "key": pa.string()})


def mapped(frame: Any, convert: Callable[[pa.Table], pa.Table], schema: str) -> Any:
    """Return the rows of a frame, converted a batch at a time."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from convert(pa.Table.from_batches([batch])).to_batches()

    return frame.mapInArrow(run, schema)


def written(frame: Any, folder: Path) -> int:
    """Write the rows of a frame into a folder; return how many."""
    frame.write.mode("overwrite").parquet(str(folder))
    count: int = frame.sparkSession.read.parquet(str(folder)).count()
    return count


def find_keyed(spark: Any, work: Work, detection_pass: Pass, config: Any, _first_day: int, folder: Path) -> Counts:
    """Write the pairs of articles that share a key. Raises BundleError if the export has no keys of the pass."""
    keyed = cast("KeyedPass", detection_pass)
    window = Window(datetime.date.min, datetime.date.fromordinal(work.last_day))
    groups = _groups(spark, work, keyed.name)
    if keyed.contents:
        groups.write.mode("overwrite").parquet(str(folder / "groups"))
        groups = spark.read.parquet(str(folder / "groups"))
    every = mapped(groups, lambda table: pairs_of(keyed, table, config, window), f"{ddl(PAIRS)}, key string")
    candidates, kept = _filtered(spark, work, keyed, config, groups, every, folder)
    pairs = written(kept.select(*_KEPT), folder / "pairs")
    found = pairs if candidates is None else candidates
    return {"candidates": found, "verified": found, "pairs": pairs, "days": []}


def _filtered(
    spark: Any, work: Work, keyed: KeyedPass, config: Any, groups: Any, every: Any, folder: Path
) -> tuple[int | None, Any]:
    """Return how many pairs there are, and those that are kept; None: all are."""
    if not (keyed.contents or keyed.key.several):
        return None, every
    candidates = written(every, folder / "every")
    kept = spark.read.parquet(str(folder / "every"))
    if keyed.contents:
        window = Window(datetime.date.min, datetime.date.fromordinal(work.last_day))
        asked = mapped(groups, lambda table: in_doubt(keyed, table, config, window), ddl(_ASKED))
        kept = _without_generic(spark, kept, _generic(spark, work, keyed, asked, config), folder)
    return candidates, _once(kept) if keyed.key.several else kept


def _groups(spark: Any, work: Work, name: str) -> Any:
    """Return each key that several articles have, with these articles as `members` in any order."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

    folder = Bundle(work.root).keys_of(name)
    if not folder.is_dir():
        raise BundleError(f"the export has no keys of the pass {name!r}; export again with this version of newsdedup")
    day = (f.datediff(f.col("day"), f.lit("1970-01-01").cast("date")) + f.lit(719_163)).cast("long").alias("day")
    keys = spark.read.parquet(str(folder)).select(
        f.col("article").alias("id"), "newspaper", day, "place", "key", "note"
    )
    members = f.collect_list(f.struct("id", "newspaper", "day", "note")).alias("members")
    groups = keys.where(f.col("day") <= work.last_day).groupBy("place", "key").agg(members)
    return groups.where(f.size("members") > 1)


def _once(pairs: Any) -> Any:
    """Return each pair once, with the first of its keys."""
    from pyspark.sql import Window as Over  # noqa: PLC0415
    from pyspark.sql import functions as f  # noqa: PLC0415

    first = f.row_number().over(Over.partitionBy("left", "right").orderBy("key"))
    return pairs.withColumn("place", first).where("place = 1")


def _without_generic(spark: Any, every: Any, generic: Any, folder: Path) -> Any:
    """Return the pairs of which neither newspaper has the key over many different contents."""
    generic.write.mode("overwrite").parquet(str(folder / "generic"))
    for side in ("left", "right"):
        known = spark.read.parquet(str(folder / "generic")).withColumnRenamed("newspaper", f"{side}_newspaper")
        every = every.join(known, [f"{side}_newspaper", "key"], "left_anti")
    return every


def _generic(spark: Any, work: Work, keyed: KeyedPass, asked: Any, config: Any) -> Any:
    """Return which keys are generic. The texts of their articles are read part by part, and only those."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    ranges = [(number, part.first_day, part.last_day) for number, part in enumerate(work.parts)]
    parts = spark.createDataFrame(ranges, "part int, first_day long, last_day long")
    placed = asked.join(f.broadcast(parts), f.col("day").between(f.col("first_day"), f.col("last_day")))

    def read(table: pa.Table) -> pa.Table:
        [number] = pc.unique(table["part"]).to_pylist()
        known = read_part(work.parts[number], ["normalized_text"], ids=table["id"].to_numpy())
        texts = [text[:READ_CHARACTERS] for text in known["normalized_text"].to_pylist()]
        read = pa.table({"id": known["id"], "text": pa.array(texts, pa.string())})
        return table.select(_ASKED.names).join(read, "id", join_type="inner").select([*_ASKED.names, "text"])

    texts = placed.groupBy("part").applyInArrow(read, f"{ddl(_ASKED)}, text string")
    return texts.groupBy(f.pmod(f.xxhash64("newspaper", "key"), f.lit(64)).alias("bucket")).applyInArrow(
        lambda table: generic_keys(keyed, table, config), ddl(_GENERIC)
    )


def pairs_of(keyed: KeyedPass, groups: pa.Table, config: Any, window: Window) -> pa.Table:
    """Return the pairs of groups (key, members), each with its key."""
    found: list[Candidate] = []
    keys: list[str] = []
    articles: dict[int, tuple[int, int]] = {}
    for group in groups.to_pylist():
        articles |= {member["id"]: (member["newspaper"], member["day"]) for member in group["members"]}
        found += keyed.pairs(_articles_of(group), window, config)
        keys += [group["key"]] * (len(found) - len(keys))
    pairs = pair_table(
        _ends((candidate.left for candidate in found), articles),
        _ends((candidate.right for candidate in found), articles),
        np.ones(len(found)),
        [json.dumps(candidate.evidence, ensure_ascii=False) for candidate in found],
    )
    return pairs.append_column("key", pa.array(keys, pa.string()))


def in_doubt(keyed: KeyedPass, groups: pa.Table, config: Any, window: Window) -> pa.Table:
    """Return the articles (id, day, newspaper, key) whose texts decide whether a key is generic.

    They are all articles of a newspaper under a key, if there are enough of them and one is in a pair.
    """
    asked: list[dict[str, Any]] = []
    for group in groups.to_pylist():
        pairs = keyed.pairs(_articles_of(group), window, config)
        paired = {article for pair in pairs for article in (pair.left, pair.right)}
        by_newspaper: dict[int, list[Mapping[str, Any]]] = {}
        for member in group["members"]:
            by_newspaper.setdefault(member["newspaper"], []).append(member)
        for members in by_newspaper.values():
            if len(members) >= getattr(config, keyed.contents) and any(member["id"] in paired for member in members):
                asked += [{**member, "key": group["key"]} for member in members]
    return pa.Table.from_pylist(asked, _ASKED)


def generic_keys(keyed: KeyedPass, articles: pa.Table, config: Any) -> pa.Table:
    """Return the keys (newspaper, key) that are generic, given all their articles (newspaper, key, day, id, text),
    complete for each key, in any order.
    """
    ordered = articles.sort_by([(name, "ascending") for name in ("newspaper", "key", "day", "id")])
    texts: dict[tuple[int, str], list[str]] = {}
    for row in ordered.select(["newspaper", "key", "text"]).to_pylist():
        texts.setdefault((row["newspaper"], row["key"]), []).append(row["text"])
    found = [held for held, read in texts.items() if keyed.is_generic(iter(read), config)]
    columns = zip(*found, strict=True) if found else ((), ())
    return pa.table([*columns], schema=_GENERIC)


def _articles_of(group: Mapping[str, Any]) -> list[KeyedArticle]:
    rows = ((member["id"], _day(member), member["newspaper"], member["note"]) for member in group["members"])
    articles = (KeyedArticle(group["key"], *row) for row in rows)
    return sorted(articles, key=lambda article: (article.day, article.article))


def _ends(ids: Iterable[int], articles: Mapping[int, tuple[int, int]]) -> Keys:
    rows = [(article, *articles[article]) for article in ids]
    return Keys(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def _day(member: Mapping[str, Any]) -> datetime.date:
    return datetime.date.fromordinal(member["day"])

"""The passes whose pairs share a key on Spark: a shuffle brings together the articles of each key (passes/keyed.py)."""

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from dedup.detection.kernels.masked_shingles import READ_CHARACTERS
from dedup.detection.passes.base import Pass
from dedup.detection.passes.keyed import KeyedArticle, KeyedPass
from dedup.detection.spark.manifest import BundleError
from dedup.detection.spark.parts import PAIRS, Work, read_part
from dedup.detection.spark.schema import Bundle, ddl, of_pass, table_of
from dedup.detection.spark.stages import Counts, day_number, f, kept, mapped
from dedup.detection.types import Window

# The articles of a newspaper under a key, and a key that is generic in a newspaper.
_ASKED = pa.schema({"id": pa.int64(), "day": pa.int64(), "newspaper": pa.int64(), "key": pa.string()})
_GENERIC = pa.schema({"newspaper": pa.int64(), "key": pa.string()})
_KEYED = PAIRS.append(pa.field("key", pa.string()))


def find_keyed(spark: Any, work: Work, detection_pass: Pass, config: Any, _first_day: int, folder: Path) -> Counts:
    """Write the pairs of articles that share a key. Raises BundleError if the export has no keys of the pass."""
    keyed = cast("KeyedPass", detection_pass)
    window = Window(datetime.date.min, datetime.date.fromordinal(work.last_day))
    groups = _groups(spark, work, keyed.name)
    if keyed.contents:
        groups = kept(groups, folder / "groups")
    every = mapped(groups, lambda table: pairs_of(keyed, table, config, window), ddl(_KEYED))
    pairs, candidates = every, None
    if keyed.contents or keyed.key.several:
        pairs = kept(every, folder / "every")
        candidates = pairs.count()
    if keyed.contents:
        asked = mapped(groups, lambda table: in_doubt(keyed, table, config, window), ddl(_ASKED))
        generic = kept(_generic(spark, work, keyed, asked, config), folder / "generic")
        # Left are the pairs of which neither newspaper has the key over many different contents.
        for side in ("left_newspaper", "right_newspaper"):
            pairs = pairs.join(generic.withColumnRenamed("newspaper", side), [side, "key"], "left_anti")
    if keyed.key.several:
        # Each pair once, with the first of its keys.
        first = f.min_by(f.struct(*PAIRS.names), "key").alias("first")
        pairs = pairs.groupBy("left", "right").agg(first).select("first.*")
    count = kept(pairs.select(*PAIRS.names), folder / "pairs").count()
    found = count if candidates is None else candidates
    return {"candidates": found, "verified": found, "pairs": count, "days": []}


def _groups(spark: Any, work: Work, name: str) -> Any:
    """Return each key that several articles have, with these articles as `members` in any order."""
    folder = of_pass(Bundle(work.root).keys, name)
    if not folder.is_dir():
        raise BundleError(f"the export has no keys of the pass {name!r}; export again with this version of newsdedup")
    columns = (f.col("article").alias("id"), "newspaper", day_number(), "place", "key", "note")
    keys = spark.read.parquet(str(folder)).select(*columns)
    members = f.collect_list(f.struct("id", "newspaper", "day", "note")).alias("members")
    groups = keys.where(f.col("day") <= work.last_day).groupBy("place", "key").agg(members)
    return groups.where(f.size("members") > 1)


def _generic(spark: Any, work: Work, keyed: KeyedPass, asked: Any, config: Any) -> Any:
    """Return which keys are generic. The texts of their articles are read part by part, and only those."""
    ranges = [(number, part.first_day, part.last_day) for number, part in enumerate(work.parts)]
    parts = spark.createDataFrame(ranges, "part int, first_day long, last_day long")
    placed = asked.join(f.broadcast(parts), f.col("day").between(f.col("first_day"), f.col("last_day")))

    def with_texts(table: pa.Table) -> pa.Table:
        [number] = pc.unique(table["part"]).to_pylist()
        known = read_part(work.parts[number], ["normalized_text"], ids=table["id"].to_numpy())
        texts = pc.utf8_slice_codeunits(known["normalized_text"], 0, READ_CHARACTERS)
        read = pa.table([known["id"], texts], ["id", "text"])
        return table.select(_ASKED.names).join(read, "id", join_type="inner").select([*_ASKED.names, "text"])

    texts = placed.groupBy("part").applyInArrow(with_texts, f"{ddl(_ASKED)}, text string")
    return texts.groupBy(f.pmod(f.xxhash64("newspaper", "key"), f.lit(64)).alias("bucket")).applyInArrow(
        lambda table: generic_keys(keyed, table, config), ddl(_GENERIC)
    )


def pairs_of(keyed: KeyedPass, groups: pa.Table, config: Any, window: Window) -> pa.Table:
    """Return the pairs of groups (key, members), each with its key."""
    rows: list[tuple[Any, ...]] = []
    for group in groups.to_pylist():
        members = {member["id"]: member for member in group["members"]}
        for pair in keyed.pairs(_articles_of(group), window, config):
            both = members[pair.left], members[pair.right]
            facts = [member[name] for name in ("day", "newspaper") for member in both]
            details = json.dumps(pair.evidence, ensure_ascii=False)
            rows.append((pair.left, pair.right, pair.score, details, *facts, group["key"]))
    return table_of(rows, _KEYED)


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
    return table_of([held for held, read in texts.items() if keyed.is_generic(iter(read), config)], _GENERIC)


def _articles_of(group: Mapping[str, Any]) -> list[KeyedArticle]:
    members = sorted(group["members"], key=lambda member: (member["day"], member["id"]))
    days = (datetime.date.fromordinal(member["day"]) for member in members)
    return [
        KeyedArticle(group["key"], member["id"], day, member["newspaper"], member["note"])
        for member, day in zip(members, days, strict=True)
    ]

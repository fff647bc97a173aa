"""The url, title and exact passes on Spark: a shuffle brings together the articles that share a key (groups.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedup.detection.kernels.contents import READ_CHARACTERS
from dedup.detection.passes.exact import ExactConfig
from dedup.detection.passes.title import UNSPACED, TitleConfig
from dedup.detection.passes.url import UrlConfig
from dedup.detection.spark.groups import ASKED, exact_pairs, generic_headlines, in_doubt, title_pairs, url_pairs
from dedup.detection.spark.pairs import PAIRS
from dedup.detection.spark.parts import read_part
from dedup.detection.spark.schema import Bundle
from dedup.detection.spark.work import Work
from dedup.detection.types import Window

PAIRS_DDL = (
    "left long, right long, score double, details string, left_day long, right_day long, left_newspaper long, "
    "right_newspaper long"
)
_KEPT = tuple(PAIRS.names)


def articles_of(spark: Any, work: Work) -> Any:
    """Return the prepared articles that passes compare, without their long columns."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

    columns = ["id", "newspaper", "day", "normalized_title", "digest", "characters"]
    return spark.read.parquet(str(work.prepared)).select(*columns).where(f.col("day") <= work.last_day)


def mapped(frame: Any, convert: Callable[[pa.Table], pa.Table], schema: str) -> Any:
    """Return the rows of a frame, converted a batch at a time."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from convert(pa.Table.from_batches([batch])).to_batches()

    return frame.mapInArrow(run, schema)


def find_exact(spark: Any, work: Work, config: ExactConfig, window: Window, folder: Path) -> int:
    """Write the pairs of equal texts; return how many."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    articles = articles_of(spark, work).where(
        f.col("digest").isNotNull() & (f.col("characters") >= config.minimum_characters)
    )
    groups = _groups(articles, ["digest"], ["id", "newspaper", "day", "normalized_title"])
    return written(mapped(groups, lambda table: exact_pairs(table, config, window), PAIRS_DDL), folder)


def find_urls(spark: Any, work: Work, config: UrlConfig, window: Window, folder: Path) -> tuple[int, int]:
    """Write the pairs of articles of a newspaper that share a URL; return how many shared ones there are, and pairs."""
    from pyspark.sql import Window as Over  # noqa: PLC0415
    from pyspark.sql import functions as f  # noqa: PLC0415

    urls = spark.read.parquet(str(Bundle(work.root).urls)).select(
        f.col("article").alias("id"), "newspaper", _ordinal("day"), "normalized_url"
    )
    groups = _groups(
        urls.where(f.col("day") <= work.last_day).distinct(),
        ["newspaper", "normalized_url"],
        ["id", "newspaper", "day"],
    )
    found = mapped(groups, lambda table: url_pairs(table, config, window), PAIRS_DDL)
    found.write.mode("overwrite").parquet(str(folder / "every"))
    every = spark.read.parquet(str(folder / "every"))
    shared = f.get_json_object("details", "$.shared")
    first = f.row_number().over(Over.partitionBy("left", "right").orderBy(shared))
    once = every.withColumn("place", first).where("place = 1").select(*_KEPT)
    return every.count(), written(once, folder / "pairs")


def find_titles(spark: Any, work: Work, config: TitleConfig, window: Window, folder: Path) -> tuple[int, int]:
    """Write the pairs of articles under one headline; return how many there are, and without generic headlines."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    title = f.col("normalized_title")
    words = f.length(title) - f.length(f.replace(title, f.lit(" "), f.lit(""))) + 1
    unspaced = title.rlike(f"[{UNSPACED}]{{{2 * config.minimum_words}}}")
    long_enough = (title != "") & (words >= config.minimum_words) | unspaced
    place = f.lit(0).cast("long") if config.across_newspapers else f.col("newspaper")
    articles = articles_of(spark, work).where(long_enough).withColumn("place", place)
    groups = _groups(articles, ["place", "normalized_title"], ["id", "newspaper", "day"])
    groups.write.mode("overwrite").parquet(str(folder / "groups"))
    groups = spark.read.parquet(str(folder / "groups"))
    written(
        mapped(groups, lambda table: _titled(table, config, window), PAIRS_DDL + ", title string"), folder / "every"
    )
    asked = mapped(
        groups,
        lambda table: in_doubt(table, title_pairs(table, config, window), config),
        "id long, day long, newspaper long, title string",
    )
    _write_generic(spark, work, asked, config, folder)
    every = spark.read.parquet(str(folder / "every"))
    kept = every
    for side in ("left", "right"):
        generic = spark.read.parquet(str(folder / "generic")).withColumnRenamed("newspaper", f"{side}_newspaper")
        kept = kept.join(generic, [f"{side}_newspaper", "title"], "left_anti")
    return every.count(), written(kept.select(*_KEPT), folder / "pairs")


def _titled(groups: pa.Table, config: TitleConfig, window: Window) -> pa.Table:
    """Return the pairs of groups, each with its headline."""
    pairs = title_pairs(groups, config, window)
    return pairs.append_column("title", _shared(pairs))


def _shared(pairs: pa.Table) -> pa.Array:
    return pa.array([json.loads(each)["shared"] for each in pairs["details"].to_pylist()], pa.string())


def _write_generic(spark: Any, work: Work, asked: Any, config: TitleConfig, folder: Path) -> None:
    """Write which headlines are generic. Their texts are read part by part, and only those."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    ranges = [(number, part.first_day, part.last_day) for number, part in enumerate(work.parts)]
    parts = spark.createDataFrame(ranges, "part int, first_day long, last_day long")
    placed = asked.join(f.broadcast(parts), f.col("day").between(f.col("first_day"), f.col("last_day")))

    def read(table: pa.Table) -> pa.Table:
        [number] = pc.unique(table["part"]).to_pylist()
        known = read_part(work.parts[number], ["normalized_text"], ids=table["id"].to_numpy())
        texts = [text[:READ_CHARACTERS] for text in known["normalized_text"].to_pylist()]
        read = pa.table({"id": known["id"], "text": pa.array(texts, pa.string())})
        return table.select(ASKED.names).join(read, "id", join_type="inner").select([*ASKED.names, "text"])

    texts = placed.groupBy("part").applyInArrow(read, "id long, day long, newspaper long, title string, text string")
    generic = texts.groupBy(f.pmod(f.xxhash64("newspaper", "title"), f.lit(64)).alias("bucket")).applyInArrow(
        lambda table: generic_headlines(table, config), "newspaper long, title string"
    )
    generic.write.mode("overwrite").parquet(str(folder / "generic"))


def _groups(articles: Any, keys: list[str], members: list[str]) -> Any:
    from pyspark.sql import functions as f  # noqa: PLC0415

    groups = articles.groupBy(*keys).agg(f.collect_list(f.struct(*members)).alias("members"))
    return groups.where(f.size("members") > 1)


def written(frame: Any, folder: Path) -> int:
    frame.write.mode("overwrite").parquet(str(folder))
    count: int = frame.sparkSession.read.parquet(str(folder)).count()
    return count


def _ordinal(column: str) -> Any:
    from pyspark.sql import functions as f  # noqa: PLC0415

    days = f.datediff(f.col(column), f.lit("1970-01-01").cast("date"))
    return (days + f.lit(719_163)).cast("long").alias(column)

"""The minhash pass on Spark (similar.py): a shuffle brings together the articles that meet in a band."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from dedup.detection.passes.base import Pass
from dedup.detection.passes.minhash import MinhashConfig
from dedup.detection.spark.keyed import PAIRS_DDL, mapped, written
from dedup.detection.spark.parts import read_part, write
from dedup.detection.spark.schema import CROWDED
from dedup.detection.spark.similar import in_bands, met, of_groups, signed, verified
from dedup.detection.spark.tasks import perform_all
from dedup.detection.spark.work import Done, Work
from dedup.detection.types import Tally

_KEYS = "id long, newspaper long, day long"


def find_similar(
    spark: Any, work: Work, _pass: Pass, config: MinhashConfig, first_day: int, folder: Path
) -> dict[str, Any]:
    """Write the pairs of similar texts of any days; return what was compared.

    The later article of a pair is of `first_day` or later. Texts of pairs that meet go through a shuffle: the two may
    be of any days. The texts of all articles that may be in dense groups are compared in one task.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

    first_read = max(1, first_day - config.day_window)
    parts = [each for each, part in enumerate(work.parts) if part.overlaps(first_read, work.last_day)]
    perform_all(spark, parts, partial(_sign, work, config, folder), folder / "tallies")
    articles = spark.read.parquet(str(folder / "signed")).where(f.col("day") >= first_read)
    banded = mapped(articles.drop("text"), lambda table: in_bands(table, config), f"key long, {_KEYS}")
    groups = banded.groupBy("key").agg(f.collect_list(f.struct("id", "newspaper", "day")).alias("members"))
    groups.where(f.size("members") > 1).write.mode("overwrite").parquet(str(folder / "groups"))
    groups = spark.read.parquet(str(folder / "groups"))
    large = f.size("members") > config.dense_from + 1
    crowded = groups.where(large).select(f.explode("members.id").alias("id")).distinct()
    crowded.write.mode("overwrite").parquet(str(folder / "large"))
    crowded = spark.read.parquet(str(folder / "large"))
    pairs = mapped(groups.where(~large), lambda table: met(table, config), _MET).distinct()
    later = f.greatest("one_day", "other_day")
    asked = _without_both(pairs.where(later >= first_day), crowded)
    asked.write.mode("overwrite").parquet(str(folder / "met"))
    asked = spark.read.parquet(str(folder / "met")).select("one", "other")
    both = asked.join(_side(articles, "one"), "one").join(_side(articles, "other"), "other")
    columns = [f"{side}_{name}" for side in ("one", "other") for name in ("newspaper", "day", "signature", "text")]
    both = both.select(f.col("one").alias("one_id"), f.col("other").alias("other_id"), *columns)
    apart = mapped(both, lambda table: verified(table, config), PAIRS_DDL)
    crowded_articles = articles.join(crowded, "id", "left_semi").select("id", "newspaper", "day", "signature", "text")
    together = crowded_articles.withColumn("task", f.lit(0)).groupBy("task")
    grouped = together.applyInArrow(_of_groups(config, folder / "crowded"), PAIRS_DDL)
    found = written(apart.union(grouped.where(f.greatest("left_day", "right_day") >= first_day)), folder / "pairs")
    candidates = asked.count()
    return {"candidates": candidates, "verified": candidates, "pairs": found, "days": []}


_MET = "one long, other long, one_day long, other_day long"


def _sign(work: Work, config: MinhashConfig, folder: Path, part: int) -> Done:
    articles = read_part(work.parts[part], ["text"], last_day=work.last_day)
    write(signed(articles, config), folder / "signed" / f"{part:06}.parquet")
    return Done()


def _side(articles: Any, side: str) -> Any:
    from pyspark.sql import functions as f  # noqa: PLC0415

    named = [f.col(name).alias(f"{side}_{name}") for name in ("newspaper", "day", "signature", "text")]
    return articles.select(f.col("id").alias(side), *named)


def _without_both(pairs: Any, crowded: Any) -> Any:
    """Return the pairs of which one article at least may not be in a dense group."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    for side in ("one", "other"):
        known = crowded.select(f.col("id").alias(side), f.lit(True).alias(f"{side}_crowded"))
        pairs = pairs.join(known, side, "left")
    return pairs.where("one_crowded is null or other_crowded is null").select("one", "other", "one_day", "other_day")


def _of_groups(config: MinhashConfig, folder: Path) -> Callable[[pa.Table], pa.Table]:
    def find(articles: pa.Table) -> pa.Table:
        tally = Tally()
        pairs = of_groups(articles, config, tally)
        near = {"article": list(tally.crowded), "near": list(tally.crowded.values())}
        write(pa.table(near, schema=CROWDED), folder / "crowded.parquet")
        return pairs

    return find

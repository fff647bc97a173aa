"""The minhash pass on Spark: a shuffle brings together the articles that meet in a band."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from dedup.detection.kernels import minhash
from dedup.detection.kernels.tokens import character_shingle_sets, jaccard_from
from dedup.detection.passes.base import Pass
from dedup.detection.passes.minhash import MinhashConfig, signatures_of, similar_in_groups
from dedup.detection.spark.parts import KEYS, PAIRS, Keys, Work, pair_table, read_part, write
from dedup.detection.spark.schema import HUBS, ddl, needed, table_of
from dedup.detection.spark.stages import Done, f, kept, mapped, perform_all, stored
from dedup.detection.types import Tally


def find_similar(
    spark: Any, work: Work, _pass: Pass, config: MinhashConfig, first_day: int, folder: Path
) -> dict[str, Any]:
    """Write the pairs of similar texts of any days; return what was compared.

    The later article of a pair is of `first_day` or later. Texts of pairs that meet go through a shuffle: the two may
    be of any days. The texts of all articles that may be in dense groups are compared in one task.
    """
    first_read = max(1, first_day - config.day_window)
    parts = [place for place, part in enumerate(work.parts) if part.overlaps(first_read, work.last_day)]
    perform_all(spark, parts, partial(_sign, work, config, folder), folder / "tallies")
    articles = stored(spark, folder / "signed", SIGNED).where(f.col("day") >= first_read)
    banded = mapped(articles.drop("text"), lambda table: in_bands(table, config), ddl(IN_BAND))
    groups = banded.groupBy("key").agg(f.collect_list(f.struct("id", "newspaper", "day")).alias("members"))
    groups = kept(groups.where(f.size("members") > 1), folder / "groups")
    large = f.size("members") > config.dense_from + 1
    possible_hubs = groups.where(large).select(f.explode("members.id").alias("id")).distinct()
    possible_hubs = kept(possible_hubs, folder / "large")
    pairs = mapped(groups.where(~large), lambda table: met(table, config), ddl(MET)).distinct()
    later = f.greatest("one_day", "other_day")
    asked = kept(_without_both(pairs.where(later >= first_day), possible_hubs), folder / "met").select("one", "other")
    both = asked
    for side in ("one", "other"):
        held = articles.toDF(*(f"{side}_{name}" for name in SIGNED.names))
        both = both.join(held, f.col(side) == f.col(f"{side}_id"))
    both = both.select(*(f"{side}_{name}" for side in ("one", "other") for name in SIGNED.names))
    apart = mapped(both, lambda table: verified(table, config), ddl(PAIRS))
    in_groups = articles.join(possible_hubs, "id", "left_semi")
    together = in_groups.withColumn("task", f.lit(0)).groupBy("task")
    grouped = together.applyInArrow(_of_groups(config, folder), ddl(PAIRS))
    found = kept(apart.union(grouped.where(f.greatest("left_day", "right_day") >= first_day)), folder / "pairs")
    candidates = asked.count()
    return {"candidates": candidates, "verified": candidates, "pairs": found.count(), "days": []}


def _sign(work: Work, config: MinhashConfig, folder: Path, part: int) -> Done:
    articles = read_part(work.parts[part], ["text"], last_day=work.last_day)
    write(signed(articles, config), folder / "signed" / f"{part:06}.parquet")
    return Done()


def _without_both(pairs: Any, possible_hubs: Any) -> Any:
    """Return the pairs of which one article at least may not be in a dense group."""
    for side in ("one", "other"):
        known = possible_hubs.select(f.col("id").alias(side), f.lit(True).alias(f"{side}_is_hub"))
        pairs = pairs.join(known, side, "left")
    return pairs.where("one_is_hub is null or other_is_hub is null").select("one", "other", "one_day", "other_day")


def _of_groups(config: MinhashConfig, folder: Path) -> Callable[[pa.Table], pa.Table]:
    def find(articles: pa.Table) -> pa.Table:
        tally = Tally()
        pairs = of_groups(articles, config, tally)
        write(table_of(list(tally.hubs.items()), HUBS), folder / "hubs" / "all.parquet")
        return pairs

    return find


_KEY_COLUMNS: Final = dict.fromkeys(KEYS, pa.int64())
# The articles that have a text, with their signatures and the beginnings of their texts.
SIGNED: Final = needed(**_KEY_COLUMNS, signature=pa.binary(), text=pa.string())
# An article in a band: `key` is a hash of the band's number and the article's values there.
IN_BAND: Final = needed(key=pa.int64(), **_KEY_COLUMNS)
# Two articles that meet in a band; the ids and days of both.
MET: Final = needed(**dict.fromkeys(("one", "other", "one_day", "other_day"), pa.int64()))


def signed(articles: pa.Table, config: MinhashConfig) -> pa.Table:
    """Return the SIGNED rows of articles (KEYS, text)."""
    texts = [text[: config.prefix] for text in articles["text"].to_pylist()]
    rows = np.flatnonzero([bool(text) for text in texts])
    kept = [texts[row] for row in rows.tolist()]
    values = [signature.tobytes() for signature in signatures_of(kept, config)]
    keys = articles.select(KEYS).take(rows)
    return pa.table([*keys.columns, pa.array(values, pa.binary()), pa.array(kept, pa.string())], schema=SIGNED)


def in_bands(articles: pa.Table, config: MinhashConfig) -> pa.Table:
    """Return the IN_BAND rows of SIGNED articles: one for each band."""
    values = np.frombuffer(b"".join(articles["signature"].to_pylist()), dtype=np.uint8).reshape(-1, config.slots)
    bands = minhash.bands_of(config.slots, minhash.rows_per_band(config.slots, config.threshold, config.recall))
    keys = [minhash.keys_of(values, band, number) for number, band in enumerate(bands)]
    columns = [pa.array(np.tile(articles[name].to_numpy(), len(bands))) for name in KEYS]
    return pa.table([pa.array(np.concatenate(keys).view(np.int64)), *columns], schema=IN_BAND)


def met(groups: pa.Table, config: MinhashConfig) -> pa.Table:
    """Return which articles meet (MET), given the `members` (KEYS) of each key; some pairs more than once."""
    tables = [MET.empty_table()]
    for members in groups["members"].to_pylist():
        ids = np.array([member["id"] for member in members], dtype=np.int64)
        days = np.array([member["day"] for member in members], dtype=np.int64)
        order = np.argsort(ids)
        ids, days = ids[order], days[order]
        one, other = np.triu_indices(len(ids), 1)
        near = np.abs(days[one] - days[other]) <= config.day_window
        one, other = one[near], other[near]
        tables.append(pa.table([ids[one], ids[other], days[one], days[other]], schema=MET))
    return pa.concat_tables(tables)


def verified(pairs: pa.Table, config: MinhashConfig) -> pa.Table:
    """Return the pairs that reach the threshold, given both articles (SIGNED): one_id, other_id, one_text…."""
    least = minhash.least_agreement(config.slots, config.threshold)
    sides = [
        np.frombuffer(b"".join(pairs[f"{side}_signature"].to_pylist()), dtype=np.uint8).reshape(-1, config.slots)
        for side in ("one", "other")
    ]
    agreed = np.flatnonzero(np.count_nonzero(sides[0] == sides[1], axis=1) >= least)
    if not len(agreed):
        return PAIRS.empty_table()
    rows = pairs.take(agreed)
    first, second = (
        character_shingle_sets(rows[f"{side}_text"].to_pylist(), config.shingle) for side in ("one", "other")
    )
    scores = np.array([jaccard_from(config.threshold, *sets) for sets in zip(first, second, strict=True)])
    reached = np.flatnonzero(scores >= config.threshold)
    keys = [Keys(*(rows[f"{side}_{name}"].to_numpy() for name in KEYS)) for side in ("one", "other")]
    return pair_table(keys[0].at(reached), keys[1].at(reached), scores[reached])


def of_groups(articles: pa.Table, config: MinhashConfig, tally: Tally) -> pa.Table:
    """Return the pairs of articles (SIGNED) of which each may be in a dense group; note those that are in the tally."""
    articles = articles.sort_by([("day", "ascending"), ("id", "ascending")])
    keys = Keys.of(articles)
    found = similar_in_groups(articles["text"].to_pylist(), keys.days, config)
    tally.hubs |= dict(zip(keys.ids[found.hubs].tolist(), found.neighbours.tolist(), strict=True))
    return pair_table(keys.at(found.left), keys.at(found.right), found.scores)

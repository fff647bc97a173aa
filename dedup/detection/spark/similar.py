"""The minhash pass in parts: signatures, the articles that meet in a band, and their exact similarity. Pure."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dedup.detection.kernels import minhash
from dedup.detection.kernels.tokens import IntArray, character_shingle_sets, jaccard_of
from dedup.detection.passes.minhash import MinhashConfig, signatures_of, similar_in_groups
from dedup.detection.spark.pairs import no_pairs, pair_table
from dedup.detection.spark.parts import KEYS, Keys
from dedup.detection.types import Tally

_KEYS: Final = [pa.field(name, pa.int64(), nullable=False) for name in KEYS]
# The articles that have a text, with their signatures and the beginnings of their texts.
SIGNED: Final = pa.schema(
    [*_KEYS, pa.field("signature", pa.binary(), nullable=False), pa.field("text", pa.string(), nullable=False)]
)
# An article in a band: `key` is a hash of the band's number and the article's values there.
IN_BAND: Final = pa.schema([pa.field("key", pa.int64(), nullable=False), *_KEYS])
# Two articles that meet in a band; the ids and days of both.
MET: Final = pa.schema(
    [pa.field(name, pa.int64(), nullable=False) for name in ("one", "other", "one_day", "other_day")]
)


def signed(articles: pa.Table, config: MinhashConfig) -> pa.Table:
    """Return the SIGNED rows of articles (KEYS, text)."""
    texts = [text[: config.prefix] for text in articles["text"].to_pylist()]
    rows = np.flatnonzero([bool(text) for text in texts])
    kept = [texts[row] for row in rows.tolist()]
    values = [each.tobytes() for each in signatures_of(kept, config)]
    keys = articles.select(KEYS).take(rows)
    return pa.table([*keys.columns, pa.array(values, pa.binary()), pa.array(kept, pa.string())], schema=SIGNED)


def in_bands(articles: pa.Table, config: MinhashConfig) -> pa.Table:
    """Return the IN_BAND rows of SIGNED articles: one for each band."""
    values = np.frombuffer(b"".join(articles["signature"].to_pylist()), dtype=np.uint8).reshape(-1, config.slots)
    bands = minhash.bands_of(config.slots, minhash.rows_per_band(config.slots, config.threshold, config.recall))
    keys = [_mixed(values[:, band], number) for number, band in enumerate(bands)]
    columns = [pa.array(np.tile(articles[name].to_numpy(), len(bands))) for name in KEYS]
    return pa.table([pa.array(np.concatenate(keys).view(np.int64)), *columns], schema=IN_BAND)


def _mixed(values: minhash.Signatures, band: int) -> npt.NDArray[np.uint64]:
    """Return 64 mixed bits (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014) of each row."""
    keys = np.full(len(values), band, dtype=np.uint64)
    for column in values.T:
        keys = (keys ^ column) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


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
        return no_pairs()
    rows = pairs.take(agreed)
    first, second = (
        character_shingle_sets(rows[f"{side}_text"].to_pylist(), config.shingle) for side in ("one", "other")
    )
    scores = np.array([_score(one, other, config) for one, other in zip(first, second, strict=True)])
    reached = np.flatnonzero(scores >= config.threshold)
    keys = [Keys(*(rows[f"{side}_{name}"].to_numpy() for name in KEYS)) for side in ("one", "other")]
    return pair_table(keys[0].at(reached), keys[1].at(reached), scores[reached])


def _score(one: IntArray, other: IntArray, config: MinhashConfig) -> float:
    # The sizes bound the similarity: at most the smaller set is shared, and the union has at least the larger.
    if min(len(one), len(other)) / max(len(one), len(other), 1) < config.threshold:
        return 0.0
    return jaccard_of(one, other)


def of_groups(articles: pa.Table, config: MinhashConfig, tally: Tally) -> pa.Table:
    """Return the pairs of articles (SIGNED) of which each may be in a dense group; note those that are in the tally."""
    articles = articles.sort_by([("day", "ascending"), ("id", "ascending")])
    keys = Keys.of(articles)
    found = similar_in_groups(articles["text"].to_pylist(), keys.days, config)
    tally.crowded |= dict(zip(keys.ids[found.crowded].tolist(), found.near.tolist(), strict=True))
    return pair_table(keys.at(found.left), keys.at(found.right), found.scores)

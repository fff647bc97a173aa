"""Pairs of articles as tables: what the passes find, before and after the rules of the profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dedup.detection.bounds import Rules, bounds_between
from dedup.detection.passes.base import PassConfig
from dedup.detection.spark.parts import Keys, write
from dedup.detection.spark.schema import HUBS, needed, table_of

# A pair that a pass proposes, left < right, with the days (ordinal numbers) and newspapers of both articles.
# `details` is JSON, as Candidate.evidence.
PAIRS: Final = needed(
    left=pa.int64(), right=pa.int64(), score=pa.float64(), details=pa.string(), left_day=pa.int64(),
    right_day=pa.int64(), left_newspaper=pa.int64(), right_newspaper=pa.int64(),
)  # fmt: skip

Scores = npt.NDArray[np.float64]


def pair_table(one: Keys, other: Keys, scores: Scores, details: Sequence[str] | None = None) -> pa.Table:
    """Return the pairs of the articles `one` and `other`, row by row."""
    swapped = one.ids > other.ids
    left = Keys(*(np.where(swapped, theirs, ours) for ours, theirs in zip(one, other, strict=True)))
    right = Keys(*(np.where(swapped, ours, theirs) for ours, theirs in zip(one, other, strict=True)))
    noted = pa.array(["{}"] * len(scores) if details is None else details, pa.string())
    days, newspapers = (left.days, right.days), (left.newspapers, right.newspapers)
    return pa.table([left.ids, right.ids, scores.astype(np.float64), noted, *days, *newspapers], schema=PAIRS)


def write_hubs(hubs: Mapping[int, int], file: Path) -> None:
    """Write the hubs that a task found, each with the number of its neighbours."""
    write(table_of(list(hubs.items()), HUBS), file)


def allowed(pairs: pa.Table, pass_name: str, config: PassConfig, rules: Rules) -> pa.Table:
    """Return the pairs that the rules of the profile allow."""
    between = bounds_between(pass_name, config, rules)
    names = ("left_newspaper", "right_newspaper", "score", "left_day", "right_day")
    inside = [
        between(one, other).allow(score, abs(day - other_day))
        for one, other, score, day, other_day in zip(*(pairs[name].to_pylist() for name in names), strict=True)
    ]
    return pairs.filter(pa.array(inside, pa.bool_()))

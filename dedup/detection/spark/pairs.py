"""Pairs of articles as tables: what the passes find, before and after the rules of the profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dedup.detection.bounds import Bounds, Rules, bounds_between
from dedup.detection.kernels.tokens import IntArray
from dedup.detection.passes.base import PassConfig
from dedup.detection.spark.parts import Keys
from dedup.detection.spark.schema import needed

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
    left = [np.where(swapped, theirs, ours) for ours, theirs in zip(one, other, strict=True)]
    right = [np.where(swapped, ours, theirs) for ours, theirs in zip(one, other, strict=True)]
    return pa.table(
        {
            "left": left[0],
            "right": right[0],
            "score": scores.astype(np.float64),
            "details": pa.array(["{}"] * len(scores) if details is None else details, pa.string()),
            "left_day": left[2],
            "right_day": right[2],
            "left_newspaper": left[1],
            "right_newspaper": right[1],
        },
        schema=PAIRS,
    )


def no_pairs() -> pa.Table:
    """Return a table without pairs."""
    return PAIRS.empty_table()


def allowed(pairs: pa.Table, pass_name: str, config: PassConfig, rules: Rules) -> pa.Table:
    """Return the pairs that the rules of the profile allow."""
    columns = {name: pairs[name].to_numpy() for name in PAIRS.names if name != "details"}
    return pairs.filter(pa.array(_inside(columns, bounds_between(pass_name, config, rules)), pa.bool_()))


def _inside(columns: dict[str, Any], between: Callable[[int, int], Bounds]) -> npt.NDArray[np.bool_]:
    apart: IntArray = np.abs(columns["left_day"] - columns["right_day"])
    rows: Iterable[tuple[int, int, float, int]] = zip(
        columns["left_newspaper"].tolist(),
        columns["right_newspaper"].tolist(),
        columns["score"].tolist(),
        apart.tolist(),
        strict=True,
    )
    return np.array([between(one, other).allow(score, days) for one, other, score, days in rows], dtype=np.bool_)

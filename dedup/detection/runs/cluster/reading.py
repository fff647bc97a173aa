"""Reads the results that a run on a cluster left."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.dataset
from django.db import connection

from dedup.detection.judging.judge import JudgedRow
from dedup.detection.spark.schema import Bundle
from dedup.detection.types import Candidate

_LOOKED_UP_AT_ONCE = 5_000

_IDS_SQL = """
SELECT pair.left_id, pair.right_id, pair.id
FROM unnest(%(lefts)s::bigint[], %(rights)s::bigint[]) AS asked (left_id, right_id)
JOIN dedup_pair AS pair ON pair.left_id = asked.left_id AND pair.right_id = asked.right_id
"""


def months_in(folder: Path) -> list[str]:
    """Return the months that a folder of results has, in order: 2026-03."""
    return sorted(path.name.removeprefix("month=") for path in folder.glob("month=*"))


def of_month(folder: Path, month: str) -> Path:
    """Return the folder of a month."""
    return folder / f"month={month}"


def of_pass(folder: Path, name: str) -> Path:
    """Return the folder of a pass."""
    return folder / f"pass_name={name}"


def read_candidates(folder: Path, pass_name: str) -> Iterator[Candidate]:
    """Yield the candidates in a folder of EVIDENCE."""
    for row in _rows(folder):
        yield Candidate(row["left"], row["right"], pass_name, row["score"], json.loads(row["details"]))


def read_crowded(folder: Path) -> dict[int, int]:
    """Return the crowded articles of a pass, each with the number of articles near it."""
    return {row["article"]: row["near"] for row in _rows(folder)}


def read_verdicts(folder: Path) -> Iterator[JudgedRow]:
    """Yield the rows of a folder of VERDICTS whose pairs are stored, with the numbers of these pairs."""
    rows = _rows(folder)
    while batch := list(islice(rows, _LOOKED_UP_AT_ONCE)):
        ids = _ids([(row["left"], row["right"]) for row in batch])
        for row in batch:
            ends = row.pop("left"), row.pop("right")
            if ends in ids:
                yield JudgedRow(ids[ends], **row)


def read_checked(folder: Path) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the pairs of a folder of VERDICTS, each with how much of the shorter article matches."""
    for row in _rows(folder, ["left", "right", "left_matched", "right_matched"]):
        yield (row["left"], row["right"]), max(row["left_matched"], row["right_matched"])


def clusters_in(bundle: Bundle) -> dict[int, int]:
    """Return the cluster of each article that is in one, named by its lowest id."""
    return {row["article"]: row["cluster"] for row in _rows(bundle.clusters, ["article", "cluster"])}


def rows_in(folder: Path) -> int:
    """Return the number of rows in a folder, which may be missing."""
    return _dataset(folder).count_rows() if folder.exists() else 0


def _rows(folder: Path, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    if not folder.exists():
        return
    for batch in _dataset(folder).to_batches(columns=columns, batch_size=_LOOKED_UP_AT_ONCE):
        yield from batch.to_pylist()


def _dataset(folder: Path) -> Any:
    # Without partitions, or the names of folders above would become columns.
    return pyarrow.dataset.dataset(folder, format="parquet", partitioning=None)


def _ids(ends: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    lefts, rights = zip(*ends, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_IDS_SQL, {"lefts": list(lefts), "rights": list(rights)})
        return {(left, right): number for left, right, number in cursor}

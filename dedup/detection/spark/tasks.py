"""Runs tasks on the workers of Spark: one task of ours is one of Spark's, which repeats it if a machine is lost."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa

from dedup.detection.spark.stages import Counts
from dedup.detection.spark.work import Done

Task = TypeVar("Task")

_DONE: Final = pa.schema(
    [
        ("candidates", pa.int64()),
        ("verified", pa.int64()),
        ("pairs", pa.int64()),
        ("days", pa.list_(pa.int64())),
        ("seconds", pa.float64()),
        ("peak", pa.int64()),
    ]
)
_DDL: Final = "candidates long, verified long, pairs long, days array<long>, seconds double, peak long"


def perform_all(spark: Any, tasks: Sequence[Task], perform: Callable[[Task], Done], tallies: Path) -> Counts:
    """Perform every task on the workers; return the sums of what they did.

    `tallies` is a folder for what each task says of itself, which the workers write and add up: the driver gets one
    row, and the days of dense groups.
    """
    if not tasks:
        return {"candidates": 0, "verified": 0, "pairs": 0, "days": [], "seconds": 0.0, "peak": 0}
    sent = spark.sparkContext.broadcast(tasks)
    numbers = spark.range(0, len(tasks), 1, len(tasks))

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _performed(perform, sent.value[number])

    numbers.mapInArrow(run, _DDL).write.mode("overwrite").parquet(str(tallies))
    counts = added_up(spark, tallies)
    sent.destroy()
    return counts


def _performed(perform: Callable[[Task], Done], task: Task) -> pa.RecordBatch:
    began = time.process_time()
    done = perform(task)
    row = done._asdict() | {"days": list(done.days), "seconds": time.process_time() - began, "peak": peak_memory()}
    return pa.RecordBatch.from_pylist([row], schema=_DONE)


def added_up(spark: Any, tallies: Path) -> Counts:
    """Return the sums of what tasks did, the highest memory of a worker, and all days that they name, ascending."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

    rows = spark.read.parquet(str(tallies))
    sums = (f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in ("candidates", "verified", "pairs", "seconds"))
    [total] = rows.agg(*sums, f.coalesce(f.max("peak"), f.lit(0)).alias("peak")).collect()
    days = rows.select(f.explode("days").alias("day")).distinct().collect()
    return total.asDict() | {"days": sorted(row["day"] for row in days)}


def peak_memory() -> int:
    """Return the most bytes that this process has had in memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak

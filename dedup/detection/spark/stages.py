"""The stages of a run: each has a folder of its own, named by what it rests on, and a mark once it is finished.

A stage that another run with the same export and settings has finished is kept. Of a stage that was interrupted, some
tasks are not repeated either: a file is there whole or not at all, and made twice it is the same.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import pyarrow as pa

from articles.loading import when_used
from dedup.detection.spark.manifest import write_whole
from dedup.detection.spark.schema import EPOCH, ddl

# Loaded when it is used: `newsdedup-spark plan` needs no Spark.
f = when_used("pyspark.sql.functions", of_extra=True)
Counts = dict[str, Any]


class Done(NamedTuple):
    """What a task did. `days`: those on which there may be dense groups, as ordinal numbers."""

    candidates: int = 0
    verified: int = 0
    pairs: int = 0
    days: Sequence[int] = ()


@dataclass(slots=True)
class Stages:
    """All stages of a run. `fingerprint` is of everything that they rest on."""

    root: Path
    fingerprint: str
    seconds: dict[str, float] = field(default_factory=dict)

    def folder(self, name: str) -> Path:
        """Return the folder of the stage with this name."""
        return self.root / f"{name}-{self.fingerprint}"

    def perform(self, name: str, make: Callable[[Path], Counts]) -> tuple[Path, Counts]:
        """Return the folder of a stage and its counts; make it unless it is finished; say how long it took."""
        folder, began = self.folder(name), time.monotonic()
        mark = folder / "finished.json"
        if not mark.exists():
            counts = make(folder)
            write_whole(mark, json.dumps(counts | {"stage_seconds": round(time.monotonic() - began, 3)}))
        finished: Counts = json.loads(mark.read_text(encoding="utf-8"))
        self.seconds[name] = finished.pop("stage_seconds")
        sys.stderr.write(f"{name}: {time.monotonic() - began:,.1f} s\n")
        return folder, finished


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files of a folder and the folders in it, in the order of their names."""
    yield from sorted(path for path in folder.rglob("*.parquet") if not path.name.startswith((".", "_")))


def store(frame: Any, folder: Path, by: str = "") -> None:
    """Store the rows of a frame in a folder, or in folders of it `by` a column: without rows, there are none."""
    writer = frame.write.mode("overwrite")
    (writer.partitionBy(by) if by else writer).parquet(str(folder))


def kept(frame: Any, folder: Path, by: str = "") -> Any:
    """Store rows like store() and return them as they are stored."""
    store(frame, folder, by)
    return frame.sparkSession.read.schema(frame.schema).parquet(str(folder))


def stored(spark: Any, folder: Path, schema: pa.Schema) -> Any:
    """Return the rows of a folder that tasks write or store() wrote: none if it has no file, or is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    return spark.read.schema(ddl(schema)).parquet(str(folder)).select(*schema.names)


def united(frames: Sequence[Any]) -> Any:
    """Return the rows of all frames, whose columns have the same order."""
    return reduce(lambda one, other: one.union(other), frames)


def day_number() -> Any:
    """Return the column `day`, a date, as an ordinal number."""
    return (f.datediff("day", f.lit("1970-01-01")) + f.lit(EPOCH)).cast("long").alias("day")


def mapped(frame: Any, convert: Callable[[pa.Table], pa.Table], schema: str) -> Any:
    """Return the rows of a frame, converted a batch at a time."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from convert(pa.Table.from_batches([batch])).to_batches()

    return frame.mapInArrow(run, schema)


Task = TypeVar("Task")

_COUNTS: Final = dict.fromkeys(("candidates", "verified", "pairs", "peak"), pa.int64())
_DONE: Final = pa.schema({**_COUNTS, "days": pa.list_(pa.int64()), "seconds": pa.float64()})


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

    counts = _added_up(kept(numbers.mapInArrow(run, ddl(_DONE)), tallies))
    sent.destroy()
    return counts


def _performed(perform: Callable[[Task], Done], task: Task) -> pa.RecordBatch:
    began = time.process_time()
    done = perform(task)
    # The most bytes that this process has had in memory.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    row = done._asdict() | {"days": list(done.days), "seconds": time.process_time() - began, "peak": peak}
    return pa.RecordBatch.from_pylist([row], schema=_DONE)


def _added_up(rows: Any) -> Counts:
    """Return the sums of what tasks did, the highest memory of a worker, and all days that they name, ascending."""
    sums = (f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in ("candidates", "verified", "pairs", "seconds"))
    [total] = rows.agg(*sums, f.coalesce(f.max("peak"), f.lit(0)).alias("peak")).collect()
    days = rows.select(f.explode("days").alias("day")).distinct().collect()
    return total.asDict() | {"days": sorted(row["day"] for row in days)}

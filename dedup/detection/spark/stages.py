"""The stages of a run: each has a folder of its own, named by what it rests on, and a mark once it is finished.

A stage that another run with the same export and settings has finished is kept. Of a stage that was interrupted, some
tasks are not repeated either: a file is there whole or not at all, and made twice it is the same.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import pyarrow as pa

Counts = dict[str, Any]
_FINISHED = "finished.json"


class Done(NamedTuple):
    """What a task did. `days`: those on which there may be dense groups, as ordinal numbers."""

    candidates: int = 0
    verified: int = 0
    pairs: int = 0
    days: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """The folder of a stage."""

    folder: Path

    @property
    def finished(self) -> Counts | None:
        """What the stage counted, once it is finished."""
        try:
            counts: Counts = json.loads((self.folder / _FINISHED).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return counts

    def finish(self, counts: Counts) -> None:
        """Mark the stage as finished."""
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.folder / f".{_FINISHED}.{os.getpid()}"
        unfinished.write_text(json.dumps(counts), encoding="utf-8")
        unfinished.replace(self.folder / _FINISHED)


@dataclass(slots=True)
class Stages:
    """All stages of a run. `fingerprint` is of everything that they rest on."""

    root: Path
    fingerprint: str
    on_stage: Callable[[str, float], None] = lambda _name, _seconds: None
    seconds: dict[str, float] = field(default_factory=dict)

    def forget(self) -> None:
        """Remove what earlier runs left."""
        shutil.rmtree(self.root, ignore_errors=True)

    def stage(self, name: str) -> Stage:
        """Return the stage with this name."""
        return Stage(self.root / f"{name}-{self.fingerprint}")

    def perform(self, name: str, make: Callable[[Stage], Counts]) -> tuple[Stage, Counts]:
        """Return a stage and its counts; make it unless it is finished."""
        stage, began = self.stage(name), time.monotonic()
        counts = stage.finished
        if counts is None:
            counts = make(stage)
            stage.finish(counts | {"stage_seconds": round(time.monotonic() - began, 3)})
        self.seconds[name] = stage.finished["stage_seconds"] if stage.finished else 0.0
        self.on_stage(name, time.monotonic() - began)
        return stage, counts


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files of a folder and the folders in it, in the order of their names."""
    yield from sorted(path for path in folder.rglob("*.parquet") if not path.name.startswith((".", "_")))


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

"""The stages that judge what the passes found: pairs, dense groups, what newspapers print repeatedly, verdicts."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

from dedup.detection.judging.months import month_of, text_days
from dedup.detection.spark.group_checks import Groups, check, deal_groups, write_groups
from dedup.detection.spark.manifest import Manifest
from dedup.detection.spark.schema import Bundle
from dedup.detection.spark.schema import month_of as month_name
from dedup.detection.spark.stages import Counts, Done, Stage, Stages, files_of, perform_all
from dedup.detection.spark.work import Unit, Work, judge, learn

# Articles around a month that one task learns from.
_LEARNT_FROM = 100_000
_VERDICTS = (
    "left long, right long, verdict string, probability double, duplicate_probability double, reasons string, "
    "joins boolean, left_matched double, right_matched double"
)


@dataclass(frozen=True, slots=True)
class Judging:
    """Judges the pairs of a run. A unit of pairs is of a month with about `most_articles` articles, or less."""

    spark: Any
    bundle: Bundle
    manifest: Manifest
    work: Work
    stages: Stages
    most_articles: int

    def verdicts(self, evidence: Mapping[str, Path]) -> Counts:
        """Write the verdicts on the pairs that passes found; return how many of each kind, and of group checks.

        `evidence` has the folder of each pass with the pairs that are allowed.
        """
        pairs, _ = self.stages.perform("pairs", partial(self._write_pairs, evidence))
        groups, found = self.stages.perform("groups", self._write_groups)
        learnt, _ = self.stages.perform("recurring", partial(self._learn, pairs))
        terms = self._terms(groups)
        _, verdicts = self.stages.perform("verdicts", partial(self._judge, terms, pairs, learnt))
        if not found["members"]:
            return verdicts | {"group_checks": 0}
        _, checks = self.stages.perform("group-checks", partial(self._check, terms, groups))
        return verdicts | {"group_checks": checks["pairs"]}

    def _write_pairs(self, evidence: Mapping[str, Path], stage: Stage) -> Counts:
        """Write every pair once, those of a unit in one folder."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - an extra

        days, headlines = ("left_day", "right_day", "left_newspaper", "right_newspaper"), "$.leftover"
        frames = []
        for name, folder in evidence.items():
            found = self.spark.read.parquet(str(folder))
            noted = f.get_json_object("details", headlines).cast("bigint") if name == "exact" else f.lit(None)
            leftover = f.coalesce(noted, f.lit(0)).cast("bigint").alias("leftover")
            frames.append(found.select("left", "right", *days, leftover))
        every = reduce(lambda one, other: one.union(other), frames)
        first = [f.first(day).alias(day) for day in days]
        once = every.groupBy("left", "right").agg(*first, f.max("leftover").alias("leftover"))
        units = self.spark.createDataFrame(list(self._units_of_days()), "day bigint, unit bigint, units bigint")
        placed = once.join(f.broadcast(units), f.greatest("left_day", "right_day") == f.col("day"))
        placed = placed.withColumn("unit", f.col("unit") + f.pmod("left", "units")).drop("day", "units")
        placed.repartition("unit").write.mode("overwrite").partitionBy("unit").parquet(str(stage.folder / "units"))
        return {"pairs": self.spark.read.parquet(str(stage.folder / "units")).count()}

    def _units_of_days(self) -> Iterator[tuple[int, int, int]]:
        """Yield for each day the first unit of its pairs, and how many units these are."""
        for day, unit, units in _dealt(self.manifest.days, self.most_articles):
            yield day.toordinal(), unit, units

    def _write_groups(self, stage: Stage) -> Counts:
        return write_groups(self.spark, self.bundle, stage.folder, self.stages.fingerprint)

    def _learn(self, pairs: Stage, stage: Stage) -> Counts:
        """Learn what the newspapers of each month's pairs print repeatedly."""
        tasks = [
            _Lesson(month, (bucket, buckets), _files(pairs, units))
            for month, units in self._units_of_months(pairs).items()
            for buckets in [self._buckets(month)]
            for bucket in range(buckets)
        ]
        tasks = [task for task in tasks if not _lesson_file(stage.folder, task.month, task.bucket[0]).exists()]
        return perform_all(self.spark, tasks, partial(_learn, self.work, stage.folder), stage.folder / "tallies")

    def _terms(self, groups: Stage) -> dict[str, Any]:
        """Return what all verdicts rest on, apart from the articles: see work.verdicts."""
        rules = self.bundle.read("series_rules").to_pylist()
        return {
            "model": self.manifest.model,
            "versions_join": self.manifest.versions_join,
            "series": [(rule["newspaper"], rule["form"]) for rule in rules],
            "ruled": groups.folder / "ruled",
        }

    def _judge(self, terms: dict[str, Any], pairs: Stage, learnt: Stage, stage: Stage) -> Counts:
        """Judge every unit of pairs."""
        tasks = [
            _Judged(
                Unit(unit, month),
                _files(pairs, [unit]),
                [_lesson_file(learnt.folder, month, bucket) for bucket in range(self._buckets(month))],
            )
            for month, units in self._units_of_months(pairs).items()
            for unit in units
        ]
        to = self.bundle.verdicts
        tasks = [task for task in tasks if not _verdict_file(to, task.unit).exists()]
        perform_all(self.spark, tasks, partial(_judge, self.work, terms, to), stage.folder / "tallies")
        kinds = self.spark.read.schema(_VERDICTS).parquet(str(to)).groupBy("verdict").count().collect()
        return {"verdicts": {row["verdict"]: row["count"] for row in kinds}}

    def _check(self, terms: dict[str, Any], groups: Stage, stage: Stage) -> Counts:
        """Compare the pairs that clusters of dense groups need."""
        numbers = deal_groups(self.spark, self.bundle, groups.folder, stage.folder, self.stages.fingerprint)
        tasks = [
            Groups(
                number,
                stage.folder / f"members/task={number}",
                stage.folder / f"judged/task={number}",
                self.bundle.group_checks,
            )
            for number in numbers
        ]
        return perform_all(self.spark, tasks, partial(check, self.work, terms), stage.folder / "tallies")

    def _units_of_months(self, pairs: Stage) -> dict[datetime.date, list[int]]:
        """Return the units with pairs of each month that has any."""
        found: dict[datetime.date, list[int]] = {}
        for day, first, count in _dealt(self.manifest.days, self.most_articles):
            units = found.setdefault(month_of(day), [])
            units += [unit for unit in range(first, first + count) if unit not in units and _files(pairs, [unit])]
        return {month: units for month, units in found.items() if units}

    def _buckets(self, month: datetime.date) -> int:
        """Return into how many tasks the newspapers of a month are dealt."""
        first, last = text_days(month)
        around = [count for day, count in self.manifest.days if first <= datetime.date.fromisoformat(day) <= last]
        return -(-sum(around) // _LEARNT_FROM) or 1


class _Lesson(NamedTuple):
    """The newspapers of a month that one task learns from: see work.learn."""

    month: datetime.date
    bucket: tuple[int, int]
    pairs: list[Path]


class _Judged(NamedTuple):
    """The pairs that one task judges: see work.judge."""

    unit: Unit
    pairs: list[Path]
    learnt: list[Path]


def _learn(work: Work, folder: Path, task: _Lesson) -> Done:
    return learn(work, task.month, task.bucket, task.pairs, _lesson_file(folder, task.month, task.bucket[0]))


def _judge(work: Work, terms: dict[str, Any], to: Path, task: _Judged) -> Done:
    return judge(work, task.pairs, task.learnt, terms, _verdict_file(to, task.unit))


def _files(pairs: Stage, units: Iterable[int]) -> list[Path]:
    return [file for unit in units for file in files_of(pairs.folder / "units" / f"unit={unit}")]


def _lesson_file(folder: Path, month: datetime.date, bucket: int) -> Path:
    return folder / "newspapers" / f"{month_name(month)}-{bucket:04}.parquet"


def _verdict_file(to: Path, unit: Unit) -> Path:
    return to / f"month={month_name(unit.month)}" / f"{unit.number:06}.parquet"


def _dealt(days: Sequence[tuple[str, int]], most: int) -> Iterator[tuple[datetime.date, int, int]]:
    """Yield each day with the first of its units and their number; a unit is of one month, with about `most` articles.

    A day with more articles has several units.
    """
    unit, articles, month = 0, 0, None
    for text, count in days:
        day = datetime.date.fromisoformat(text)
        if articles and (month != month_of(day) or articles + count > most):
            unit, articles = unit + 1, 0
        month = month_of(day)
        units = -(-count // most)
        yield day, unit, units
        articles += count
        if units > 1:
            unit, articles = unit + units, 0

"""The stages that judge what the passes found: pairs, what newspapers print repeatedly, verdicts."""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dedup.detection.judging.judge import Terms
from dedup.detection.judging.months import month_of, text_days
from dedup.detection.spark.manifest import Manifest
from dedup.detection.spark.parts import Work
from dedup.detection.spark.schema import VERDICTS, Bundle, of_month
from dedup.detection.spark.schema import month_of as month_name
from dedup.detection.spark.stages import Counts, Stages, f, files_of, kept, perform_all, stored, united
from dedup.detection.spark.verdicts import Basis, ToJudge, ToLearn, judge, learn
from dedup.detection.types import SameAs

# Articles around a month that one task learns from.
_LEARNT_FROM = 100_000


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
        """Write the verdicts on the pairs that passes found; return how many of each kind.

        `evidence` has the folder of each pass with the pairs that are allowed.
        """
        pairs, _ = self.stages.perform("pairs", partial(self._write_pairs, evidence))
        learnt, _ = self.stages.perform("recurring", partial(self._learn, pairs))
        rules = self.bundle.read("series_rules").to_pylist()
        series = frozenset((rule["newspaper"], rule["form"]) for rule in rules)
        terms = Terms(self.manifest.model, SameAs(self.manifest.same_as), self.manifest.mode)
        _, verdicts = self.stages.perform("verdicts", partial(self._judge, Basis(terms, series), pairs, learnt))
        return verdicts

    def _write_pairs(self, evidence: Mapping[str, Path], folder: Path) -> Counts:
        """Write every pair once, those of a unit in one folder."""
        days = ("left_day", "right_day", "left_newspaper", "right_newspaper")
        noted = f.get_json_object("details", "$.leftover").cast("bigint")
        leftover = f.coalesce(noted, f.lit(0)).cast("bigint").alias("leftover")
        frames = [
            self.spark.read.parquet(str(allowed)).select("left", "right", *days, leftover)
            for allowed in evidence.values()
        ]
        first = [f.first(day).alias(day) for day in days]
        once = united(frames).groupBy("left", "right").agg(*first, f.max("leftover").alias("leftover"))
        units_of_days = [(day.toordinal(), *units) for day, *units in _dealt(self.manifest.days, self.most_articles)]
        units = self.spark.createDataFrame(units_of_days, "day bigint, unit bigint, units bigint")
        placed = once.join(f.broadcast(units), f.greatest("left_day", "right_day") == f.col("day"))
        placed = placed.withColumn("unit", f.col("unit") + f.pmod("left", "units")).drop("day", "units")
        return {"pairs": kept(placed.repartition("unit"), folder / "units", by="unit").count()}

    def _learn(self, pairs: Path, folder: Path) -> Counts:
        """Learn what the newspapers of each month's pairs print repeatedly."""
        tasks = [
            ToLearn(month, (bucket, len(files)), _files(pairs, units), file)
            for month, units in self._units_of_months(pairs).items()
            for files in [self._learnt_files(folder, month)]
            for bucket, file in enumerate(files)
            if not file.exists()
        ]
        return perform_all(self.spark, tasks, partial(learn, self.work), folder / "tallies")

    def _judge(self, basis: Basis, pairs: Path, learnt: Path, folder: Path) -> Counts:
        """Judge every unit of pairs."""
        to = self.bundle.verdicts
        tasks = [
            ToJudge(_files(pairs, [unit]), self._learnt_files(learnt, month), file)
            for month, units in self._units_of_months(pairs).items()
            for unit in units
            for file in [of_month(to, month_name(month)) / f"{unit:06}.parquet"]
            if not file.exists()
        ]
        perform_all(self.spark, tasks, partial(judge, self.work, basis), folder / "tallies")
        kinds = stored(self.spark, to, VERDICTS).groupBy("verdict").count().collect()
        return {"verdicts": {row["verdict"]: row["count"] for row in kinds}}

    def _units_of_months(self, pairs: Path) -> dict[datetime.date, list[int]]:
        """Return the units with pairs of each month that has any."""
        found: dict[datetime.date, list[int]] = {}
        for day, first, count in _dealt(self.manifest.days, self.most_articles):
            units = found.setdefault(month_of(day), [])
            units += [unit for unit in range(first, first + count) if unit not in units and _files(pairs, [unit])]
        return {month: units for month, units in found.items() if units}

    def _learnt_files(self, folder: Path, month: datetime.date) -> list[Path]:
        """Return the files of the tasks to which the newspapers of a month are dealt."""
        first, last = text_days(month)
        around = [count for day, count in self.manifest.days if first <= datetime.date.fromisoformat(day) <= last]
        buckets = -(-sum(around) // _LEARNT_FROM) or 1
        return [folder / "newspapers" / f"{month_name(month)}-{bucket:04}.parquet" for bucket in range(buckets)]


def _files(pairs: Path, units: Iterable[int]) -> list[Path]:
    return [file for unit in units for file in files_of(pairs / "units" / f"unit={unit}")]


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

"""The report with threshold advice: from which score on a pass is as right as wanted, by decisions and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dedup.declarations import Settings, setting
from dedup.detection.runs.facts import label as label_of_pass
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Cell, Chart, Column, ColumnType, Report, Table
from dedup.reports.threshold_charts import Share, threshold_chart
from dedup.research.advice import LEAST_DECIDED
from dedup.research.advised import Advised, advised


@dataclass(frozen=True, slots=True)
class AdviceOptions(Settings):
    """What the advice is for."""

    precision: float = setting(
        0.95,
        range=(0.5, 1.0),
        unit="share, 0..1",
        help="The share of the pairs of a pass that should be duplicates.",
        source="a choice: one wrong pair in twenty",
        label="Wanted precision",
    )


@dataclass(frozen=True, slots=True)
class AdviceResult:
    """The advice for each pass, and for each newspaper with a decided pair; newspapers have no steps."""

    wanted: float
    needed: int
    advised: list[Advised]


class AdviceReport(Report):
    """Thresholds for a wanted precision."""

    name: ClassVar[str] = "advice"
    label: ClassVar[str] = "Threshold advice"
    help: ClassVar[str] = (
        "Recommends a threshold for each pass and newspaper, from editors' decisions and the labels of validation "
        "samples."
    )
    options_class: ClassVar[type[Settings]] = AdviceOptions
    heavy: ClassVar[bool] = True
    after_run: ClassVar[bool] = True

    def result(self, scope: Scope, options: AdviceOptions) -> AdviceResult:
        """Count the proposed pairs by score and verdict, and compare those that were decided."""
        found = advised(scope, options.precision)
        return AdviceResult(
            options.precision,
            LEAST_DECIDED,
            [replace(each, advice=replace(each.advice, steps=())) if each.newspaper else each for each in found],
        )

    def says(self, result: AdviceResult) -> str:
        """Return what was found, and how far it can be trusted."""
        whole = [each for each in result.advised if not each.newspaper]
        if not any(each.advice.decided for each in whole):
            return "Nobody has decided a pair that a pass proposes, so there is no advice yet."
        parts = [each for each in result.advised if each.newspaper]
        reached, among = (sum(each.advice.advised is not None for each in some) for some in (whole, parts))
        return (
            f"Decisions support a threshold with a precision of at least {result.wanted:.0%} for {reached:,} of "
            f"{len(whole):,} passes, and for {among:,} of {len(parts):,} combinations of a pass and a newspaper. "
            "Decisions are not a random sample: editors decide what the queue shows first. So each decided pair "
            "represents all proposed pairs with about its score and the same verdict. That corrects the advice for "
            "these two things and for nothing else. Before you change a profile, check the advice on a validation "
            "sample."
        )

    def tables(self, result: AdviceResult) -> list[Table]:
        """Return the advice, and what every threshold of a pass gives."""
        return [
            Table("advice", "Advice", _ADVICE_COLUMNS, tuple(map(_advice_row, result.advised))),
            Table("thresholds", "What every threshold gives, all newspapers", _STEP_COLUMNS, tuple(_steps(result))),
        ]

    def charts(self, result: AdviceResult) -> list[Chart]:
        """Return the precision of each pass by threshold, as far as enough pairs are decided."""
        shares = [
            Share(label_of_pass(each.pass_name), step.threshold, step.precision, step.low, step.high)
            for each in result.advised
            for step in each.advice.steps
            if step.decided >= result.needed
            if step.precision is not None and step.low is not None and step.high is not None
        ]
        if not shares:
            return []
        description = (
            "For each pass with enough decisions, the precision from each lowest score on, with its 95% interval: the "
            "share of its pairs that are duplicates. The table “What every threshold gives” has the numbers."
        )
        return [threshold_chart("precision", "Precision of each pass by its lowest score", description, shares)]


_ADVICE_COLUMNS = (
    Column("pass", "Pass"),
    Column("newspaper", "Newspaper"),
    Column("decided", "Decided", ColumnType.COUNT),
    Column("used", "Now", ColumnType.NUMBER),
    Column("advice", "Lowest score"),
    Column("precision", "Precision", ColumnType.SHARE),
    Column("precision_low", "95% from", ColumnType.SHARE),
    Column("precision_high", "95% to", ColumnType.SHARE),
    Column("kept", "Keeps", ColumnType.SHARE),
)
_STEP_COLUMNS = (
    Column("pass", "Pass"),
    Column("threshold", "Lowest score", ColumnType.NUMBER),
    Column("decided", "Decided", ColumnType.COUNT),
    Column("precision", "Precision", ColumnType.SHARE),
    Column("precision_low", "95% from", ColumnType.SHARE),
    Column("precision_high", "95% to", ColumnType.SHARE),
    Column("kept", "Keeps", ColumnType.SHARE),
    Column("pairs", "Pairs", ColumnType.COUNT),
)


def _advice_row(each: Advised) -> tuple[Cell, ...]:
    found, step = each.advice, each.advice.advised
    numbers = (step.precision, step.low, step.high, step.kept) if step else (None, None, None, None)
    return label_of_pass(each.pass_name), each.newspaper or "all", found.decided, each.used, found.says, *numbers


def _steps(result: AdviceResult) -> Iterator[tuple[Cell, ...]]:
    for each in result.advised:
        for step in each.advice.steps:
            yield (
                label_of_pass(each.pass_name),
                step.threshold,
                step.decided,
                step.precision,
                step.low,
                step.high,
                step.kept,
                step.pairs,
            )

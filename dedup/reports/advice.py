"""The report with threshold advice: from which score on a pass is as right as wanted, by decisions and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from typing import Annotated, ClassVar

from dedup.declarations import Settings, setting
from dedup.detection.runs.facts import label as label_of_pass
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Chart, Report
from dedup.reports.charts import Share, threshold_chart
from dedup.reports.columns import SHARE, Decided, Precision, Table, column, drawn
from dedup.research.advice import LEAST_DECIDED, Advised, advised


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


@dataclass(frozen=True, slots=True)
class AdviceRow:
    """The advice for a pass and a newspaper, and what it gives."""

    pass_name: Annotated[str, column("Pass", named="pass")]
    newspaper: Annotated[str, column("Newspaper")]
    decided: Decided
    used: Annotated[float | None, column("Now")]
    advice: Annotated[str, column("Lowest score")]
    precision: Precision
    low: Annotated[float | None, column("95% from", SHARE, named="precision_low")]
    high: Annotated[float | None, column("95% to", SHARE, named="precision_high")]
    kept: Annotated[float | None, column("Keeps", SHARE)]


@dataclass(frozen=True, slots=True)
class StepRow:
    """What a threshold of a pass gives: a Step with the name of the pass."""

    pass_name: Annotated[str, column("Pass", named="pass")]
    threshold: Annotated[float, column("Lowest score")]
    decided: Decided
    precision: Precision
    low: Annotated[float | None, column("95% from", SHARE, named="precision_low")]
    high: Annotated[float | None, column("95% to", SHARE, named="precision_high")]
    kept: Annotated[float | None, column("Keeps", SHARE)]
    pairs: Annotated[int, column("Pairs")]


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
            [replace(row, advice=replace(row.advice, steps=())) if row.newspaper else row for row in found],
        )

    def summary(self, result: AdviceResult) -> str:
        """Return what was found, and how far it can be trusted."""
        whole = [row for row in result.advised if not row.newspaper]
        if not any(row.advice.decided for row in whole):
            return "Nobody has decided a pair that a pass proposes, so there is no advice yet."
        parts = [row for row in result.advised if row.newspaper]
        reached, among = (sum(row.advice.advised is not None for row in some) for some in (whole, parts))
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
        title = "What every threshold gives, all newspapers"
        return [
            drawn(map(_advice_row, result.advised), AdviceRow, "advice", "Advice"),
            drawn(_step_rows(result), StepRow, "thresholds", title),
        ]

    def charts(self, result: AdviceResult) -> list[Chart]:
        """Return the precision of each pass by threshold, as far as enough pairs are decided."""
        shares = [
            Share(label_of_pass(row.pass_name), step.threshold, step.precision, step.low, step.high)
            for row in result.advised
            for step in row.advice.steps
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


def _advice_row(found: Advised) -> AdviceRow:
    advice, step = found.advice, found.advice.advised
    numbers = (step.precision, step.low, step.high, step.kept) if step else (None,) * 4
    name = label_of_pass(found.pass_name)
    return AdviceRow(name, found.newspaper or "all", advice.decided, found.used, advice.says, *numbers)


def _step_rows(result: AdviceResult) -> Iterator[StepRow]:
    for found in result.advised:
        for step in found.advice.steps:
            yield StepRow(label_of_pass(found.pass_name), *astuple(step))

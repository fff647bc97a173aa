"""The report with threshold advice: from which score on a pass is as right as wanted, by decisions and labels."""

from dataclasses import astuple, dataclass, replace

from dedup.declarations import Settings, setting
from dedup.detection.runs.facts import label as label_of_pass
from dedup.detection.runs.scope import Scope
from dedup.reports.base import LARGE, Chart, Report
from dedup.reports.columns import COUNT, NUMBER, SHARE, TEXT, Table, listed
from dedup.reports.drawing import Share, threshold_chart
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


class AdviceReport(
    Report,
    name="advice",
    label="Threshold advice",
    page="Detection",
    options=AdviceOptions,
    heavy_from=LARGE,
    after_run=True,
):
    """Recommends a threshold for each pass and newspaper, from editors' decisions and the labels of validation
    samples.
    """

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
            f"{len(whole):,} passes, and for {among:,} of {len(parts):,} combinations of a pass and a newspaper.\n"
            "Decisions are not a random sample: editors decide what the queue shows first. So each decided pair "
            "represents all proposed pairs with about its score and the same verdict. That corrects the advice for "
            "these two things and for nothing else. Before you change a profile, check the advice on a validation "
            "sample."
        )

    def tables(self, result: AdviceResult) -> list[Table]:
        """Return the advice, and what every threshold of a pass gives."""
        advice, steps = [], []
        for found in result.advised:
            name, step = label_of_pass(found.pass_name), found.advice.advised
            numbers = (step.precision, step.low, step.high, step.kept) if step else (None,) * 4
            named = (name, found.newspaper or "all", found.advice.decided, found.used, found.advice.says)
            advice.append((*named, *numbers))
            steps += [(name, *astuple(row)) for row in found.advice.steps]
        of_pass, lowest, decided = ("pass", "Pass", TEXT), "Lowest score", ("decided", "Decided", COUNT)
        shares = [("precision", "Precision", SHARE), ("precision_low", "95% from", SHARE)]
        shares += [("precision_high", "95% to", SHARE), ("kept", "Keeps", SHARE)]
        own = (("newspaper", "Newspaper", TEXT), decided, ("used", "Now", NUMBER), ("advice", lowest, TEXT))
        of_step = (("threshold", lowest, NUMBER), decided, *shares, ("pairs", "Pairs", COUNT))
        return [
            listed("advice", "Advice", advice, of_pass, *own, *shares),
            listed("thresholds", "What every threshold gives, all newspapers", steps, of_pass, *of_step),
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

"""Report `passes`: what each pass finds, what it alone finds, how passes overlap, and how often editors agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dedup.detection.runs.scope import Scope
from dedup.reports.base import Chart, Column, ColumnType, Report, Table
from dedup.reports.drawing import BEHIND_TEXT, PALETTE, WIDTH, alt
from dedup.reports.found_by import FoundBy, found_by
from dedup.reports.together import share
from dedup.research.bounds import interval


@dataclass(frozen=True, slots=True)
class PassCounts:
    """What a pass finds, and what no other pass finds (`alone`).

    `clustered` counts the pairs with both articles in one cluster. `decided` counts the pairs on which a decision says
    by itself that they are duplicates (`confirmed`) or not; the precision, 0..1, is confirmed / decided, and None
    without any.
    """

    name: str
    label: str
    pairs: int
    pairs_alone: int
    clustered: int
    clustered_alone: int
    duplicates: int
    duplicates_alone: int
    decided: int
    confirmed: int
    precision: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two passes both find."""

    one: str
    other: str
    pairs: int
    duplicates: int


@dataclass(frozen=True, slots=True)
class Passes:
    """The passes with pairs in the order of a run, every two of them in both orders, and all passes together."""

    pairs: int
    clustered: int
    duplicates: int
    passes: list[PassCounts]
    overlap: list[Overlap]


class PassesReport(Report):
    """Pairs and duplicates by pass."""

    name: ClassVar[str] = "passes"
    label: ClassVar[str] = "Passes"
    help: ClassVar[str] = (
        "Counts the pairs and duplicates that each pass finds, what it alone finds, what passes find in common, and "
        "how many of the decided pairs are duplicates."
    )
    heavy: ClassVar[bool] = True
    after_run: ClassVar[bool] = True

    def result(self, scope: Scope, options: Any) -> Passes:  # noqa: ARG002 - it has none
        """Count the current evidence."""
        found = found_by(scope)
        whole = found.all_of()
        passes = [counts for name in found.passes if (counts := _of_pass(found, name)).pairs]
        overlap = [_overlap(found, one.name, other.name) for one in passes for other in passes]
        return Passes(whole.pairs, whole.clustered, whole.duplicates, passes, overlap)

    def says(self, result: Passes) -> str:
        """Return a sentence with the totals."""
        if not result.pairs:
            return "No pass has proposed a pair here."
        alone = sum(detection_pass.pairs_alone for detection_pass in result.passes)
        passes = "1 pass proposes" if len(result.passes) == 1 else f"{len(result.passes)} passes propose"
        pairs = "1 pair" if result.pairs == 1 else f"{result.pairs:,} pairs"
        return (
            f"{passes} {pairs}; {result.clustered:,} of them ({result.clustered / result.pairs:.2%}) have both "
            f"articles in one cluster. {alone:,} pairs ({alone / result.pairs:.2%}) come from one pass alone."
        )

    def tables(self, result: Passes) -> list[Table]:
        """Return what each pass finds, the two matrices, and the precision of each pass."""
        found = tuple(
            (
                *(
                    detection_pass.label,
                    detection_pass.pairs,
                    detection_pass.pairs_alone,
                    detection_pass.clustered,
                    detection_pass.clustered_alone,
                ),
                *(detection_pass.duplicates, detection_pass.duplicates_alone),
            )
            for detection_pass in result.passes
        )
        decided = tuple(
            (
                detection_pass.label,
                detection_pass.decided,
                detection_pass.confirmed,
                detection_pass.precision,
                detection_pass.low,
                detection_pass.high,
            )
            for detection_pass in result.passes
        )
        return [
            Table("passes", "What each pass finds", _COLUMNS, found),
            _matrix(result, "pairs", "Pairs that two passes both find"),
            _matrix(result, "duplicates", "Duplicates that two passes both find"),
            Table("precision", "Precision by pass", _PRECISION_COLUMNS, decided),
        ]

    def charts(self, result: Passes) -> list[Chart]:
        """Return the pairs of each pass, the overlap, and the precision where there are decisions."""
        charts = [_bars(result), _squares(result)] if result.passes else []
        decided = [detection_pass for detection_pass in result.passes if detection_pass.decided]
        return charts + ([precision_chart([_measured(each) for each in decided])] if decided else [])


_COLUMNS = (
    Column("pass", "Pass"),
    Column("pairs", "Pairs", ColumnType.COUNT),
    Column("pairs_alone", "By it alone", ColumnType.COUNT),
    Column("clustered", "In one cluster", ColumnType.COUNT),
    Column("clustered_alone", "By it alone", ColumnType.COUNT),
    Column("duplicates", "Duplicates", ColumnType.COUNT),
    Column("duplicates_alone", "By it alone", ColumnType.COUNT),
)
_PRECISION_COLUMNS = (
    Column("pass", "Pass"),
    Column("decided", "Decided", ColumnType.COUNT),
    Column("confirmed", "Confirmed", ColumnType.COUNT),
    Column("precision", "Precision", ColumnType.SHARE),
    Column("low", "95% from", ColumnType.SHARE),
    Column("high", "95% to", ColumnType.SHARE),
)


def _of_pass(found: FoundBy, name: str) -> PassCounts:
    counts, alone = found.all_of(name), found.only(name)
    decided = counts.confirmed + counts.refused
    low, high = interval(decided, counts.confirmed) if decided else (None, None)
    return PassCounts(
        name,
        found.labels[name],
        counts.pairs,
        alone.pairs,
        counts.clustered,
        alone.clustered,
        counts.duplicates,
        alone.duplicates,
        decided,
        counts.confirmed,
        share(counts.confirmed, decided),
        low,
        high,
    )


def _overlap(found: FoundBy, one: str, other: str) -> Overlap:
    both = found.all_of(one, other)
    return Overlap(one, other, both.pairs, both.duplicates)


def _matrix(result: Passes, counted: str, title: str) -> Table:
    """Return a row and a column for each pass; on the diagonal is what the pass itself finds."""
    cells = {(each.one, each.other): getattr(each, counted) for each in result.overlap}
    columns = (
        Column("pass", "Pass"),
        *(
            Column(f"and_{detection_pass.name}".replace(" ", "_"), detection_pass.label, ColumnType.COUNT)
            for detection_pass in result.passes
        ),
    )
    rows = tuple((one.label, *(cells[one.name, other.name] for other in result.passes)) for one in result.passes)
    return Table(f"overlap_{counted}", title, columns, rows)


def _bars(result: Passes) -> Chart:
    rows = [
        {"pass": detection_pass.label, "who": who, "order": order, "pairs": pairs}
        for detection_pass in result.passes
        for order, (who, pairs) in enumerate(
            (
                ("this pass alone", detection_pass.pairs_alone),
                ("other passes too", detection_pass.pairs - detection_pass.pairs_alone),
            )
        )
    ]
    order = [detection_pass.label for detection_pass in result.passes]
    spec = (
        alt.Chart(alt.InlineData(values=rows), width=WIDTH - 160, height=alt.Step(26))
        .mark_bar()
        .encode(
            y=alt.Y("pass:N", sort=order, title=None),
            x=alt.X("sum(pairs):Q", title="Pairs", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color(
                "who:N",
                sort=["this pass alone", "other passes too"],
                scale=alt.Scale(range=[PALETTE[1], PALETTE[0]]),
                title="Found by",
                legend=alt.Legend(orient="top"),
            ),
            order="order:Q",
        )
    )
    most = max(result.passes, key=lambda each: each.pairs)
    return Chart(
        "pairs",
        "Pairs by pass",
        f"The pairs of each pass, and how many of them no other pass finds. {most.label} finds most: {most.pairs:,}, "
        f"{most.pairs_alone:,} of them alone.",
        spec,
    )


def _squares(result: Passes) -> Chart:
    labels = {detection_pass.name: detection_pass.label for detection_pass in result.passes}
    whole = {detection_pass.name: detection_pass.pairs for detection_pass in result.passes}
    rows = [
        {
            "row": labels[each.one],
            "column": labels[each.other],
            "share": each.pairs / whole[each.one],
            "text": f"{each.pairs / whole[each.one]:.0%}",
        }
        for each in result.overlap
    ]
    order = list(labels.values())
    base = alt.Chart(alt.InlineData(values=rows), width=alt.Step(54), height=alt.Step(30)).encode(
        y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
        x=alt.X(
            "column:N",
            sort=order,
            title=None,
            axis=alt.Axis(orient="top", domain=False, ticks=False, labelAngle=-40),
        ),
    )
    squares = base.mark_rect().encode(
        color=alt.Color("share:Q", scale=alt.Scale(domain=[0, 1], range=list(BEHIND_TEXT)), legend=None)
    )
    return Chart(
        "overlap",
        "Share of the pairs of a row that the column finds too",
        "Of the pairs that the pass of a row finds, the share that the pass of a column finds too.",
        alt.layer(squares, base.mark_text().encode(text="text:N")),
    )


def _measured(each: PassCounts) -> dict[str, Any]:
    return {
        "name": each.label,
        "confirmed": each.confirmed,
        "decided": each.decided,
        "precision": each.precision,
        "low": each.low,
        "high": each.high,
    }


def precision_chart(rows: list[dict[str, Any]]) -> Chart:
    """Return the shares of decided pairs that are duplicates, with their intervals.

    Each row has a name, how many pairs were confirmed and decided, the precision and its bounds.
    """
    named = [row | {"label": f"{row['name']} ({row['decided']:,})"} for row in rows]
    base = alt.Chart(alt.InlineData(values=named), width=WIDTH - 200, height=alt.Step(26)).encode(
        y=alt.Y("label:N", sort=None, title=None)
    )
    scale = alt.Scale(domain=[0, 1])
    interval = base.mark_rule(strokeWidth=3, color=PALETTE[-1]).encode(
        x=alt.X("low:Q", scale=scale, title="Precision", axis=alt.Axis(format="%", tickCount=5)), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, color=PALETTE[0], opacity=1).encode(
        x=alt.X("precision:Q", scale=scale)
    )
    said = "; ".join(f"{row['name']} {row['precision']:.0%} of {row['decided']:,}" for row in rows)
    return Chart(
        "precision",
        "Precision and its interval",
        "The share of decided pairs that are duplicates, with its 95% interval; the number of decided pairs is in "
        f"brackets. {said}.",
        alt.layer(interval, points),
    )

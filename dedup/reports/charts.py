"""Charts that several reports draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dedup.detection.runs.facts import label as label_of_pass
from dedup.reports.base import Chart
from dedup.reports.drawing import PALETTE, WIDTH, alt
from dedup.research.precision import Measured

# More bars than these are longer than a page.
MOST_BARS = 25
_HEIGHT = 300
_MEASURES = (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1"))
# Names on an axis without the numbers that keep their order.
UNNUMBERED = "slice(datum.label, 3)"


class Bar(NamedTuple):
    """A bar: its name, and how long it is."""

    name: str
    value: float


class Share(NamedTuple):
    """A share of a line at a threshold, and its interval; all are 0..1."""

    line: str
    threshold: float
    value: float
    low: float
    high: float


def numbered(names: Iterable[str]) -> list[str]:
    """Return names that differ and sort in their order; an axis shows them UNNUMBERED."""
    return [f"{place:02} {name}" for place, name in enumerate(names, 1)]


def bars(shown: Sequence[Bar], title: str, *, percent: bool = False) -> Any:
    """Return horizontal bars, in their order, of shares or of counts."""
    axis = alt.Axis(format="%") if percent else alt.Axis(tickMinStep=1)
    names = numbered(bar.name for bar in shown)
    rows = [{"name": name, "value": bar.value} for name, bar in zip(names, shown, strict=True)]
    return (
        alt.Chart(alt.InlineData(values=rows), width=WIDTH - 220, height=alt.Step(24))
        .mark_bar()
        .encode(
            y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelExpr=UNNUMBERED, labelLimit=220)),
            x=alt.X("value:Q", title=title, axis=axis),
        )
    )


def precision_chart(parts: Iterable[tuple[str, int, Measured]]) -> Chart:
    """Return the shares of decided pairs that are duplicates, with their intervals: the name and pairs of each part."""
    measured = list(parts)
    rows = [{"label": f"{name} ({decided:,})", **found._asdict()} for name, decided, found in measured]
    base = alt.Chart(alt.InlineData(values=rows), width=WIDTH - 200, height=alt.Step(26)).encode(
        y=alt.Y("label:N", sort=None, title=None)
    )
    scale = alt.Scale(domain=[0, 1])
    interval = base.mark_rule(strokeWidth=3, color=PALETTE[-1]).encode(
        x=alt.X("low:Q", scale=scale, title="Precision", axis=alt.Axis(format="%", tickCount=5)), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, color=PALETTE[0], opacity=1).encode(
        x=alt.X("precision:Q", scale=scale)
    )
    said = "; ".join(f"{name} {found.precision:.0%} of {decided:,}" for name, decided, found in measured)
    return Chart(
        "precision",
        "Precision and its interval",
        "The share of decided pairs that are duplicates, with its 95% interval; the number of decided pairs is in "
        f"brackets. {said}.",
        alt.layer(interval, points),
    )


def threshold_chart(name: str, title: str, description: str, shares: Sequence[Share]) -> Chart:
    """Return a chart with the threshold to the right, and a line with a band around it for each name of a line."""
    names = list(dict.fromkeys(point.line for point in shares))
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(names))]
    share = {"type": "quantitative", "title": None, "axis": {"format": ".0%"}, "scale": {"domain": [0, 1]}}
    spec = {
        "width": WIDTH,
        "height": _HEIGHT,
        "data": {"values": [point._asdict() for point in shares]},
        "encoding": {
            "x": {"field": "threshold", "type": "quantitative", "title": "Lowest score", "scale": {"zero": False}},
            "color": {
                "field": "line",
                "type": "nominal",
                "title": None,
                "sort": names,
                "scale": {"domain": names, "range": colours},
                "legend": {"orient": "bottom", "columns": 3, "symbolOpacity": 1},
            },
        },
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.15},
                "encoding": {"y": {"field": "low", **share}, "y2": {"field": "high"}},
            },
            {"mark": {"type": "line", "point": True}, "encoding": {"y": {"field": "value", **share}}},
        ],
    }
    return Chart(name, title, description, spec)


def evaluation_charts(thresholds: Mapping[str, Any]) -> Iterator[Chart]:
    """Yield a chart of the verdict and one of each pass, from what `evaluate` measured."""
    parts = {"verdict": ("the verdict, by its probability", thresholds["verdict"])}
    for name, own in thresholds["passes"].items():
        parts[name] = (f"the pass “{label_of_pass(name)}”", own)
    for name, (words, numbers) in parts.items():
        yield threshold_chart(
            name,
            f"Precision, recall and F1 of {words}",
            f"For each lowest score from {numbers['all'][0]['threshold']:g} to 1: precision, recall and F1 if all "
            "labelled pairs from that score on were called duplicates, with 95% intervals. The run used "
            f"{numbers['used']:g}.",
            list(_shares_of(numbers["all"])),
        )


def _shares_of(rows: Sequence[Mapping[str, Any]]) -> Iterator[Share]:
    for key, label in _MEASURES:
        for row in rows:
            if row[key] is not None:
                yield Share(label, row["threshold"], row[key], *row[f"{key}_interval"])

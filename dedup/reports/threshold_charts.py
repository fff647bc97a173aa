"""Charts of shares by threshold: lines with their 95% intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dedup.detection.runs.facts import label as label_of_pass
from dedup.reports.base import Chart
from dedup.reports.drawing import PALETTE, WIDTH

_HEIGHT = 300
_MEASURES = (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1"))


class Share(NamedTuple):
    """A share of a line at a threshold, and its interval; all are 0..1."""

    line: str
    threshold: float
    value: float
    low: float
    high: float


def threshold_chart(name: str, title: str, description: str, shares: Sequence[Share]) -> Chart:
    """Return a chart with the threshold to the right, and a line with a band around it for each name of a line."""
    names = list(dict.fromkeys(each.line for each in shares))
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(names))]
    share = {"type": "quantitative", "title": None, "axis": {"format": ".0%"}, "scale": {"domain": [0, 1]}}
    spec = {
        "width": WIDTH,
        "height": _HEIGHT,
        "data": {"values": [each._asdict() for each in shares]},
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
    for name, each in thresholds["passes"].items():
        parts[name] = (f"the pass “{label_of_pass(name)}”", each)
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

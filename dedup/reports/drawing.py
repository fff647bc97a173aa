"""Charts as SVG, drawn on the server by Altair and vl-convert, without a browser or a network.

One SVG serves light and dark pages: texts and axes have the colour of the text around them (`currentColor`), and the
colours of marks are readable on both. A file that is opened by itself has black texts on whatever is behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from articles.loading import when_used
from dedup.detection.runs.facts import label as label_of_pass
from dedup.reports.base import Chart
from dedup.research.answers import MEASURES

if TYPE_CHECKING:
    import altair
    import vl_convert

    alt = altair
else:
    alt = when_used("altair")
    vl_convert = when_used("vl_convert")

# At least 3:1 on white and on the dark background of the pages; distinct for the colour-blind in this order, after
# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/.
PALETTE = ("#2f7fbf", "#c26a00", "#0e8f6e", "#b3588f", "#8a7a00", "#7a7f87")
# From few to many, for heat maps: all of them readable on both backgrounds, the first one hardly.
SCALE = ("#8fa8bd33", "#2f7fbf")
# The same for squares with numbers in them, whose black or white text has 4.5:1 on all of these.
BEHIND_TEXT = ("#2f7fbf1a", "#2f7fbf99")
WIDTH = 640
FEWEST_BARS = 8
# Longer names take more room than the drawing.
MOST_CHARACTERS = 28
# What XML 1.0 does not allow: https://www.w3.org/TR/xml/#charsets.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What changes the direction of the text around it.
_DIRECTIONS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")

_LINE = "#80808059"
_TEXT = {"labelColor": "currentColor", "titleColor": "currentColor", "titleFontWeight": "normal"}
_CONFIG: dict[str, Any] = {
    "background": None,
    # Room for names that the reader's font draws wider than the one they were measured with.
    "padding": {"left": 28, "right": 28, "top": 5, "bottom": 5},
    "font": "system-ui, sans-serif",
    "aria": False,
    "axis": {
        **_TEXT,
        "gridColor": _LINE,
        "domainColor": PALETTE[-1],
        "tickColor": PALETTE[-1],
        # The reader's font may be wider than the one that labels were measured with.
        "labelSeparation": 12,
        "labelFlush": False,
        "labelFontSize": 12,
        "titleFontSize": 12,
    },
    "legend": {**_TEXT, "labelFontSize": 12, "titleFontSize": 12, "columnPadding": 24},
    "text": {"color": "currentColor", "fontSize": 12},
    "rule": {"color": PALETTE[-1]},
    "view": {"stroke": None},
    "mark": {"color": PALETTE[0]},
    "bar": {"color": PALETTE[0]},
    "range": {"category": list(PALETTE), "heatmap": list(SCALE), "ramp": list(SCALE)},
}
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
# Vega names parts of a drawing for readers, who get the title and the description of the whole instead.
_FOR_PARTS = ("role", "aria-roledescription", "class")
# What Vega puts in front of an address without a host.
_ELSEWHERE = "https://vega.github.io/vega-datasets/"

# More bars than these are longer than a page.
MOST_BARS = 25
_HEIGHT = 300
# Names on an axis without the numbers that keep their order.
UNNUMBERED = "slice(datum.label, 3)"


def svg(chart: Chart) -> str:
    """Return a chart as an SVG document whose title and description are read aloud instead of its marks.

    Marks that are links are not hidden from readers.
    """
    spec = chart.spec.to_dict()
    spec["config"] = _CONFIG | {name: _CONFIG.get(name, {}) | own for name, own in spec.get("config", {}).items()}
    drawn = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    root = etree.fromstring(xml_text(drawn).encode())
    for part in root.iter():
        _tidy(part, chart.name)
    for name, text in (("desc", chart.description), ("title", chart.title)):
        described = etree.Element(f"{_SVG}{name}", id=f"chart-{chart.name}-{name}")
        described.text = xml_text(text)
        root.insert(0, described)
    root.set("role", "group" if root.find(f".//{_SVG}a") is not None else "img")
    root.set("aria-labelledby", f"chart-{chart.name}-title")
    root.set("aria-describedby", f"chart-{chart.name}-desc")
    return etree.tostring(root, encoding="unicode")


def time_axis(unit: str, first: date, last: date) -> tuple[Any, Any]:
    """Return the scale and the axis for bars of days (`unit` is "day") or months.

    With few of them, the scale has room on both sides: one day would otherwise be a bar as wide as the drawing.
    """
    days = 1 if unit == "day" else 30
    count = (last - first).days // days + 1
    room = timedelta(days=days * max(0, FEWEST_BARS - count) // 2)
    domain = [f"{first - room:%Y-%m-%d}", f"{last + timedelta(days=days) + room:%Y-%m-%d}"]
    ticks = {"interval": unit, "step": 1} if count <= FEWEST_BARS else 8
    words = "%-d %b %Y" if unit == "day" else "%b %Y"
    return alt.Scale(type="utc", domain=domain), alt.Axis(format=words, tickCount=ticks, labelOverlap="greedy")


def _tidy(part: Any, chart: str) -> None:
    """Give a part of a drawing names of its own, since a page may have several drawings, and its own address back."""
    for name in _FOR_PARTS:
        part.attrib.pop(name, None)
    for name, value in part.attrib.items():
        if name == "id":
            part.set(name, f"{chart}-{value}")
        elif value.startswith("url(#"):
            part.set(name, f"url(#{chart}-{value.removeprefix('url(#')}")
    if address := part.get(_HREF):
        part.set(_HREF, address.removeprefix(_ELSEWHERE))
        # A link is named by the description of its mark, which readers hear and a mouse shows; a text names itself.
        for mark in part.xpath("*[@aria-label][1]"):
            title = etree.Element(f"{_SVG}title")
            title.text = mark.attrib.pop("aria-label")
            part.insert(0, title)


def xml_text(text: str) -> str:
    """Return a text without what an XML file must not have; each such character becomes U+FFFD."""
    return _NOT_IN_XML.sub("\ufffd", text)


def drawn_name(name: str) -> str:
    """Return a name for a chart: one line without marks of direction, shortened with an ellipsis."""
    line = " ".join(_DIRECTIONS.sub("", xml_text(name)).split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1].rstrip()}…"


# ---- charts of several reports -----------------------------------------------------------------------


def plot(rows: Sequence[Mapping[str, Any]], height: Any, *, room: int = 0) -> Any:
    """Return a chart of rows, as wide as the drawing but for the `room` of long names; sizes are in pixels."""
    return alt.Chart(alt.InlineData(values=rows), width=WIDTH - room, height=height)


def bar_plot(rows: Sequence[Mapping[str, Any]], height: Any, *, room: int = 0, **encodings: Any) -> Any:
    """Return such a chart with a bar for each row."""
    return plot(rows, height, room=room).mark_bar().encode(**encodings)


def stacked(
    parts: Sequence[tuple[str, Mapping[str, float]]],
    values: str,
    *,
    height: int = 24,
    room: int = 0,
    links: Sequence[str] = (),
    **colours: Any,
) -> Any:
    """Return horizontal bars by their names, divided into parts by kind, all in this order; a part is so many `values`.

    All bars have the same kinds. `room`: for long names, in pixels. With `links`, an address for each bar, its parts
    are links, which are named to those who cannot see them.
    """
    rows = [
        {"bar": bar, "kind": kind, "order": order, "value": value, "about": f"{name}, {kind}: {value:,}", "href": link}
        for bar, (name, kinds), link in zip(
            numbered(drawn_name(name) for name, _ in parts), parts, links or [""] * len(parts), strict=True
        )
        for order, (kind, value) in enumerate(kinds.items())
    ]
    legend = {"title": None, "legend": alt.Legend(orient="top")}
    spec = bar_plot(
        rows,
        alt.Step(height),
        room=room,
        y=alt.Y("bar:N", title=None, sort=None, axis=alt.Axis(labelExpr=UNNUMBERED, labelLimit=max(room, 180))),
        x=alt.X("value:Q", title=values, axis=alt.Axis(tickMinStep=1)),
        color=alt.Color("kind:N", sort=list(parts[0][1]), **{**legend, **colours}),
        order="order:Q",
    )
    return spec.mark_bar(aria=True).encode(href="href:N", description="about:N") if links else spec


# The name of a part, how many of its pairs are decided, and their precision with its bounds.
Decided = tuple[str, int, float | None, float | None, float | None]


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


def bars(shown: Sequence[tuple[str, float]], title: str, *, percent: bool = False) -> Any:
    """Return horizontal bars of these names and lengths, in their order, of shares or of counts."""
    axis = alt.Axis(format="%") if percent else alt.Axis(tickMinStep=1)
    names = numbered(name for name, _ in shown)
    rows = [{"name": name, "value": value} for name, (_, value) in zip(names, shown, strict=True)]
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelExpr=UNNUMBERED, labelLimit=220))
    return bar_plot(rows, alt.Step(24), room=220, y=y, x=alt.X("value:Q", title=title, axis=axis))


def precision_charts(parts: Iterable[Decided]) -> list[Chart]:
    """Return a chart of shares of decided pairs that are duplicates, with their intervals; none without such pairs."""
    measured = [part for part in parts if part[1]]
    if not measured:
        return []
    rows = [
        {"label": f"{name} ({decided:,})", "precision": value, "low": low, "high": high}
        for name, decided, value, low, high in measured
    ]
    base = plot(rows, alt.Step(26), room=200).encode(y=alt.Y("label:N", sort=None, title=None))
    scale = alt.Scale(domain=[0, 1])
    low = alt.X("low:Q", scale=scale, title="Precision", axis=alt.Axis(format="%", tickCount=5))
    interval = base.mark_rule(strokeWidth=3, color=PALETTE[-1]).encode(x=low, x2="high:Q")
    points = base.mark_point(filled=True, size=90, color=PALETTE[0], opacity=1)
    points = points.encode(x=alt.X("precision:Q", scale=scale))
    said = "; ".join(f"{name} {value:.0%} of {decided:,}" for name, decided, value, *_ in measured)
    description = (
        "The share of decided pairs that are duplicates, with its 95% interval; the number of decided pairs is in "
        f"brackets. {said}."
    )
    return [Chart("precision", "Precision and its interval", description, alt.layer(interval, points))]


def threshold_chart(name: str, title: str, description: str, shares: Sequence[Share]) -> Chart:
    """Return a chart with the threshold to the right, and a line with a band around it for each name of a line."""
    names = list(dict.fromkeys(point.line for point in shares))
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(names))]
    base = plot([point._asdict() for point in shares], _HEIGHT).encode(
        x=alt.X("threshold:Q", title="Lowest score", scale=alt.Scale(zero=False)),
        color=alt.Color(
            "line:N",
            title=None,
            sort=names,
            scale=alt.Scale(domain=names, range=colours),
            legend=alt.Legend(orient="bottom", columns=3, symbolOpacity=1),
        ),
    )
    share: dict[str, Any] = {"title": None, "axis": alt.Axis(format=".0%"), "scale": alt.Scale(domain=[0, 1])}
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", **share), y2="high")
    line = base.mark_line(point=True).encode(y=alt.Y("value:Q", **share))
    return Chart(name, title, description, alt.layer(band, line))


def evaluation_charts(thresholds: Mapping[str, Any]) -> Iterator[Chart]:
    """Yield a chart of the verdict and one of each pass, from what `evaluate` measured."""
    parts = {"verdict": ("the verdict, by its probability", thresholds["verdict"])}
    for name, own in thresholds["passes"].items():
        parts[name] = (f"the pass “{label_of_pass(name)}”", own)
    for name, (words, numbers) in parts.items():
        shares = [
            Share(label, row["threshold"], row[key], *row[f"{key}_interval"])
            for key, label in MEASURES[:3]
            for row in numbers["all"]
            if row[key] is not None
        ]
        description = (
            f"For each lowest score from {numbers['all'][0]['threshold']:g} to 1: precision, recall and F1 if all "
            "labelled pairs from that score on were called duplicates, with 95% intervals. The run used "
            f"{numbers['used']:g}."
        )
        yield threshold_chart(name, f"Precision, recall and F1 of {words}", description, shares)

"""The picture of a lineage: time runs to the right, a row for each newspaper, an arrow from each source. Pure."""

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dedup.detection.lineage.articles import Confidence, Edge, Lineage, LineageArticle
from dedup.review.pictures.timeline import AXIS, InRows, cut_name

# All lengths are in pixels.
_WIDTH = 760
_LEFT = 180
_RIGHT = 30
_ROW = 46
_TOP = 30
_RADIUS = 8
# Marks of one row that are closer are moved apart.
_CLOSE = 22
# A bow of arrows within one row, and of those that would cross other marks.
_BOW = 26
_TICKS = 5
# More are not drawn: the first ones are.
MOST_DRAWN = 40


class DrawnArticle(NamedTuple):
    """An article and its mark. `timed`: the time of day is known; `first`: it ran first."""

    article: LineageArticle
    x: float
    y: float
    timed: bool
    first: bool


class Arrow(NamedTuple):
    """An arrow from a source to its follower, as an SVG path; `dashed`: its direction is doubtful."""

    edge: Edge
    path: str
    dashed: bool


@dataclass(frozen=True)
class LineagePicture(InRows):
    """The drawn lineage. `rows` are newspapers with the heights of their lines; `zone` is of the axis."""

    width, left, margin, radius = _WIDTH, _LEFT, _RIGHT, _RADIUS
    rows: list[tuple[str, str, float]]
    arrows: list[Arrow]
    zone: str


def draw_lineage(lineage: Lineage) -> LineagePicture:
    """Return where the marks and arrows go; the newspapers come in the order of their first article."""
    shown = lineage.articles[:MOST_DRAWN]
    offsets = Counter(article.time.offset for article in shown if article.time and article.time.offset is not None)
    shift = datetime.timedelta(minutes=offsets.most_common(1)[0][0] if offsets else 0)
    moments = {article.number: article.moment for article in shown}
    for article in shown:
        if article.time and article.time.offset is not None:
            moments[article.number] += shift
    names = list(dict.fromkeys(article.name for article in shown))
    heights = {name: _TOP + _ROW * (place + 0.5) for place, name in enumerate(names)}
    start, end = _span(list(moments.values()))
    marks = _marks(shown, moments, heights, start, end, lineage.first)
    places = {mark.article.number: mark for mark in marks}
    drawn = [edge for edge in lineage.edges if edge.source in places and edge.follower in places]
    zone = next(
        (article.time.zone for article in shown if article.time and article.time.offset == shift.seconds // 60), ""
    )
    return LineagePicture(
        rows=[(name, cut_name(name), heights[name]) for name in names],
        marks=marks,
        arrows=[_arrow(edge, places) for edge in drawn],
        ticks=_ticks(start, end),
        height=round(_TOP + _ROW * len(names) + AXIS),
        left_out=len(lineage.articles) - len(shown),
        zone=zone,
    )


def _span(moments: Sequence[datetime.datetime]) -> tuple[datetime.datetime, datetime.datetime]:
    """Return the first and the last moment of the axis, an hour apart or more."""
    start, end = min(moments), max(moments)
    missing = max(datetime.timedelta(), datetime.timedelta(hours=1) - (end - start)) / 2
    return start - missing, end + missing


def _x(moment: datetime.datetime, start: datetime.datetime, end: datetime.datetime) -> float:
    return round(_LEFT + _RADIUS + (moment - start) / (end - start) * (_WIDTH - _LEFT - _RIGHT - 2 * _RADIUS), 1)


def _marks(
    shown: Sequence[LineageArticle],
    moments: Mapping[int, datetime.datetime],
    heights: Mapping[str, float],
    start: datetime.datetime,
    end: datetime.datetime,
    first: Sequence[int],
) -> list[DrawnArticle]:
    marks: list[DrawnArticle] = []
    last: dict[str, float] = {}
    for article in shown:
        x = _x(moments[article.number], start, end)
        if article.name in last and x < last[article.name] + _CLOSE:
            x = min(last[article.name] + _CLOSE, _WIDTH - _RADIUS - 1)
        last[article.name] = x
        leads = len(first) == 1 and article.number == first[0]
        marks.append(DrawnArticle(article, x, heights[article.name], article.time is not None, leads))
    return marks


def _arrow(edge: Edge, places: Mapping[int, DrawnArticle]) -> Arrow:
    """Return a curve from the edge of one mark to that of the other, with room for the arrow's head."""
    source, follower = places[edge.source], places[edge.follower]
    dx, dy = follower.x - source.x, follower.y - source.y
    bow = -_BOW if not dy else (_BOW / 2 if abs(dx) < _CLOSE else 0)
    middle = (source.x + dx / 2 + (bow if dy else 0), source.y + dy / 2 + (0 if dy else bow))
    x1, y1 = _towards((source.x, source.y), middle, _RADIUS + 1)
    x2, y2 = _towards((follower.x, follower.y), middle, _RADIUS + 4)
    path = f"M{x1} {y1} Q{round(middle[0], 1)} {round(middle[1], 1)} {x2} {y2}"
    return Arrow(edge, path, edge.direction is Confidence.DOUBTFUL)


def _towards(place: tuple[float, float], goal: tuple[float, float], length: float) -> tuple[float, float]:
    """Return the place that is so far from a place on the way to a goal."""
    dx, dy = goal[0] - place[0], goal[1] - place[1]
    distance = max((dx * dx + dy * dy) ** 0.5, 1.0)
    return round(place[0] + dx / distance * length, 1), round(place[1] + dy / distance * length, 1)


def _ticks(start: datetime.datetime, end: datetime.datetime) -> list[tuple[float, str]]:
    """Return some full hours or days of the axis."""
    hours = (end - start).total_seconds() / 3600
    step = next(
        (step_hours for step_hours in (1, 2, 3, 6, 12) if hours / step_hours <= _TICKS),
        24 * max(1, round(hours / 24 / _TICKS)),
    )
    moment = start.replace(minute=0, second=0, microsecond=0)
    if step >= 24:
        moment = moment.replace(hour=0)
    ticks: list[tuple[float, str]] = []
    while moment <= end:
        if moment >= start and (step >= 24 or moment.hour % step == 0):
            label = f"{moment.day} {moment:%b}" if step >= 24 or not ticks or not moment.hour else ""
            clock = "" if step >= 24 else f"{moment:%H:%M}"
            ticks.append((_x(moment, start, end), f"{label} {clock}".strip()))
        moment += datetime.timedelta(hours=1 if step < 24 else step)
    return ticks

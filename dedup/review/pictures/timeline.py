"""The time line of a cluster: a lane for each newspaper, a mark for each article. Pure."""

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

# All lengths are in pixels.
_WIDTH = 720
_LEFT = 170
_RIGHT = 24
_LANE = 30
_TOP = 12
AXIS = 30
# Marks that are closer than this become one.
_CLOSE = 17
_MOST_LANES = 12
_NAME_CHARACTERS = 22
_TICKS = 5


def cut_name(name: str) -> str:
    """Return the name of a newspaper, cut to fit left of its row."""
    return name if len(name) <= _NAME_CHARACTERS else f"{name[: _NAME_CHARACTERS - 1]}…"


class Event(NamedTuple):
    """The publication of some articles: the newspaper, the day, and the time if it is known."""

    newspaper: str
    day: datetime.date
    time: datetime.time | None = None
    articles: int = 1
    kept: bool = False


class Lane(NamedTuple):
    """A newspaper, the articles it published, and the first and the last day. `name` may be cut."""

    newspaper: str
    articles: int
    first: datetime.date
    last: datetime.date
    y: float

    @property
    def name(self) -> str:
        """The name of the newspaper, cut to fit."""
        return cut_name(self.newspaper)


class Mark(NamedTuple):
    """Articles at one place of a lane. `timed`: the time of day is known, not only the day."""

    x: float
    y: float
    articles: int
    kept: bool
    timed: bool

    @property
    def radius(self) -> int:
        """The more articles, the larger."""
        return 7 if self.articles == 1 else 9 if self.articles < 10 else 12


@dataclass(frozen=True)
class InRows:
    """A picture with a row for each newspaper above an axis. `ticks` are places on it, and what is written there.

    What there was no room for is counted in `left_out`. The rows begin at `left`; `margin` is right of them.
    """

    width: ClassVar[int]
    left: ClassVar[int]
    margin: ClassVar[int]

    height: int
    marks: Sequence[Any]
    ticks: list[tuple[float, str]]
    left_out: int

    @property
    def right(self) -> int:
        """Where the rows end."""
        return self.width - self.margin

    @property
    def bottom(self) -> int:
        """Where the rows end, and the axis begins."""
        return self.height - AXIS

    @property
    def has_untimed(self) -> bool:
        """Whether the time of day of an article is unknown."""
        return any(not mark.timed for mark in self.marks)


@dataclass(frozen=True)
class Timeline(InRows):
    """The drawn time line; newspapers beyond the last lane are counted only."""

    width, left, margin = _WIDTH, _LEFT, _RIGHT
    lanes: list[Lane]


def draw_timeline(events: Sequence[Event]) -> Timeline:
    """Return where the articles go; the newspapers come in the order of their first article."""
    counted: Counter[str] = Counter()
    for event in events:
        counted[event.newspaper] += event.articles
    ordered = sorted(events, key=lambda event: (event.day, event.time or datetime.time(12), event.newspaper))
    chosen = {name for name, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_MOST_LANES]}
    names = [name for name in dict.fromkeys(event.newspaper for event in ordered) if name in chosen]
    first = min(event.day for event in events)
    days = (max(event.day for event in events) - first).days + 1
    lanes, marks = [], []
    for place, name in enumerate(names):
        own = [event for event in ordered if event.newspaper == name]
        y = _TOP + _LANE * (place + 0.5)
        lanes.append(Lane(name, counted[name], own[0].day, own[-1].day, y))
        marks += _marks(own, first, days, y)
    height = _TOP + _LANE * len(names) + AXIS
    hours = days == 1 and any(event.time for event in events)
    return Timeline(height, marks, _ticks(first, days, hours=hours), len(counted) - len(names), lanes)


def _x(day: datetime.date, time: datetime.time | None, first: datetime.date, days: int) -> float:
    """Return the place of a time; an article whose time is unknown is placed in the middle of its day."""
    of_day = 0.5 if time is None else (time.hour * 60 + time.minute) / (24 * 60)
    return round(_LEFT + ((day - first).days + of_day) / days * (_WIDTH - _LEFT - _RIGHT), 1)


def _marks(events: Iterable[Event], first: datetime.date, days: int, y: float) -> list[Mark]:
    marks: list[Mark] = []
    for event in sorted(events, key=lambda event: _x(event.day, event.time, first, days)):
        x = _x(event.day, event.time, first, days)
        last = marks[-1] if marks else None
        if last and x - last.x < _CLOSE:
            timed = last.timed and event.time is not None
            marks[-1] = Mark(last.x, y, last.articles + event.articles, last.kept or event.kept, timed)
        else:
            marks.append(Mark(x, y, event.articles, event.kept, event.time is not None))
    return marks


def _ticks(first: datetime.date, days: int, *, hours: bool) -> list[tuple[float, str]]:
    """Return some hours of the one day, or some of the days."""
    if hours:
        return [(_x(first, datetime.time(hour), first, 1), f"{hour}:00") for hour in (0, 6, 12, 18)]
    step = -(-days // _TICKS)
    shown = [first + datetime.timedelta(days=number) for number in range(0, days, step)]
    years = first.year != shown[-1].year
    return [(_x(day, None, first, days), f"{day.day} {day:%b %Y}" if years else f"{day.day} {day:%b}") for day in shown]

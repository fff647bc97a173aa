"""The contract of a detection pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol

from dedup.declarations import Settings, setting
from dedup.types import Candidate, Tally, Window


@dataclass(frozen=True, slots=True)
class PassConfig(Settings):
    """The settings every pass has; a subclass adds its own."""

    enabled: bool = setting(
        True, help="Whether the pass is part of a run.", unit="yes or no", source="a choice of each installation"
    )


@dataclass(frozen=True, slots=True)
class NearConfig(PassConfig):
    """The settings every pass has that judges a pair by its two articles alone, within a window of days."""

    day_window: int = setting(
        3,
        range=(0, 365),
        unit="days, inclusive",
        help="Two articles are compared when their days of publication are at most this far apart.",
        source="Skoli: less than three days, both numbers configurable",
    )


class Connection(Protocol):
    """What a pass may ask of a database connection: cursors, as Django's connection gives them."""

    def cursor(self) -> Any: ...


class Reach(Enum):
    """What decides on a pair, and so what has to be compared again when articles come or change."""

    PAIR = "its two articles alone"
    WINDOW = "all articles of the window"
    STORE = "all articles of the scope"


class Pass(Protocol):
    """One way to find pairs of articles that may be duplicates.

    `find` streams the candidates of a window: each pair once, the smaller id left, scores in 0..1, the
    same answer for the same articles every time. It reads no settings and no clock, and writes nothing
    but temporary tables. What it tells of its work goes to the tally.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    # What it proposes with its default settings, in a few words.
    proposes: ClassVar[str]
    # Whether a run hands it one block of days after the other, or all days at once.
    by_days: ClassVar[bool]
    # A pass that reaches over the store answers with all pairs up to the window's last day.
    reach: ClassVar[Reach]
    # Whether it makes a difference to it if boilerplate is left out.
    compares_texts: ClassVar[bool]
    config_class: ClassVar[type[PassConfig]]

    def find(
        self, window: Window, config: Any, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]: ...

"""The words of the detection: what a pass is asked and what it answers."""

import datetime
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Window:
    """A block of days and the articles that it is compared with.

    A pass answers with the pairs whose earlier article was published from `first_day` to `last_day`,
    both included. Both articles lie in the scope: published from `since` to `until`, both included, by
    one of `newspaper_ids`; None means no bound.
    """

    first_day: datetime.date
    last_day: datetime.date
    since: datetime.date | None = None
    until: datetime.date | None = None
    newspaper_ids: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.first_day > self.last_day:
            raise ValueError(f"a window from {self.first_day} to {self.last_day} ends before it begins")


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """A pair of articles that a pass proposes, with its score in 0..1 and what an editor may want to know."""

    left: int
    right: int
    pass_name: str
    score: float
    evidence: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.left >= self.right:
            raise ValueError(f"pair ({self.left}, {self.right}) is out of order; the smaller id stands left")
        if not 0.0 <= self.score <= 1.0:
            raise ValueError(f"score {self.score} of pair ({self.left}, {self.right}) is outside 0..1")

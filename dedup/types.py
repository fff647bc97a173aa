"""The words of the detection: what a pass is asked, tells while it works, and answers; and what a pair is."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from articles.boilerplate.mode import Mode

# What the full comparison is called where the steps of a run are named, beside the passes.
VERDICTS = "verdicts"
# And what comes before all passes, where texts are compared without it.
BOILERPLATE = "boilerplate"


class VerdictKind(StrEnum):
    """What a pair is: a copy, a later state of the same text, the same form with other facts, or none of these."""

    DUPLICATE = "duplicate"
    VERSION = "version"
    TEMPLATE = "template"
    SIMILAR = "similar"


@dataclass(frozen=True, slots=True)
class Window:
    """The days of which a pass is asked, and the bounds of what it may compare.

    A pass answers with the pairs whose later article was published from `first_day` to `last_day`, both
    included; the other one may be older, by as many days as the pass allows. No article after `last_day` is
    looked at. Both are by one of `newspaper_ids`; None means any. With `newer_than`, pairs of which
    neither article has a higher revision are left out, where a pair depends on its two articles alone.
    Texts are compared with their `boilerplate` or without, as it is marked; empty texts match nothing.
    """

    first_day: datetime.date
    last_day: datetime.date
    newspaper_ids: tuple[int, ...] | None = None
    newer_than: int | None = None
    boilerplate: Mode = Mode.KEEP

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


@dataclass(slots=True)
class Tally:
    """What a pass tells while it works.

    `on_read` is called with each number of articles that it has read; `candidates` counts the pairs that its quick
    filter let pass, `verified` those of them that were then compared in full.
    """

    on_read: Callable[[int], None] = lambda _articles: None
    candidates: int = 0
    verified: int = 0

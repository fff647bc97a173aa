"""The types that all of dedup shares: a pass's window, candidates and tally, and the kinds of verdicts."""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Self

from articles.boilerplate.mode import Mode

# The name of the evidence of pairs of dense groups that clusters need.
DENSE_GROUPS = "dense group"


class Phase(StrEnum):
    """The phases of a run that are not passes, in its order, with what pages call each.

    The passes come before STORING, which runs at the same time if there are several processes.
    """

    label: str

    def __new__(cls, value: str, label: str) -> Self:
        phase = str.__new__(cls, value)
        phase._value_, phase.label = value, label
        return phase

    FORMS = "forms", "Merged newspapers"
    BOILERPLATE = "boilerplate", "Boilerplate"
    SHINGLES = "shingles", "Shingle index"
    SENTENCES = "sentences", "Sentence index"
    STORING = "storing", "Storing pairs"
    STALE = "stale", "Outdated evidence"
    BEST_SCORES = "best scores", "Best scores"
    GROUPS = "groups", "Dense groups"
    SERIES = "series", "Series"
    RECURRING = "recurring", "What newspapers repeat"
    VERDICTS = "verdicts", "Full comparison"
    GROUP_CHECKS = "group checks", "Checks in dense groups"
    CLUSTERS = "clusters", "Clusters"
    QUESTIONS = "questions", "Questions for editors"
    COUNTS = "counts", "Counting"
    REPORTS = "reports", "Reports"


class VerdictKind(StrEnum):
    """What a pair is: a copy, a later state of the same text, the same form with other facts, or only similar."""

    DUPLICATE = "duplicate"
    VERSION = "version"
    TEMPLATE = "template"
    SIMILAR = "similar"


class Relation(StrEnum):
    """What two articles are to each other: it follows from the verdict and from how much of each the other repeats."""

    COPY = "copy"  # each has nearly all of the other
    CONTAINS = "contains"  # the longer repeats the shorter, and has more on the same news
    UPDATE = "update"  # the later one is a later state of the story
    PART = "part"  # the shorter is one item of something larger
    TEMPLATE = "template"
    SIMILAR = "similar"


class SameAs(StrEnum):
    """What counts as the same: which relations put two articles into one cluster (verdicts/same_as.py)."""

    COPIES = "copies"
    CROPPED = "cropped"
    STATES = "states"
    UPDATES = "updates"


class KeepRule(StrEnum):
    """Which article represents its cluster, unless an editor chose one."""

    EARLIEST = "earliest"
    AGENCY = "agency"
    LONGEST = "longest"


class Mark(Enum):
    """What of two articles the page of a pair marks (comparison/evidence_marks.py; the first two: their heads)."""

    NOTHING = ""
    HEADLINE = "headline"
    URLS = "urls"
    TEXT = "all of two equal texts"
    BEGINNING = "what is compared"
    SENTENCES = "sentences that both have"
    CHARACTERS = "character shingles that both have"
    STOP_WORDS = "stop-word shingles that both have"
    PHRASES = "masked shingles that both have"


@dataclass(frozen=True, slots=True)
class Window:
    """The days for which a pass finds pairs, and the bounds of what it may compare.

    A pass yields the pairs whose later article was published from `first_day` to `last_day`, both included; the
    other may be older, by as many days as the pass allows. No article after `last_day` is read. Both
    articles are from one of `newspaper_ids`; None means any. With `newer_than`, passes with Reach.PAIR leave out
    pairs of which neither article has a higher revision, unless both are in a dense group. `boilerplate` says
    whether marked boilerplate is compared; empty texts match nothing.
    """

    first_day: datetime.date
    last_day: datetime.date
    newspaper_ids: tuple[int, ...] | None = None
    newer_than: int | None = None
    boilerplate: Mode = Mode.KEEP

    def __post_init__(self) -> None:
        if self.first_day > self.last_day:
            raise ValueError(f"the window ends on {self.last_day}, before it begins on {self.first_day}; swap the days")


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """A pair of articles that a pass proposes, with its score in 0..1 and evidence for editors."""

    left: int
    right: int
    pass_name: str
    score: float
    evidence: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.left >= self.right:
            raise ValueError(f"pair ({self.left}, {self.right}) is out of order; the smaller id must be left")
        if not 0.0 <= self.score <= 1.0:
            raise ValueError(f"score {self.score} of pair ({self.left}, {self.right}) is outside 0..1")


@dataclass(slots=True)
class Tally:
    """A pass's progress and counts.

    The pass calls `on_read` with the number of articles of each batch it has read. `candidates` counts the pairs that
    pass its quick filter, `verified` those that it then compared in full. `hubs` has the articles of dense groups, of
    whose pairs with each other the pass kept only some, each with the number of neighbours that were found of it: it
    has at least so many. `kept` are pairs to store with the block, as kernels/inverted_index.py has them. `articles`
    counts those of which a preparation has counted something.
    """

    on_read: Callable[[int], None] = lambda _articles: None
    candidates: int = 0
    verified: int = 0
    hubs: dict[int, int] = field(default_factory=dict)
    kept: list[bytes] = field(default_factory=list)
    articles: int = 0

"""The articles of a cluster whose lineage is asked for, and the lineage that is found. Pure."""

import datetime
from dataclasses import dataclass, field
from enum import StrEnum

from articles.normalization.times import PublicationTime
from dedup.detection.comparison.prepared import PreparedArticle


class Kind(StrEnum):
    """How a text came to be in several places: the four kinds of Nicholls (2019), and what is none of them."""

    WIRE = "wire"
    RELEASE = "release"
    NEWSPAPER = "newspaper"
    COMMON = "common"
    OWN = "own"


KIND_LABELS = {
    Kind.WIRE: "wire copy",
    Kind.RELEASE: "press release",
    Kind.NEWSPAPER: "newspaper to newspaper",
    Kind.COMMON: "common source",
    Kind.OWN: "one owner's own reuse",
}


class Confidence(StrEnum):
    """How well something is supported, in words."""

    CLEAR = "clear"
    LIKELY = "likely"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class LineageArticle:
    """An article of a cluster. Articles with the same `text_key` have the same text; it is empty if they have none.

    `name` and `host` are the newspaper's; `owner` is empty if nobody has named one.
    """

    number: int
    newspaper: int
    name: str
    date: datetime.date
    text_key: str
    host: str = ""
    owner: str = ""
    time: PublicationTime | None = None
    date_doubt: str = ""
    agency: str = ""
    byline: str = ""

    @property
    def house(self) -> str:
        """Who publishes it: newspapers of one owner share texts as one newsroom does."""
        return f"owner {self.owner}" if self.owner else f"newspaper {self.newspaper}"

    @property
    def moment(self) -> datetime.datetime:
        """A time to sort by, which claims nothing: noon if only the day is known."""
        if self.time is not None:
            return self.time.at.replace(tzinfo=None)
        return datetime.datetime.combine(self.date, datetime.time(12))


@dataclass(frozen=True, slots=True)
class Text:
    """A text: its content, with all credits, and its words without boilerplate, as they are compared."""

    content: str
    prepared: PreparedArticle


@dataclass(frozen=True, slots=True)
class Edge:
    """An article and its likely source: the earlier article that it shares most with.

    `hours` is None if the times cannot be compared that closely. `days` are between the two days of publication,
    negative if the source is of a later day. `added` are positions of sentences of the follower, `dropped` of the
    source, `changed` of both, the source's first. Sentences are as `shown_sentences` returns them.
    """

    source: int
    follower: int
    direction: Confidence
    kind: Kind
    days: int
    hours: float | None
    reasons: tuple[str, ...] = ()
    added: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    changed: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Lineage:
    """The lineage of a cluster: its articles in the order of their times, and an edge for each that has a source.

    `first` has the articles that no other one certainly precedes: one, if it is known which came first. `unread` counts
    the articles whose texts were too many to be compared.
    """

    articles: list[LineageArticle]
    edges: list[Edge]
    kind: Kind
    confidence: Confidence
    reasons: tuple[str, ...]
    first: tuple[int, ...]
    doubts: tuple[str, ...] = field(default=())
    unread: int = 0

    @property
    def leader(self) -> LineageArticle | None:
        """The article that ran first; None if that is not known."""
        return next((article for article in self.articles if (article.number,) == self.first), None)

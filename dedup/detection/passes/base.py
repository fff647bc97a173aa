"""The contract of a detection pass."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Protocol

from articles.numbers import counted
from dedup.declarations import SettingEffect, Settings, setting, settings_of
from dedup.detection.types import Candidate, Mark, Tally, Window

# A work that two passes follow.
BRODER_1997 = """@inproceedings{broder1997,
  author = {Broder, Andrei Z.},
  title = {On the resemblance and containment of documents},
  booktitle = {Compression and Complexity of Sequences},
  year = {1997},
  pages = {21--29}
}"""


# The most days apart that a pass may compare, which means no limit.
_NO_LIMIT = 36_500


# ---- settings that several passes declare, each with its own default and source --------------------


def included(default: bool, source: str) -> Any:
    """Declare whether runs include a pass."""
    return setting(
        default, help="Whether runs include this pass.", source=source, label="Use this pass", effect=SettingEffect.SAME
    )


def days_compared(default: int, source: str, *, most: int = _NO_LIMIT) -> Any:
    """Declare how many days apart articles are compared."""
    unlimited = f"; {most:,} means no limit" if most == _NO_LIMIT else ""
    return setting(
        default,
        range=(0, most),
        unit="days, inclusive",
        help=f"Articles are compared if they were published at most this many days apart{unlimited}.",
        source=source,
        label="Days apart, at most",
        effect=SettingEffect.WITHIN_DAYS,
    )


def lowest_score(default: float, unit: str, source: str, *, least: float) -> Any:
    """Declare the score from which on pairs are proposed."""
    return setting(
        default,
        range=(least, 1.0),
        unit=unit,
        help="Pairs with at least this score are proposed.",
        source=source,
        label="Lowest score",
        effect=SettingEffect.FROM_SCORE,
    )


def characters_compared(default: int, source: str) -> Any:
    """Declare how much of an article is compared."""
    return setting(
        default,
        range=(50, 100_000),
        unit="characters of normalised text",
        help="How much of the start of each article is compared.",
        source=source,
        label="Characters compared",
    )


# ---- the contract ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PassConfig(Settings):
    """The settings that every pass has; a subclass adds its own."""

    enabled: bool = included(True, "a choice of each installation")
    retired: bool = setting(
        False,
        help="Whether runs hide the pairs of this pass that these settings would not find; with the pass off, all.",
        source="a choice: without it, a run says nothing of what its settings cannot find",
        label="Hide what these settings do not find",
        effect=SettingEffect.SAME,
    )

    def comparable(self, used: Mapping[str, Any]) -> bool:
        """Return whether these settings find every pair found with those of an earlier run, and score it alike.

        Apart from pairs below the lowest score or more days apart than here, and from those that a dense group leaves
        out. A setting that the earlier run did not know had its default.
        """
        return all(
            declared.effect.includes(getattr(self, name), used.get(name, field.default))
            for name, (field, declared) in settings_of(type(self)).items()
        )


@dataclass(frozen=True, slots=True)
class NearConfig(PassConfig):
    """The settings of a pass that judges each pair by its two articles alone, within a window of days."""

    day_window: int = days_compared(3, "Skoli: less than three days, both numbers configurable", most=365)
    dense_from: int = setting(
        50,
        range=(2, 100_000_000),
        unit="similar articles within the window",
        help="An article with more similar ones than this belongs to a dense group, which keeps only the pairs that it "
        "needs. The maximum keeps all.",
        source="a choice: 51 similar articles are 1,275 pairs; in four collections of real news, none has more than 21",
        label="Similar articles that make a dense group",
        effect=SettingEffect.IN_DENSE_GROUPS,
    )
    kept_pairs: int = setting(
        2,
        range=(1, 100_000_000),
        unit="pairs",
        help="In a dense group, this many pairs of each article are kept, the most similar ones, and the pairs that "
        "hold the group together.",
        source="a choice: what an article says about its group is in its most similar pairs",
        label="Pairs kept of each article in a dense group",
        effect=SettingEffect.IN_DENSE_GROUPS,
    )


class Connection(Protocol):
    """The part of a database connection that a pass may use: cursors, as Django's connection gives them."""

    def cursor(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a pass proposes two articles, or not, in sentences for editors.

    `score` is in 0..1, or None if the pass does not get as far as a score. `threshold` is None if it has none.
    `evidence` is what the candidate would have.
    """

    proposed: bool
    why: str
    score: float | None = None
    threshold: float | None = None
    evidence: dict[str, Any] = field(default_factory=dict)


class Reach(Enum):
    """What decides a pair, and so what must be compared again when articles are added or changed."""

    PAIR = "its two articles alone"
    WINDOW = "all articles of the window"
    STORE = "all articles of the scope"


class Spread(Enum):
    """How the work of a pass is divided between the machines of a cluster (detection/spark/running.py)."""

    KEYS = "the articles of a key together"
    TILES = "some articles with some others, by days"
    MEMBERS = "counts by ranges of hashes, then parts two by two"
    BANDS = "the articles of a band together"


class Pass(ABC):
    """One way to find pairs of articles that may be duplicates.

    `find` streams the candidates of a window: each pair once, the smaller id left, scores in 0..1. The same
    articles always give the same candidates. It reads no settings and no clock, writes nothing but temporary
    tables, and reports its progress to the tally.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    # What it proposes with its default settings, in a few words.
    proposes: ClassVar[str]
    # Whether a run gives it one block of days at a time, or all days together.
    by_days: ClassVar[bool]
    # With Reach.STORE it yields all pairs up to the window's last day.
    reach: ClassVar[Reach]
    # Whether leaving out boilerplate changes what it finds.
    compares_texts: ClassVar[bool]
    config_class: ClassVar[type[PassConfig]]
    # What is marked in two articles, and a note on that with the settings in braces; "": the page marks nothing.
    mark: ClassVar[Mark] = Mark.NOTHING
    marked_note: ClassVar[str] = ""
    # The BibTeX entries of the works that it follows.
    cites: ClassVar[tuple[str, ...]] = ()
    # The phase of a run (detection/types.py) that makes the index it reads, if any.
    index: ClassVar[str] = ""
    # The same by SQL that scores every pair of a day, for audits of some days (runs/audit.py).
    plain_join: ClassVar[str] = ""
    # None: a run on a cluster cannot have the pass. The seconds are those of one core for the sets of an article.
    spread: ClassVar[Spread | None] = None
    seconds_an_article: ClassVar[float] = 0.0

    @abstractmethod
    def find(
        self, window: Window, config: Any, connection: Connection, tally: Tally | None = None
    ) -> Iterator[Candidate]:
        """Yield the candidates of a window."""

    @abstractmethod
    def explain(self, left: int, right: int, window: Window, config: Any, connection: Connection) -> Explanation:
        """Return whether `find` yields the pair of these two articles, if all articles up to the last day are compared.

        The left id is the smaller one. Whether the pass is enabled, and what a dense group leaves out, is not asked.
        """


class PreparedPass(Pass):
    """A pass whose blocks need something that depends on more than their articles: it is made once a run, in parts.

    Parts and the whole are plain values, which any process can use.
    """

    @abstractmethod
    def preparations(self, blocks: int, articles: int) -> int:
        """Return in how many parts to prepare a run of so many blocks; 0: each block makes what it needs."""

    @abstractmethod
    def prepare(self, window: Window, config: Any, connection: Connection, part: int, parts: int, tally: Tally) -> Any:
        """Return a part of what the blocks need; `window` has all days of the run."""

    @abstractmethod
    def prepared(self, parts: Sequence[Any]) -> Any:
        """Return what the blocks need, made of its parts in order."""

    @abstractmethod
    def find_prepared(
        self, window: Window, config: Any, connection: Connection, prepared: Any, tally: Tally
    ) -> Iterator[Candidate]:
        """Yield the candidates of a block."""


def too_far(days: int, most: int) -> str:
    """Say that two articles are more days apart than a pass compares."""
    bound = f"at most {counted(most, 'day')} apart" if most else "of the same day"
    return f"They are {counted(days, 'day')} apart; this pass compares articles {bound}."

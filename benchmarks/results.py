"""What was measured, and its file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from benchmarks.measuring import Usage

LABELS = {
    "datasketch": "datasketch, hashed shingles",
    "datasketch-texts": "datasketch, shingles as bytes",
    "rensa": "rensa, hashed shingles",
    "rensa-texts": "rensa, shingles as strings",
    "exact-join": "exact join",
    "text-dedup": "text-dedup, groups by its MinHash",
    "splink": "Splink, blocks of rare words",
    "minhash-kernel": "minhash signatures, hashed shingles",
    "minhash-core": "minhash pass, find() alone",
    "minhash": "minhash pass, the command",
}


EXACT, LSH = "exact-join", "minhash-kernel"
# What a contestant finds, if it is not what all others over shingles find.
FINDS = {
    "text-dedup": "groups by 5 words ≥ 0.75, not verified",
    "splink": "words ≥ 0.75 that share a rare one",
}
_FINDS = "shingles ≥ 0.75, all time"


class Sheet(NamedTuple):
    """A table: its title, the names of its columns, and its cells; and the name of its picture, if it has one."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    picture: str = ""


def seconds(value: float | None) -> str:
    """Return seconds with three digits; empty if they were not measured."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class WindowResult:
    """The trigram pass against the plain join on one corpus."""

    articles: int
    per_day: int | None  # None: the articles' own days
    threshold: float
    workers: str
    pairs: int  # in the window: those the plain join would compare
    slice_pairs: int
    slice_cpu: float
    slice_wall: float
    slice_found: int
    slice_agreed: int  # found by both with equal scores
    slice_extra: int  # found only by the pass, or with another score
    found: int
    usage: Usage
    startup_cpu: float  # part of usage: the start of Python and Django

    @property
    def plain_cpu(self) -> float:
        """Return the CPU seconds of the whole plain join, extrapolated by its number of pairs."""
        return self.slice_cpu * self.pairs / self.slice_pairs

    @property
    def ratio(self) -> float:
        """Return how many times as many CPU seconds the plain join needs."""
        return self.plain_cpu / self.usage.cpu

    @property
    def pass_cpu(self) -> float:
        """Return the CPU seconds from the first text read to the last evidence written."""
        return self.usage.cpu - self.startup_cpu

    @property
    def pass_ratio(self) -> float:
        """Return how many times as many CPU seconds the plain join needs as the pass without its start."""
        return self.plain_cpu / self.pass_cpu


@dataclass(frozen=True, slots=True)
class ShingleResult:
    """One contestant over character shingles on one corpus."""

    corpus: int
    articles: int  # if fewer than the corpus, the results are for its first articles
    name: str
    prefix: int  # characters of each text
    found: int
    recall: float | None  # of all pairs, over all time; None: unknown
    recall_in_window: float | None
    usage: Usage
    startup_cpu: float | None  # of the command; None: core_cpu is measured instead
    core_cpu: float | None
    shingles_cpu: float | None  # part of core_cpu; None: not measured
    signatures_cpu: float | None = None  # the same; of hashed shingles, as arrays of bytes

    @property
    def measured_of(self) -> str:
        """Return the number of articles, and of how many if it is not the whole corpus."""
        return f"{self.articles:,}" + (f" of {self.corpus:,}" if self.articles < self.corpus else "")

    @property
    def finds(self) -> str:
        """Return what it finds, in words."""
        return FINDS.get(self.name, _FINDS)

    @property
    def cpu(self) -> float:
        """Return the CPU seconds per article of all processes."""
        return self.usage.cpu / self.articles

    @property
    def core(self) -> float | None:
        """Return the CPU seconds per article of the core; for the command, of all but its start."""
        if self.startup_cpu is not None:
            return (self.usage.cpu - self.startup_cpu) / self.articles
        return None if self.core_cpu is None else self.core_cpu / self.articles

    @property
    def after_shingles(self) -> float | None:
        """Return the CPU seconds per article of the core without making the shingles."""
        if self.core_cpu is None or self.shingles_cpu is None:
            return None
        return (self.core_cpu - self.shingles_cpu) / self.articles

    @property
    def signatures(self) -> float | None:
        """Return the CPU seconds per article of the signatures alone."""
        return None if self.signatures_cpu is None else self.signatures_cpu / self.articles


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """The exact join, or MinHash with LSH, at a threshold."""

    articles: int
    days: int
    threshold: float
    name: str
    rows: int | None  # of a band of LSH
    candidates: int  # pairs that were verified
    found: int
    recall: float | None  # of what the exact join finds
    core_cpu: float
    shingles_cpu: float  # part of core_cpu
    memory: float


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a whole run."""

    name: str
    stored: int  # articles that it stored
    usage: Usage
    phases: dict[str, float]  # wall seconds by label; empty if it is not a run of the detection


@dataclass(frozen=True, slots=True)
class PageTime:
    """The median of some requests of a page, on the server, and the queries of one."""

    name: str
    milliseconds: float
    queries: int


@dataclass(slots=True)
class WholeResult:
    """The way of one corpus from its file to the pages, and other tools on the same articles."""

    articles: int
    pairs: int = 0
    clusters: int = 0
    steps: list[Step] = field(default_factory=list)
    pages: list[PageTime] = field(default_factory=list)
    window: list[WindowResult] = field(default_factory=list)
    shingles: list[ShingleResult] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one run, and the machine."""

    machine: dict[str, str]
    options: dict[str, Any]
    window: list[WindowResult] = field(default_factory=list)
    shingles: list[ShingleResult] = field(default_factory=list)  # over all time
    near: list[ShingleResult] = field(default_factory=list)  # within the window of days
    whole: list[WholeResult] = field(default_factory=list)
    thresholds: list[ThresholdResult] = field(default_factory=list)

    def to_json(self) -> str:
        """Return the results as JSON, from which `from_json` reads them again."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Results:
        """Return the results that `to_json` wrote."""
        stored = json.loads(text)
        whole = [
            WholeResult(
                **each
                | {"steps": _with_usage(Step, each["steps"]), "pages": [PageTime(**page) for page in each["pages"]]}
                | {"window": _with_usage(WindowResult, each["window"])}
                | {"shingles": _with_usage(ShingleResult, each["shingles"])}
            )
            for each in stored["whole"]
        ]
        window = _with_usage(WindowResult, stored["window"])
        shingles, near = (_with_usage(ShingleResult, stored[kind]) for kind in ("shingles", "near"))
        thresholds = [ThresholdResult(**each) for each in stored["thresholds"]]
        return cls(stored["machine"], stored["options"], window, shingles, near, whole, thresholds)


def _with_usage(kind: Any, stored: list[dict[str, Any]]) -> list[Any]:
    return [kind(**each | {"usage": Usage(**each["usage"])}) for each in stored]

"""What was measured, its file, and its tables: each column is declared once, with its heading and its cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

from benchmarks.measuring import Usage

Row = TypeVar("Row")

LABELS = {
    "datasketch": "datasketch, hashed shingles",
    "datasketch-texts": "datasketch, shingles as bytes",
    "rensa": "rensa, hashed shingles",
    "rensa-texts": "rensa, shingles as strings",
    "exact-join": "exact join",
    "minhash-kernel": "minhash signatures, hashed shingles",
    "minhash-core": "minhash pass, find() alone",
    "minhash": "minhash pass, the command",
}
EXACT, LSH = "exact-join", "minhash-kernel"
_FINDS = "shingles ≥ 0.75, all time"
_YEAR = 366
_SHOWN = 0.5  # seconds of a phase
# The commands of a whole run.
IMPORT, RUN = "import of the file", "find_duplicates"
INDEX = "index_search"
NOTHING_NEW, IMPORT_NEW, NEW = "find_duplicates --new, nothing new", "import of the new ones", "find_duplicates --new"
# The runs, in the order of the table of phases.
_RUNS = {RUN: "", NOTHING_NEW: ", nothing new", NEW: ", 1,000 new"}


class Sheet(NamedTuple):
    """A table: its title, the names of its columns, and its cells; and the name of its picture, if it has one."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    picture: str = ""


Columns = Mapping[str, Callable[[Any], str]]


def sheet(title: str, columns: Columns, results: Sequence[Any], picture: str = "") -> Sheet:
    """Return the table of some results, of which each column makes a cell."""
    return Sheet(title, tuple(columns), [tuple(show(row) for show in columns.values()) for row in results], picture)


def seconds(value: float | None) -> str:
    """Return seconds with three digits; empty if they were not measured."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _cpu(usage: Usage) -> str:
    return f"{seconds(usage.cpu)} ({seconds(usage.server_cpu)})"


def _memory(usage: Usage) -> str:
    return f"{usage.command_memory:,.0f} ({usage.server_memory:,.0f})"


@dataclass(frozen=True, slots=True)
class WindowResult:
    """The trigram pass against the plain join on one corpus."""

    articles: int
    per_day: int | None  # None: the articles' own days
    threshold: float
    pairs: int  # in the window: those the plain join would compare
    slice_pairs: int
    slice_cpu: float
    slice_wall: float
    slice_found: int
    slice_agreed: int  # found by both with equal scores
    slice_extra: int  # found only by the pass, or with another score
    found: int
    usage: Usage

    @property
    def plain_cpu(self) -> float:
        """Return the CPU seconds of the whole plain join, extrapolated by its number of pairs."""
        return self.slice_cpu * self.pairs / self.slice_pairs

    @property
    def ratio(self) -> float:
        """Return how many times as many CPU seconds the plain join needs."""
        return self.plain_cpu / self.usage.cpu


WINDOW: Columns = {
    "articles": lambda row: f"{row.articles:,}",
    "a day": lambda row: "own" if row.per_day is None else f"{row.per_day:,}",
    "pairs in the window": lambda row: f"{row.pairs:,}",
    "plain join CPU s": lambda row: f"≈ {seconds(row.plain_cpu)}",
    "trigram CPU s (PostgreSQL's)": lambda row: _cpu(row.usage),
    "peak MB (PostgreSQL's)": lambda row: _memory(row.usage),
    "pairs found": lambda row: f"{row.found:,}",
    "agreed in the slice": lambda row: (
        f"{row.slice_agreed} of {row.slice_found}" + (f", {row.slice_extra} more" if row.slice_extra else "")
    ),
    "ratio": lambda row: f"{row.ratio:,.0f} ×",
}


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
    def costs(self) -> tuple[float | None, ...]:
        """Return the CPU seconds per article: in all, of the core, of it after the shingles, and of the signatures."""
        known = self.core_cpu is not None and self.shingles_cpu is not None
        after = (self.core_cpu - self.shingles_cpu) / self.articles if known else None
        signatures = None if self.signatures_cpu is None else self.signatures_cpu / self.articles
        return self.cpu, self.core, after, signatures


def _ratios(own: ShingleResult, name: str, results: Sequence[ShingleResult]) -> str:
    """Return the rival's CPU time per article divided by this one's, on the same corpus."""
    on = (own.corpus, own.prefix, name)
    rival = next((other for other in results if (other.corpus, other.prefix, other.name) == on), None)
    if rival is None:
        return ""
    costs = zip(rival.costs, own.costs, strict=True)
    return ", ".join("–" if theirs is None or not mine else f"{theirs / mine:.1f}" for theirs, mine in costs)


def shingle_columns(results: Sequence[ShingleResult], *, near: bool = False) -> Columns:
    """Return the columns of the contestants over shingles; `near`: within the window of days.

    Within it there is no recall over all time, and no datasketch, but texts of several lengths.
    """
    length: Columns = {"characters": lambda row: f"{row.prefix:,}"}
    over_time: Columns = {"recall": lambda row: _share(row.recall)}
    rival = "rensa" if near else "datasketch"
    faster = f"faster than {rival}: whole, core, after shingles, signatures"
    than: Columns = {faster: lambda row: _ratios(row, rival, results)}
    return {
        **(length if near else {}),
        "articles": lambda row: row.measured_of,
        "contestant": lambda row: LABELS[row.name],
        "pairs": lambda row: f"{row.found:,}",
        **({} if near else over_time),
        "recall ±3 days": lambda row: _share(row.recall_in_window),
        "CPU s (PostgreSQL's)": lambda row: _cpu(row.usage),
        "core CPU s": lambda row: "" if row.core is None else seconds(row.core * row.articles),
        "of which shingles": lambda row: seconds(row.shingles_cpu),
        "of which signatures": lambda row: seconds(row.signatures_cpu),
        **than,
        "peak MB": lambda row: f"{row.usage.command_memory:,.0f}",
    }


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """The exact join, or MinHash with LSH, at a threshold: first the one, then the other."""

    articles: int
    days: int
    threshold: float
    name: str
    candidates: int  # pairs that were verified
    found: int
    recall: float | None  # of what the exact join finds
    core_cpu: float
    memory: float


# Of the exact join, then of MinHash.
THRESHOLDS: Columns = {
    "articles": lambda row: f"{row[0].articles:,}",
    "days apart": lambda row: f"±{row[0].days}" if row[0].days <= _YEAR else "any",
    "t": lambda row: f"{row[0].threshold:g}",
    "pairs": lambda row: f"{row[0].found:,}",
    "recall of MinHash": lambda row: _share(row[1].recall),
    "candidates": lambda row: f"{row[0].candidates:,}; {row[1].candidates:,}",
    "core CPU s": lambda row: f"{seconds(row[0].core_cpu)}; {seconds(row[1].core_cpu)}",
    "peak MB": lambda row: f"{row[0].memory:,.0f}; {row[1].memory:,.0f}",
}


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

    def outcome(self, step: Step) -> str:
        """Return what a command came to, in words."""
        if step.name in (IMPORT, IMPORT_NEW):
            return f"{step.stored / step.usage.wall:,.0f} articles/s"
        return f"{self.pairs:,} pairs, {self.clusters:,} clusters" if step.name == RUN else ""


# Of a corpus and one of its commands.
STEPS: Columns = {
    "articles": lambda row: f"{row[0].articles:,}",
    "step": lambda row: row[1].name,
    "wall s": lambda row: seconds(row[1].usage.wall),
    "CPU s (PostgreSQL's)": lambda row: _cpu(row[1].usage),
    "peak MB (PostgreSQL's)": lambda row: _memory(row[1].usage),
    "result": lambda row: row[0].outcome(row[1]),
}
OTHERS = (
    "articles", "tool", "finds", "pairs", "recall", "wall s", "CPU s (PostgreSQL's)", "CPU s for 10,000 articles",
    "peak MB",
)  # fmt: skip


def whole_sheets(results: Sequence[WholeResult]) -> list[Sheet]:
    """Return the tables of whole runs; those without rows too."""
    sizes = [f"{result.articles:,}" for result in results]
    runs = [f"{size}{words}" for size in sizes for words in _RUNS.values()]
    pages = "Pages: median milliseconds on the server (queries)"
    others = [row for result in results for row in other_rows(result)]
    return [
        sheet("From the file to the clusters", STEPS, [(result, step) for result in results for step in result.steps]),
        Sheet("Wall seconds of each phase", ("phase", *runs), phase_rows(results)),
        Sheet(pages, ("page", *sizes), page_rows(results)),
        Sheet("Other tools on the same articles", OTHERS, others),
    ]


def phase_rows(results: Sequence[WholeResult]) -> list[tuple[str, ...]]:
    """Return a row of wall seconds for each phase of half a second or more, and one for the sum of all.

    Each corpus has a column for each run.
    """
    steps = [{step.name: step.phases for step in result.steps} for result in results]
    columns = [phases.get(name, {}) for phases in steps for name in _RUNS]
    rows = _by_name([{name: f"{wall:.1f}" for name, wall in column.items()} for column in columns])
    rows = [row for row in rows if any(wall and float(wall) >= _SHOWN for wall in row[1:])]
    return [*rows, ("All", *(f"{sum(column.values()):.1f}" for column in columns))] if rows else []


def page_rows(results: Sequence[WholeResult]) -> list[tuple[str, ...]]:
    """Return a row for each page; each corpus has a column."""
    return _by_name(
        [{page.name: f"{page.milliseconds:,.0f} ({page.queries})" for page in result.pages} for result in results]
    )


def _by_name(columns: Sequence[Mapping[str, str]]) -> list[tuple[str, ...]]:
    names = dict.fromkeys(name for column in columns for name in column)
    return [(name, *(column.get(name, "") for column in columns)) for name in names]


def other_rows(result: WholeResult) -> list[tuple[str, ...]]:
    """Return what other tools cost on a corpus, then the plain join, single passes and the whole run."""
    rows = []
    run = next((step.usage for step in result.steps if step.name == RUN), None)
    if run and (result.window or result.shingles):
        found = ("all of the default profile, verdicts, clusters", f"{result.pairs:,}", "")
        rows.append((f"{result.articles:,}", "newsdedup, the whole run", *found, *_cost(run, result.articles)))
    for window in result.window:
        number = f"{window.articles:,}"
        found = (f"trigrams ≥ {window.threshold:g}, ±3 days", f"{window.found:,}", "")
        rows.append((number, "newsdedup, trigram pass", *found, *_cost(window.usage, window.articles)))
        cost = (f"≈ {seconds(window.plain_cpu)}", f"≈ {seconds(window.plain_cpu / window.articles * 10_000)}", "")
        rows.append((number, "plain SQL self-join", *found, "", *cost))
    for one in result.shingles:
        label = f"newsdedup, {LABELS[one.name]}" if one.name.startswith("minhash") else LABELS[one.name]
        found = (_FINDS, f"{one.found:,}", _share(one.recall))
        rows.append((one.measured_of, label, *found, *_cost(one.usage, one.articles)))
    return rows


def _cost(usage: Usage, articles: int) -> tuple[str, ...]:
    return (seconds(usage.wall), _cpu(usage), seconds(usage.cpu / articles * 10_000), f"{usage.command_memory:,.0f}")


@dataclass(frozen=True, slots=True)
class RivalResult:
    """The whole job of newsdedup or of a rival on one corpus, judged by labelled pairs."""

    articles: int
    labels: int  # pairs whose two articles are in the corpus
    labels_of: int
    name: str
    pairs: int
    taken: dict[str, list[float]]  # by label: pairs taken as duplicates, all pairs, and the weights of both
    usage: Usage

    def share(self, label: str) -> str:
        """Return the share of the pairs with a label that was taken as duplicates, by weight, and the counts."""
        found, of, weight, weight_of = self.taken.get(label, (0, 0, 0, 0))
        return f"{weight / weight_of:.3f} ({found} of {of})" if of else ""


RIVALS: Columns = {
    "articles": lambda row: f"{row.articles:,}",
    "labels": lambda row: f"{row.labels} of {row.labels_of}",
    "tool": lambda row: row.name,
    "pairs": lambda row: f"{row.pairs:,}",
    "recall of D": lambda row: row.share("D"),
    **{f"{label} taken": (lambda row, label=label: row.share(label)) for label in "VTEN"},
    "CPU s (PostgreSQL's)": lambda row: _cpu(row.usage),
    "wall s": lambda row: seconds(row.usage.wall),
    "peak MB (PostgreSQL's)": lambda row: _memory(row.usage),
}


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
    rivals: list[RivalResult] = field(default_factory=list)

    def sheets(self) -> dict[str, list[Sheet]]:
        """Return the tables that have results, by the part of the page to which they belong."""
        over_time, near = (f"Character shingles, Jaccard ≥ 0.75, {words}" for words in ("over all time", _NEAR))
        contests = list(zip(self.thresholds[::2], self.thresholds[1::2], strict=True))
        parts = {
            "whole run": whole_sheets(self.whole),
            "trigram": [sheet("The trigram pass and the plain self-join", WINDOW, self.window, "trigram.svg")],
            "shingles": [
                sheet(over_time, shingle_columns(self.shingles), self.shingles, "shingles.svg"),
                sheet(near, shingle_columns(self.near, near=True), self.near, "near.svg"),
            ],
            "thresholds": [sheet("The exact join and MinHash with LSH, by threshold", THRESHOLDS, contests)],
            "rivals": [sheet("Whole jobs, judged by labelled pairs", RIVALS, self.rivals)],
        }
        filled = {name: [table for table in part if table.rows] for name, part in parts.items()}
        return {name: part for name, part in filled.items() if part}

    def to_json(self) -> str:
        """Return the results as JSON, from which `from_json` reads them again."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Results:
        """Return the results that `to_json` wrote."""
        return _read(cls, json.loads(text))


_NEAR = "at most three days apart"


def _read(kind: type[Row], stored: Mapping[str, Any]) -> Row:
    """Return a dataclass from its fields, of which some are dataclasses or lists of them."""
    values = dict(stored)
    for name, hint in get_type_hints(kind).items():
        of = next((part for part in (hint, *get_args(hint)) if hasattr(part, "__dataclass_fields__")), None)
        if of is not None and name in stored:  # a file may be older than a table
            values[name] = [_read(of, row) for row in stored[name]] if hint is not of else _read(of, stored[name])
    return kind(**values)

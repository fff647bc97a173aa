"""The results as tables on a terminal, in Markdown and JSON, and as pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.benchmarks.measuring import Usage

BEGIN, END = "<!-- results: written by script/benchmark --write-docs -->", "<!-- end of results -->"
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


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one run, and the machine."""

    machine: dict[str, str]
    options: dict[str, Any]
    window: list[WindowResult] = field(default_factory=list)
    shingles: list[ShingleResult] = field(default_factory=list)  # over all time
    near: list[ShingleResult] = field(default_factory=list)  # within the window of days

    def to_json(self) -> str:
        """Return the results as JSON, from which `from_json` reads them again."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Results:
        """Return the results that `to_json` wrote."""
        stored = json.loads(text)
        window = [WindowResult(**each | {"usage": Usage(**each["usage"])}) for each in stored["window"]]
        shingles, near = (
            [ShingleResult(**each | {"usage": Usage(**each["usage"])}) for each in stored[kind]]
            for kind in ("shingles", "near")
        )
        return cls(stored["machine"], stored["options"], window, shingles, near)


WINDOW_HEAD = (
    "articles", "a day", "t", "workers", "pairs in the window", "plain join CPU s", "trigram CPU s (PostgreSQL's)",
    "of which start-up", "wall s", "peak MB (PostgreSQL's)", "pairs found", "agreed in the slice", "ratio",
    "ratio without start-up",
)  # fmt: skip
SHINGLE_HEAD = (
    "articles", "contestant", "pairs", "recall", "recall ±3 days", "wall s", "CPU s (PostgreSQL's)", "core CPU s",
    "of which shingles", "faster than datasketch: whole, core, after shingles", "faster than rensa: likewise",
    "peak MB",
)  # fmt: skip
# Within the window there is no recall over all time, and no datasketch.
NEAR_HEAD = ("characters", *SHINGLE_HEAD[:3], *SHINGLE_HEAD[4:-3], *SHINGLE_HEAD[-2:])


def window_rows(results: Sequence[WindowResult]) -> list[tuple[str, ...]]:
    """Return the cells of the table of the trigram pass and the plain join."""
    return [
        (
            f"{each.articles:,}",
            "own" if each.per_day is None else f"{each.per_day:,}",
            f"{each.threshold:g}",
            each.workers,
            f"{each.pairs:,}",
            f"≈ {_seconds(each.plain_cpu)}",
            f"{_seconds(each.usage.cpu)} ({_seconds(each.usage.server_cpu)})",
            _seconds(each.startup_cpu),
            _seconds(each.usage.wall),
            f"{each.usage.command_memory:,.0f} ({each.usage.server_memory:,.0f})",
            f"{each.found:,}",
            f"{each.slice_agreed} of {each.slice_found}" + (f", {each.slice_extra} more" if each.slice_extra else ""),
            f"{each.ratio:,.0f} ×",
            f"{each.pass_ratio:,.0f} ×",
        )
        for each in results
    ]


def shingle_rows(results: Sequence[ShingleResult]) -> list[tuple[str, ...]]:
    """Return the cells of the table of the contestants over shingles."""
    return [
        (
            f"{each.articles:,}" + (f" of {each.corpus:,}" if each.articles < each.corpus else ""),
            LABELS[each.name],
            f"{each.found:,}",
            _share(each.recall),
            _share(each.recall_in_window),
            _seconds(each.usage.wall),
            f"{_seconds(each.usage.cpu)} ({_seconds(each.usage.server_cpu)})",
            "" if each.core is None else _seconds(each.core * each.articles),
            _seconds(each.shingles_cpu),
            *(_ratios(each, rival, results) for rival in ("datasketch", "rensa")),
            f"{each.usage.command_memory:,.0f}",
        )
        for each in results
    ]


def near_rows(results: Sequence[ShingleResult]) -> list[tuple[str, ...]]:
    """Return the cells of the table of the exact join and rensa within the window of days."""
    rows = zip(results, shingle_rows(results), strict=True)
    return [(f"{each.prefix:,}", *cells[:3], *cells[4:-3], *cells[-2:]) for each, cells in rows]


def _ratios(each: ShingleResult, name: str, results: Sequence[ShingleResult]) -> str:
    """Return the rival's CPU time per article divided by this one's, on the same corpus."""
    on = (each.corpus, each.prefix, name)
    rival = next((other for other in results if (other.corpus, other.prefix, other.name) == on), None)
    if rival is None:
        return ""
    costs = [(rival.cpu, each.cpu), (rival.core, each.core), (rival.after_shingles, each.after_shingles)]
    return ", ".join("–" if theirs is None or not own else f"{theirs / own:.1f}" for theirs, own in costs)


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def print_tables(results: Results, console: Console) -> None:
    """Print the tables that have results."""
    for title, head, rows in _tables(results):
        table = Table(title=title, title_justify="left")
        for name in head:
            table.add_column(name, justify="left" if name == "contestant" else "right", overflow="fold")
        for row in rows:
            table.add_row(*row)
        console.print(table)


def _tables(results: Results) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    tables = [
        ("The trigram pass and the plain self-join", WINDOW_HEAD, window_rows(results.window)),
        ("Character shingles, Jaccard ≥ 0.75, over all time", SHINGLE_HEAD, shingle_rows(results.shingles)),
        ("Character shingles, Jaccard ≥ 0.75, at most three days apart", NEAR_HEAD, near_rows(results.near)),
    ]
    return [table for table in tables if table[2]]


def markdown(results: Results) -> str:
    """Return the results as in docs/benchmarks.md."""
    facts = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    options = ", ".join(f"{name} {value}" for name, value in results.options.items())
    parts = [f"Machine: {facts}.", f"Run: {options}."]
    for (title, head, rows), picture in zip(_tables(results), _pictures(results), strict=True):
        lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
        parts += [f"### {title}", f"![{title}](benchmarks/{picture})", "\n".join(lines)]
    return "\n\n".join(parts)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _pictures(results: Results) -> list[str]:
    names = [(results.window, "trigram.svg"), (results.shingles, "shingles.svg"), (results.near, "near.svg")]
    return [name for rows, name in names if rows]


def between_marks(page: str, content: str) -> str:
    """Return a page with the text between its two marks replaced. Raises ValueError if a mark is missing."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN if not begin else END}; add it where the results belong")
    return f"{before}{BEGIN}\n\n{content}\n\n{END}{after}"


def write_docs(results: Results, page: Path) -> None:
    """Write the tables into the page, and the pictures into the folder of the same name."""
    from tests.benchmarks import pictures  # noqa: PLC0415 - needs packages of the extra `benchmarks`

    page.write_text(between_marks(page.read_text(), markdown(results)))
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    if results.window:
        (folder / "trigram.svg").write_text(pictures.trigram(results.window))
    if results.shingles:
        (folder / "shingles.svg").write_text(pictures.shingles(results.shingles))
    if results.near:
        (folder / "near.svg").write_text(pictures.near(results.near))

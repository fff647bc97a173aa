"""The results as tables on a terminal, in Markdown and JSON, and as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.results import LABELS, Results, Sheet, ShingleResult, ThresholdResult, WindowResult, seconds
from benchmarks.whole_report import whole_sheets

# The marks of a part of the page that is written by this program.
BEGIN, END = "<!-- {}: written by script/benchmark --write-docs -->", "<!-- end of {} -->"
WINDOW_HEAD = (
    "articles", "a day", "t", "workers", "pairs in the window", "plain join CPU s", "trigram CPU s (PostgreSQL's)",
    "of which start-up", "wall s", "peak MB (PostgreSQL's)", "pairs found", "agreed in the slice", "ratio",
    "ratio without start-up",
)  # fmt: skip
SHINGLE_HEAD = (
    "articles", "contestant", "pairs", "recall", "recall ±3 days", "wall s", "CPU s (PostgreSQL's)", "core CPU s",
    "of which shingles", "of which signatures", "faster than datasketch: whole, core, after shingles, signatures",
    "faster than rensa: likewise", "peak MB",
)  # fmt: skip
THRESHOLD_HEAD = (
    "articles", "days apart", "t", "contestant", "candidates", "pairs", "recall", "core CPU s", "without the shingles",
    "peak MB",
)  # fmt: skip
_YEAR = 366
# The columns of words; the others are numbers.
_WORDS = {"contestant", "step", "phase", "page", "tool", "finds", "result"}
# Within the window there is no recall over all time, and no datasketch.
NEAR_HEAD = ("characters", *SHINGLE_HEAD[:3], *SHINGLE_HEAD[4:-3], *SHINGLE_HEAD[-2:])


def window_rows(results: Sequence[WindowResult]) -> list[tuple[str, ...]]:
    """Return the cells of the table of the trigram pass and the plain join."""
    return [
        (
            f"{result.articles:,}",
            "own" if result.per_day is None else f"{result.per_day:,}",
            f"{result.threshold:g}",
            result.workers,
            f"{result.pairs:,}",
            f"≈ {seconds(result.plain_cpu)}",
            f"{seconds(result.usage.cpu)} ({seconds(result.usage.server_cpu)})",
            seconds(result.startup_cpu),
            seconds(result.usage.wall),
            f"{result.usage.command_memory:,.0f} ({result.usage.server_memory:,.0f})",
            f"{result.found:,}",
            f"{result.slice_agreed} of {result.slice_found}"
            + (f", {result.slice_extra} more" if result.slice_extra else ""),
            f"{result.ratio:,.0f} ×",
            f"{result.pass_ratio:,.0f} ×",
        )
        for result in results
    ]


def shingle_rows(results: Sequence[ShingleResult]) -> list[tuple[str, ...]]:
    """Return the cells of the table of the contestants over shingles."""
    return [
        (
            result.measured_of,
            LABELS[result.name],
            f"{result.found:,}",
            _share(result.recall),
            _share(result.recall_in_window),
            seconds(result.usage.wall),
            f"{seconds(result.usage.cpu)} ({seconds(result.usage.server_cpu)})",
            "" if result.core is None else seconds(result.core * result.articles),
            seconds(result.shingles_cpu),
            seconds(result.signatures_cpu),
            *(_ratios(result, rival, results) for rival in ("datasketch", "rensa")),
            f"{result.usage.command_memory:,.0f}",
        )
        for result in results
    ]


def threshold_rows(results: Sequence[ThresholdResult]) -> list[tuple[str, ...]]:
    """Return the cells of the table of the exact join and LSH by threshold."""
    return [
        (
            f"{result.articles:,}",
            f"±{result.days}" if result.days <= _YEAR else "any",
            f"{result.threshold:g}",
            "exact join" if result.rows is None else f"MinHash, bands of {result.rows}",
            f"{result.candidates:,}",
            f"{result.found:,}",
            _share(result.recall),
            seconds(result.core_cpu),
            seconds(result.core_cpu - result.shingles_cpu),
            f"{result.memory:,.0f}",
        )
        for result in results
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
    costs.append((rival.signatures, each.signatures))
    return ", ".join("–" if theirs is None or not own else f"{theirs / own:.1f}" for theirs, own in costs)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def print_tables(results: Results, console: Console) -> None:
    """Print the tables that have results."""
    for sheet in (sheet for part in sheets(results).values() for sheet in part):
        table = Table(title=sheet.title, title_justify="left")
        for name in sheet.head:
            table.add_column(name, justify="left" if name in _WORDS else "right", overflow="fold")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)


def sheets(results: Results) -> dict[str, list[Sheet]]:
    """Return the tables that have results, by the part of the page to which they belong."""
    over_time = "Character shingles, Jaccard ≥ 0.75, over all time"
    near = "Character shingles, Jaccard ≥ 0.75, at most three days apart"
    parts = {
        "whole run": whole_sheets(results.whole),
        "trigram": [
            Sheet("The trigram pass and the plain self-join", WINDOW_HEAD, window_rows(results.window), "trigram.svg"),
        ],
        "shingles": [
            Sheet(over_time, SHINGLE_HEAD, shingle_rows(results.shingles), "shingles.svg"),
            Sheet(near, NEAR_HEAD, near_rows(results.near), "near.svg"),
        ],
    }
    by_threshold = "The exact join and MinHash with LSH, by threshold"
    parts["thresholds"] = [Sheet(by_threshold, THRESHOLD_HEAD, threshold_rows(results.thresholds))]
    filled = {name: [sheet for sheet in part if sheet.rows] for name, part in parts.items()}
    return {name: part for name, part in filled.items() if part}


def markdown(results: Results, part: Sequence[Sheet]) -> str:
    """Return a part of docs/benchmarks.md."""
    facts = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    options = ", ".join(f"{name} {value}" for name, value in results.options.items())
    texts = [f"Machine: {facts}.", f"Run: {options}."]
    for sheet in part:
        lines = [_line(sheet.head), _line(["---"] * len(sheet.head)), *map(_line, sheet.rows)]
        texts.append(f"### {sheet.title}")
        if sheet.picture:
            texts.append(f"![{sheet.title}](benchmarks/{sheet.picture})")
        texts.append("\n".join(lines))
    return "\n\n".join(texts)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def between_marks(page: str, name: str, content: str) -> str:
    """Return a page with the text between the two marks of a part replaced. Raises ValueError if a mark is missing."""
    opening, closing = BEGIN.format(name), END.format(name)
    before, begin, rest = page.partition(opening)
    _, end, after = rest.partition(closing)
    if not begin or not end:
        raise ValueError(f"the page has no {closing if begin else opening}; add it where the tables belong")
    return f"{before}{begin}\n\n{content}\n\n{end}{after}"


def write_docs(results: Results, page: Path) -> None:
    """Write the tables that have results into the page, and the pictures into the folder of the same name."""
    from benchmarks import pictures  # noqa: PLC0415 - needs packages of the extra `benchmarks`

    text = page.read_text()
    for name, part in sheets(results).items():
        text = between_marks(text, name, markdown(results, part))
    page.write_text(text)
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    if results.window:
        (folder / "trigram.svg").write_text(pictures.trigram(results.window))
    if results.shingles:
        (folder / "shingles.svg").write_text(pictures.shingles(results.shingles))
    if results.near:
        (folder / "near.svg").write_text(pictures.near(results.near))

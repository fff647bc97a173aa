"""The tables of whole runs, from the import of a file to the pages."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.measuring import Usage
from benchmarks.results import LABELS, Sheet, WholeResult, seconds

IMPORT, RUN = "import of the file", "find_duplicates"
NOTHING_NEW, IMPORT_NEW, NEW = "find_duplicates --new, nothing new", "import of the new ones", "find_duplicates --new"
# The runs, in the order of the table of phases.
_RUNS = {RUN: "", NOTHING_NEW: ", nothing new", NEW: ", 1,000 new"}

STEP_HEAD = ("articles", "step", "wall s", "CPU s (PostgreSQL's)", "peak MB (PostgreSQL's)", "result")
OTHERS_HEAD = (
    "articles", "tool", "finds", "pairs", "recall", "wall s", "CPU s (PostgreSQL's)", "CPU s for 10,000 articles",
    "peak MB",
)  # fmt: skip


def whole_sheets(results: Sequence[WholeResult]) -> list[Sheet]:
    """Return the tables; those without rows too."""
    sizes = [f"{result.articles:,}" for result in results]
    runs = [f"{size}{said}" for size in sizes for said in _RUNS.values()]
    return [
        Sheet("From the file to the clusters", STEP_HEAD, [row for result in results for row in step_rows(result)]),
        Sheet("Wall seconds of each phase", ("phase", *runs), phase_rows(results)),
        Sheet("Pages: median milliseconds on the server (queries)", ("page", *sizes), page_rows(results)),
        Sheet(
            "Other tools on the same articles", OTHERS_HEAD, [row for result in results for row in other_rows(result)]
        ),
    ]


def step_rows(result: WholeResult) -> list[tuple[str, ...]]:
    """Return the cells of the commands on a corpus."""
    rows = []
    for step in result.steps:
        usage, said = step.usage, ""
        if step.name in (IMPORT, IMPORT_NEW):
            said = f"{step.stored / usage.wall:,.0f} articles/s"
        if step.name == RUN:
            said = f"{result.pairs:,} pairs, {result.clusters:,} clusters"
        memory = f"{usage.command_memory:,.0f} ({usage.server_memory:,.0f})"
        rows.append((f"{result.articles:,}", step.name, seconds(usage.wall), _cpu(usage), memory, said))
    return rows


def phase_rows(results: Sequence[WholeResult]) -> list[tuple[str, ...]]:
    """Return a row of wall seconds for each phase, and one for their sum; each corpus has a column for each run."""
    columns = []
    for result in results:
        by_step = {step.name: step.phases for step in result.steps}
        columns += [by_step.get(name, {}) for name in _RUNS]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [(name, *(f"{column[name]:.1f}" if name in column else "" for column in columns)) for name in names]
    return [*rows, ("All", *(f"{sum(column.values()):.1f}" for column in columns))] if rows else []


def page_rows(results: Sequence[WholeResult]) -> list[tuple[str, ...]]:
    """Return a row for each page; each corpus has a column."""
    columns = [{page.name: f"{page.milliseconds:,.0f} ({page.queries})" for page in result.pages} for result in results]
    names = dict.fromkeys(name for column in columns for name in column)
    return [(name, *(column.get(name, "") for column in columns)) for name in names]


def other_rows(result: WholeResult) -> list[tuple[str, ...]]:
    """Return the cells of the whole run, the plain join, single passes and other tools on a corpus."""
    rows = []
    if run := next((step.usage for step in result.steps if step.name == RUN), None):
        found = ("all of the default profile, verdicts, clusters", f"{result.pairs:,}", "")
        rows.append((f"{result.articles:,}", "newsdedup, the whole run", *found, *_cost(run, result.articles)))
    for each in result.window:
        number = f"{each.articles:,}"
        found = (f"trigrams ≥ {each.threshold:g}, ±3 days", f"{each.found:,}", "")
        rows.append((number, "newsdedup, trigram pass", *found, *_cost(each.usage, each.articles)))
        plain = ("", f"≈ {seconds(each.plain_cpu)}", f"≈ {seconds(each.plain_cpu / each.articles * 10_000)}", "")
        rows.append((number, "plain SQL self-join", *found, *plain))
    for one in result.shingles:
        label = f"newsdedup, {LABELS[one.name]}" if one.name.startswith("minhash") else LABELS[one.name]
        found = (one.finds, f"{one.found:,}", "" if one.recall is None else f"{one.recall:.4f}")
        rows.append((one.measured_of, label, *found, *_cost(one.usage, one.articles)))
    return rows


def _cost(usage: Usage, articles: int) -> tuple[str, ...]:
    return (seconds(usage.wall), _cpu(usage), seconds(usage.cpu / articles * 10_000), f"{usage.command_memory:,.0f}")


def _cpu(usage: Usage) -> str:
    return f"{seconds(usage.cpu)} ({seconds(usage.server_cpu)})"

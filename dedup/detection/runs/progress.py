"""What commands print: a progress bar for people on stderr, results for people and programs on stdout."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from typing import Any, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from articles.management.base import progress_bars
from articles.models import Article
from dedup.detection.passes import PASSES
from dedup.detection.runs import phases
from dedup.detection.runs.audit import AuditedDay
from dedup.detection.runs.blocks import Scores
from dedup.detection.runs.facts import (
    PassCount,
    article_facts,
    by_names,
    dense_facts,
    label,
    pass_counts,
    phase_seconds,
    run_facts,
    run_summary,
    unit,
)
from dedup.models import DetectionRun, Evidence

_PAIRS_AT_ONCE = 1_000


class RateColumn(ProgressColumn):
    """The speed of a pass, in articles or pairs per second."""

    def render(self, task: Task) -> Text:
        """Return the rate over the last half minute, or over the whole pass once it is done."""
        rate = task.finished_speed or task.speed
        return Text("" if rate is None else f"{rate:,.0f}/s")


class RunProgress(phases.Progress):
    """A progress bar for each pass, in articles, and for the full comparison, in pairs."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._pairs: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()
        self._finished: Counter[str] = Counter()
        self._read: Counter[str] = Counter()

    def start(self, step: str, total: int) -> None:
        """Start the bar of a step, or make that of a step that starts again longer."""
        self._totals[step] += total
        if step in self._tasks:
            self._bars.update(self._tasks[step], total=self._totals[step])
            return
        self._tasks[step] = self._bars.add_task(label(step), total=total, unit=unit(step, self._pairs[step]))

    def read(self, step: str, amount: int) -> None:
        """Move a bar forward inside a block; the last 5 % wait for the block's end."""
        self._read[step] += amount
        self._show(step)

    def advance(self, step: str, amount: int, pairs: int) -> None:
        """Move a bar to the end of a block."""
        self._pairs[step] += pairs
        self._finished[step] += amount
        self._show(step)

    def _show(self, step: str) -> None:
        inside = min(self._read[step], 0.95 * self._totals[step])
        completed = max(self._finished[step], inside)
        self._bars.update(self._tasks[step], completed=completed, unit=unit(step, self._pairs[step]))


@contextmanager
def run_progress(*, show: bool) -> Iterator[RunProgress]:
    """Show progress on stderr if it is a terminal and `show` is true."""
    bars = progress_bars(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,} {task.fields[unit]}"),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        shown=show,
    )
    with bars:
        yield RunProgress(bars)


def print_run(
    run: DetectionRun, form: str, stream: Any, *, scores: Scores | None = None, detailed: bool = False
) -> None:
    """Print a finished run: tables, one JSON object, or one JSON line for each pair that it found.

    `scores` are those of a dry run, which is not stored. A detailed table also shows how many candidates each pass had,
    and how many of them it scored exactly.
    """
    if form == "json":
        stream.write(json.dumps(run_summary(run), ensure_ascii=False))
    elif form == "jsonl":
        for line in _pair_lines(_scores_of_run(run) if scores is None else sorted(scores.items())):
            stream.write(json.dumps(line, ensure_ascii=False))
    else:
        title = "Dry run, nothing stored" if scores is not None else f"Run {run.pk}"
        _print_passes(title, pass_counts(run), run.counts["pairs"], stream, detailed=detailed)
        facts = run_facts(run) if scores is None else dense_facts(run)
        if facts:
            _print_table(stream, ["", ""], facts)
        if scores is None:
            phases = phase_seconds(run)
            rows = [(name, f"{seconds:.1f}") for name, seconds in phases]
            last = ("All", f"{sum(seconds for _, seconds in phases):.1f}")
            _print_table(stream, ["Phase", "Seconds"], rows, last, title="Where the time went")


def print_audit(audited: Sequence[AuditedDay], stream: Any) -> None:
    """Print how the pairs of the trigram pass compare with those of the plain join, day by day."""
    headings = ["Day", "Articles", "Plain join", "Pass", "Missed", "Extra", "Score differs", "Left out"]
    rows = []
    for result in audited:
        differences = (len(result.missed), len(result.extra), len(result.scored_differently), len(result.left_out))
        numbers = (result.articles, len(result.plain), len(result.stored), *differences)
        rows.append((str(result.day), *(f"{number:,}" for number in numbers)))
    _print_table(stream, headings, rows, title="The trigram pass compared with the plain SQL join")
    wrong = [pair for result in audited for pair in (*result.missed, *result.extra, *result.scored_differently)]
    if wrong:
        some = ", ".join(f"{left} and {right}" for left, right in wrong[:10])
        stream.write(f"Pairs that differ, at most ten, by their articles: {some}.")
    elif audited:
        stream.write(f"The same pairs with the same scores on {len(audited)} of {len(audited)} days.")
    else:
        stream.write("There are no days with articles to audit.")
    if left_out := sum(len(result.left_out) for result in audited):
        stream.write(f"Left out on purpose: {left_out:,} pairs inside dense groups, which keep only the closest pairs.")


def _print_passes(title: str, passes: Sequence[PassCount], pairs: int, stream: Any, *, detailed: bool = False) -> None:
    headings = ["Pass", *(["Candidates", "Verified"] if detailed else []), "Kept" if detailed else "Pairs", "Seconds"]
    rows = []
    for counted in passes:
        work = (f"{counted.candidates:,}", f"{counted.verified:,}") if detailed else ()
        seconds = "" if counted.seconds is None else f"{counted.seconds:.1f}"
        rows.append((counted.label, *work, f"{counted.pairs:,}", seconds))
    last = ("All, each pair once", *(["", ""] if detailed else []), f"{pairs:,}", "")
    _print_table(stream, headings, rows, last, title=title)


def _print_table(
    stream: TextIO,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    last: Sequence[str] = (),
    title: str | None = None,
) -> None:
    """Print rows with numbers in all columns but the first; `last` is set off from the others."""
    table = Table(title=title, title_justify="left", show_header=any(headings))
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    if last:
        table.add_section()
        table.add_row(*last)
    Console(file=stream, width=None if stream.isatty() else 100).print(table)


def _scores_of_run(run: DetectionRun) -> Iterator[tuple[tuple[int, int], dict[str, float]]]:
    rows = Evidence.objects.found_by(run).order_by("pair__left", "pair__right", "pass_name")
    found = rows.values_list("pair__left", "pair__right", "pass_name", "score").iterator()
    for ends, of_pair in groupby(found, key=lambda row: row[:2]):
        yield ends, {name: score for *_, name, score in of_pair}


def _pair_lines(pairs: Iterable[tuple[tuple[int, int], dict[str, float]]]) -> Iterator[dict[str, Any]]:
    """Yield a line for each pair; the articles are looked up for _PAIRS_AT_ONCE pairs at a time."""
    rest = iter(pairs)
    while block := list(islice(rest, _PAIRS_AT_ONCE)):
        wanted = {article for ends, _ in block for article in ends}
        articles = Article.objects.without_texts().select_related("newspaper").in_bulk(wanted)
        for (left, right), scores in block:
            yield {
                "left": {"id": left, **article_facts(articles[left])},
                "right": {"id": right, **article_facts(articles[right])},
                "scores": by_names(scores, PASSES),
            }

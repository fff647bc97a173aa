"""What commands print: a progress bar for people on stderr, results for people and programs on stdout."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from articles.models import Article
from dedup.models import DetectionRun, Evidence
from dedup.reports import PassCount, label, pass_counts, run_facts
from dedup.types import Candidate

_PAIRS_AT_ONCE = 1_000


class RunProgress:
    """A bar for each pass, by articles."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._pairs: Counter[str] = Counter()

    def start(self, pass_name: str, articles: int) -> None:
        """Begin the bar of a pass."""
        self._tasks[pass_name] = self._bars.add_task(label(pass_name), total=articles, pairs=0)

    def advance(self, pass_name: str, articles: int, pairs: int) -> None:
        """Move the bar of a pass on."""
        self._pairs[pass_name] += pairs
        self._bars.update(self._tasks[pass_name], advance=articles, pairs=self._pairs[pass_name])

    def stop(self) -> None:
        """Take the bars off the terminal, before results are printed."""
        self._bars.stop()


@contextmanager
def progress(*, show: bool) -> Iterator[RunProgress]:
    """Show progress on stderr while it is a terminal and `show` is true."""
    console = Console(stderr=True)
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,}/{task.total:,} articles, {task.fields[pairs]:,} pairs"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not (show and console.is_terminal),
    )
    with bars:
        yield RunProgress(bars)


def print_run(run: DetectionRun, form: str, stream: Any) -> None:
    """Print a finished run: a table, one JSON object, or one JSON line for each pair that it found."""
    counts = {name: value for name, value in run.counts.items() if name != "fingerprint"}
    if form == "json":
        summary = {"run": run.pk, "state": run.state, "scope": run.scope, **counts, "config": run.config}
        stream.write(json.dumps(summary, ensure_ascii=False))
    elif form == "jsonl":
        for line in _pair_lines(_scores_of_run(run)):
            stream.write(json.dumps(line, ensure_ascii=False))
    else:
        _print_passes(f"Run {run.pk}", pass_counts(run), counts["pairs"], stream)
        _print_facts(run_facts(run), stream)


def print_candidates(candidates: Sequence[Candidate], passes: Sequence[str], form: str, stream: Any) -> None:
    """Print what a dry run found, in the same three forms."""
    scores: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for each in candidates:
        scores[each.left, each.right][each.pass_name] = each.score
    counts = Counter(each.pass_name for each in candidates)
    if form == "json":
        by_pass = {name: {"pairs": counts[name]} for name in passes}
        stream.write(json.dumps({"run": None, "state": "dry run", "passes": by_pass, "pairs": len(scores)}))
    elif form == "jsonl":
        for line in _pair_lines(sorted(scores.items())):
            stream.write(json.dumps(line, ensure_ascii=False))
    else:
        found = [PassCount(label(name), counts[name], None) for name in passes]
        _print_passes("Dry run, nothing stored", found, len(scores), stream)


def _print_passes(title: str, passes: Sequence[PassCount], pairs: int, stream: Any) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("Pass")
    table.add_column("Pairs", justify="right")
    table.add_column("Seconds", justify="right")
    for counted in passes:
        table.add_row(counted.label, f"{counted.pairs:,}", "" if counted.seconds is None else f"{counted.seconds:.1f}")
    table.add_section()
    table.add_row("All, each pair once", f"{pairs:,}", "")
    _print(table, stream)


def _print_facts(facts: Sequence[tuple[str, str]], stream: Any) -> None:
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for row in facts:
        table.add_row(*row)
    _print(table, stream)


def _print(table: Table, stream: TextIO) -> None:
    console = Console(file=stream, width=None if stream.isatty() else 100)
    console.print(table)


def _scores_of_run(run: DetectionRun) -> Iterator[tuple[tuple[int, int], dict[str, float]]]:
    rows = Evidence.objects.filter(run=run).order_by("pair__left", "pair__right", "pass_name")
    current: tuple[int, int] | None = None
    scores: dict[str, float] = {}
    for left, right, name, score in rows.values_list("pair__left", "pair__right", "pass_name", "score").iterator():
        if (left, right) != current:
            if current is not None:
                yield current, scores
            current, scores = (left, right), {}
        scores[name] = score
    if current is not None:
        yield current, scores


def _pair_lines(pairs: Any) -> Iterator[dict[str, Any]]:
    """Yield a line for each pair; the articles are looked up some hundred pairs at a time."""
    block: list[tuple[tuple[int, int], dict[str, float]]] = []
    for each in pairs:
        block.append(each)
        if len(block) == _PAIRS_AT_ONCE:
            yield from _lines_of(block)
            block = []
    yield from _lines_of(block)


def _lines_of(block: list[tuple[tuple[int, int], dict[str, float]]]) -> Iterator[dict[str, Any]]:
    wanted = {article for pair, _ in block for article in pair}
    articles = Article.objects.without_texts().select_related("newspaper").in_bulk(wanted)
    for (left, right), scores in block:
        yield {"left": _described(articles[left]), "right": _described(articles[right]), "scores": scores}


def _described(article: Article) -> dict[str, Any]:
    return {
        "id": article.pk,
        "external_id": article.external_id,
        "newspaper": article.newspaper.name,
        "date": article.date.isoformat(),
        "headline": article.headline,
        "url": article.url,
    }

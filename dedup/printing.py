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
from dedup.passes import PASSES
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
        label = PASSES[pass_name].label
        self._tasks[pass_name] = self._bars.add_task(label, total=articles, pairs=0)

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
        passes = {name: counts["passes"].get(name) for name, config in run.config.items() if config["enabled"]}
        _print_passes(f"Run {run.pk}", passes, counts["pairs"], stream)
        _print_facts(counts, stream)


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
        _print_passes(
            "Dry run, nothing stored", {name: {"pairs": counts[name]} for name in passes}, len(scores), stream
        )


def _print_passes(title: str, passes: dict[str, dict[str, Any] | None], pairs: int, stream: Any) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("Pass")
    table.add_column("Pairs", justify="right")
    table.add_column("Seconds", justify="right")
    for name, counted in passes.items():
        seconds = f"{counted['seconds']:.1f}" if counted and "seconds" in counted else ""
        table.add_row(PASSES[name].label, f"{counted['pairs']:,}" if counted else "0", seconds)
    table.add_section()
    table.add_row("All, each pair once", f"{pairs:,}", "")
    _print(table, stream)


def _print_facts(counts: dict[str, Any], stream: Any) -> None:
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("Articles compared", f"{counts['articles']:,}")
    table.add_row("Clusters", f"{counts['clusters']:,}")
    table.add_row("Articles in clusters", f"{counts['clustered_articles']:,}")
    table.add_row("Articles that are duplicates", f"{counts['duplicate_articles']:,}")
    table.add_row("Share of all articles", f"{counts['duplicate_share']:.1%}")
    if counts["stale"]:
        table.add_row("Evidence no longer found", f"{counts['stale']:,}")
    if counts["contradictions"]:
        table.add_row("Decisions that contradict each other", f"{counts['contradictions']:,}")
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

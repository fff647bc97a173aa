"""`manage.py evaluate_extraction FOLDER...`: measures the extraction on pages whose article is known."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, cast

from django.core.management.base import CommandParser
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from articles.management.base import LongCommand
from articles.management.page_sets import (
    FACTS,
    Extractor,
    Found,
    KnownPage,
    best_scores,
    figures,
    newsdedup,
    read_pages,
    rivals,
)

SHOWN_NAME = 12
WIDTH = 130  # of the tables, whatever the width of the terminal
FIGURES = ("f1", "precision", "recall", "accuracy")
COUNTS = ("lost half", "silently", *FACTS)
EXPLANATION = (
    "ms: CPU time per page; ±: 95% confidence interval (bootstrap over the pages); lost half: pages that lost\n"
    "more than half of their text; silently: those of them that were not refused, and have no doubt;\n"
    "headline, day, authors: pages on which they are right; –: the program does not look for it."
)


class Command(LongCommand):
    help = (
        "Measures how well articles are extracted. Extracts the pages in FOLDER/html/ID.html.gz and compares them with "
        'FOLDER/ground-truth.json, {"ID": {"articleBody": TEXT, "url": URL}}; articleBodyWithSummary (the better text '
        "counts), headline, date and authors may be added. Reports mean precision and recall over sequences of four "
        "words, and their F1, as the article extraction benchmark of Scrapinghub does; pages that lost more than half "
        "of their text, and those of them without a doubt about the text; and how many facts are right."
    )

    resuming = "No score was computed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folders", type=Path, nargs="+", metavar="FOLDER", help="folder with ground-truth.json and html/"
        )
        parser.add_argument(
            "--format", choices=["text", "json"], default="text", help="output format (default: %(default)s)"
        )
        parser.add_argument("--worst", type=int, default=0, metavar="N", help="list the N pages with the lowest F1")
        parser.add_argument(
            "--rivals",
            action="store_true",
            help="also measure trafilatura, readability-lxml, newspaper4k, resiliparse and jusText "
            "(installed by newsdedup[benchmarks])",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        extractors: dict[str, Extractor] = {"newsdedup": newsdedup}
        if options["rivals"]:
            extractors |= rivals()
        sets = {folder: read_pages(folder) for folder in options["folders"]}
        reports = []
        with self.progress(options) as progress:
            for folder, pages in sets.items():
                tracked = {name: progress.track(pages, description=f"{folder.name}: {name}") for name in extractors}
                found = {name: _measure(pages, extractors[name], tracked[name]) for name in extractors}
                reports.append(_report(folder, pages, found, options["worst"]))
        if options["format"] == "json":
            self.stdout.write(json.dumps({"folders": reports}, indent=2))
        else:
            for report in reports:
                self._print(report)
            self.stdout.write(EXPLANATION)

    def _print(self, report: Mapping[str, Any]) -> None:
        console = Console(file=cast("TextIO", self.stdout), width=WIDTH)
        known = ", ".join(f"{fact} {number:,}" for fact, number in report["known"].items() if number)
        self.stdout.write(f"{report['folder']}: {report['pages']:,} pages{f' (known: {known})' if known else ''}")
        console.print(_score_table(report))
        if listed := report.get("worst"):
            heads = (Column(name, no_wrap=True) for name in ("f1", "precision", "recall", "page"))
            table = Table(*heads, Column("url", overflow="fold"), box=SIMPLE_HEAD, pad_edge=False)
            for row in listed:
                shown = (f"{row[figure]:.3f}" for figure in ("f1", "precision", "recall"))
                table.add_row(*shown, row["page"][:SHOWN_NAME], row["url"])
            console.print(table)


def _measure(
    pages: Sequence[KnownPage], extractor: Extractor, tracked: Iterable[KnownPage]
) -> tuple[list[Found], float]:
    """Return what the extractor found, and the mean CPU time of a page in milliseconds.

    `tracked` is the same pages with a progress bar.
    """
    _found(extractor, pages[0])  # so that one-time loading is not measured
    started = time.thread_time()  # another thread draws the progress bar
    found = [_found(extractor, page) for page in tracked]
    return found, 1000 * (time.thread_time() - started) / len(pages)


def _found(extractor: Extractor, page: KnownPage) -> Found:
    try:
        return extractor(page)
    except Exception:  # noqa: BLE001 - each program has errors of its own; on such a page it finds nothing
        return Found()


def _report(
    folder: Path, pages: Sequence[KnownPage], found: Mapping[str, tuple[list[Found], float]], worst: int
) -> dict[str, Any]:
    """Return the report of a folder; with `worst`, also so many pages with the lowest F1."""
    scores = {name: best_scores(pages, what) for name, (what, _) in found.items()}
    report = {
        "folder": str(folder),
        "pages": len(pages),
        "known": {fact: sum(getattr(page, fact) is not None for page in pages) for fact in FACTS},
        "programs": [
            {"name": name, **figures(pages, what, scores[name]), "milliseconds_a_page": milliseconds}
            for name, (what, milliseconds) in found.items()
        ],
    }
    scored = sorted(zip(pages, scores["newsdedup"], strict=True), key=lambda page_and_score: page_and_score[1].f1)
    listed = [
        {"page": page.name, "url": page.url, "f1": score.f1, "precision": score.precision, "recall": score.recall}
        for page, score in scored[: max(0, worst)]
    ]
    return report | ({"worst": listed} if worst else {})


def _score_table(report: Mapping[str, Any]) -> Table:
    heads = (Column(name, justify="right", no_wrap=True) for name in (*FIGURES, *COUNTS, "ms"))
    table = Table(Column("", no_wrap=True), *heads, box=SIMPLE_HEAD, pad_edge=False)
    for program in report["programs"]:
        scores = (f"{program[name]:.3f} ±{program[f'{name}_margin']:.3f}" for name in FIGURES)
        facts = (program[fact] if report["known"][fact] else None for fact in FACTS)
        numbers = (program["lost_half"], program["lost_half_without_doubt"], *facts)
        counts = ("–" if number is None else f"{number:,}" for number in numbers)
        table.add_row(program["name"], *scores, *counts, f"{program['milliseconds_a_page']:.1f}")
    return table

"""`manage.py evaluate_extraction FOLDER...`: measures the extraction on pages whose article is known."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
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
    Result,
    known_facts,
    newsdedup,
    read_pages,
    rivals,
)

SHOWN_NAME = 12
WIDTH = 130  # of the tables, whatever the width of the terminal
FIGURES = ("f1", "precision", "recall", "accuracy")
COUNTS = ("lost half", "silently", *FACTS)


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
                results = {
                    name: _measure(pages, extractor, progress.track(pages, description=f"{folder.name}: {name}"))
                    for name, extractor in extractors.items()
                }
                reports.append((folder, results))
        if options["format"] == "json":
            listed = [_as_json(folder, results, options["worst"]) for folder, results in reports]
            self.stdout.write(json.dumps({"folders": listed}, indent=2))
        else:
            for folder, results in reports:
                self._print(folder, results, options["worst"])
            self._explain()

    def _print(self, folder: Path, results: Mapping[str, Result], worst: int) -> None:
        console = Console(file=cast("TextIO", self.stdout), width=WIDTH)
        pages = results["newsdedup"].pages
        known = ", ".join(f"{fact} {known_facts(pages, fact):,}" for fact in FACTS if known_facts(pages, fact))
        self.stdout.write(f"{folder}: {len(pages):,} pages{f' (known: {known})' if known else ''}")
        console.print(_score_table(results))
        if listed := _worst(results["newsdedup"], worst):
            heads = (Column(name, no_wrap=True) for name in ("f1", "precision", "recall", "page"))
            table = Table(*heads, Column("url", overflow="fold"), box=SIMPLE_HEAD, pad_edge=False)
            for row in listed:
                figures = (f"{row[figure]:.3f}" for figure in ("f1", "precision", "recall"))
                table.add_row(*figures, row["page"][:SHOWN_NAME], row["url"])
            console.print(table)

    def _explain(self) -> None:
        self.stdout.write(
            "ms: CPU time per page; ±: 95% confidence interval (bootstrap over the pages); lost half: pages that lost\n"
            "more than half of their text; silently: those of them that were not refused, and have no doubt;\n"
            "headline, day, authors: pages on which they are right; –: the program does not look for it."
        )


def _measure(pages: Sequence[KnownPage], extractor: Extractor, tracked: Iterable[KnownPage]) -> Result:
    """Return what the extractor found; `tracked` is the same pages with a progress bar."""
    _found(extractor, pages[0])  # so that one-time loading is not measured
    started = time.thread_time()  # another thread draws the progress bar
    found = [_found(extractor, page) for page in tracked]
    return Result(pages, found, 1000 * (time.thread_time() - started) / len(pages))


def _found(extractor: Extractor, page: KnownPage) -> Found:
    try:
        return extractor(page)
    except Exception:  # noqa: BLE001 - each program has errors of its own; on such a page it finds nothing
        return Found()


def _worst(result: Result, number: int) -> list[dict[str, Any]]:
    """Return the pages with the lowest F1, so many, with their scores."""
    scored = sorted(zip(result.pages, result.scores, strict=True), key=lambda page_and_score: page_and_score[1].f1)
    return [
        {"page": page.name, "url": page.url, "f1": score.f1, "precision": score.precision, "recall": score.recall}
        for page, score in scored[: max(0, number)]
    ]


def _score_table(results: Mapping[str, Result]) -> Table:
    heads = (Column(name, justify="right", no_wrap=True) for name in (*FIGURES, *COUNTS, "ms"))
    table = Table(Column("", no_wrap=True), *heads, box=SIMPLE_HEAD, pad_edge=False)
    for name, result in results.items():
        score, margin = asdict(result.score), asdict(result.margins)
        figures = (f"{score[figure]:.3f} ±{margin[figure]:.3f}" for figure in FIGURES)
        facts = (result.right(fact) if known_facts(result.pages, fact) else None for fact in FACTS)
        counts = ("–" if count is None else f"{count:,}" for count in (result.lost, result.lost_silently, *facts))
        table.add_row(name, *figures, *counts, f"{result.milliseconds:.1f}")
    return table


def _as_json(folder: Path, results: Mapping[str, Result], worst: int) -> dict[str, object]:
    ours = results["newsdedup"]
    known = {fact: known_facts(ours.pages, fact) for fact in FACTS}
    programs = [{"name": name} | result.as_json() for name, result in results.items()]
    report = {"folder": str(folder), "pages": len(ours.pages), "known": known, "programs": programs}
    return report | ({"worst": _worst(ours, worst)} if worst else {})

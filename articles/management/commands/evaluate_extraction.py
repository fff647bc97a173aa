"""`manage.py evaluate_extraction FOLDER`: measures the extraction on pages whose text is known."""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO, cast

from django.core.management.base import CommandError, CommandParser
from readability import Document
from readability.readability import Unparseable
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from articles.extraction.extract import ExtractionError, decode_page, extract_article
from articles.extraction.html import join_paragraphs, paragraphs, parse_markup
from articles.extraction.scoring import ExtractionScore, PageScore, margins, score_page, score_pages
from articles.management.base import LongCommand

GROUND_TRUTH = "ground-truth.json"
SHOWN_NAME = 12
WIDTH = 110  # of the tables, whatever the width of the terminal
FIGURES = ("f1", "precision", "recall", "accuracy")


@dataclass(frozen=True, slots=True)
class _Page:
    """A page and the reference text of its article."""

    name: str
    url: str
    body: bytes
    text: str


@dataclass(frozen=True, slots=True)
class _Result:
    """The scores of the pages, in their order, and the mean time of an extraction."""

    pages: Sequence[PageScore]
    milliseconds: float

    @property
    def score(self) -> ExtractionScore:
        return score_pages(self.pages)


class Command(LongCommand):
    help = (
        "Measures how well articles are extracted. Extracts the pages in FOLDER/html/ID.html.gz and compares their "
        'texts with FOLDER/ground-truth.json, {"ID": {"articleBody": TEXT, "url": URL}}. Reports mean precision and '
        "recall over sequences of four words, and their F1, as the article extraction benchmark of Scrapinghub does."
    )

    resuming = "No score was computed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder with ground-truth.json and html/")
        parser.add_argument(
            "--format", choices=["text", "json"], default="text", help="output format (default: %(default)s)"
        )
        parser.add_argument("--worst", type=int, default=0, metavar="N", help="list the N pages with the lowest F1")
        parser.add_argument(
            "--baseline", action="store_true", help="also measure readability-lxml alone, for comparison"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        pages = _read_pages(options["folder"])
        extractors: dict[str, Callable[[_Page], str]] = {"newsdedup": _extracted_text}
        if options["baseline"]:
            extractors["readability-lxml"] = _readability_text
        with self.progress(options) as progress:
            results = {
                name: _measure(pages, extractor, progress.track(pages, description=name))
                for name, extractor in extractors.items()
            }
        worst = _worst(pages, results["newsdedup"], options["worst"])
        if options["format"] == "json":
            self.stdout.write(json.dumps(_as_json(results, worst), indent=2))
        else:
            self._print(results, worst)

    def _print(self, results: Mapping[str, _Result], worst: Sequence[tuple[_Page, PageScore]]) -> None:
        console = Console(file=cast("TextIO", self.stdout), width=WIDTH)
        console.print(_score_table(results))
        if worst:
            heads = (Column(each, no_wrap=True) for each in ("f1", "precision", "recall", "page"))
            table = Table(*heads, Column("url", overflow="fold"), box=SIMPLE_HEAD, pad_edge=False)
            for page, score in worst:
                figures = (f"{figure:.3f}" for figure in (score.f1, score.precision, score.recall))
                table.add_row(*figures, page.name[:SHOWN_NAME], page.url)
            console.print(table)
        pages = len(results["newsdedup"].pages)
        meaning = "ms: CPU time per page; ±: 95% confidence interval (bootstrap over the pages)"
        self.stdout.write(f"{pages:,} pages; {meaning}.")


def _read_pages(folder: Path) -> list[_Page]:
    """Return the pages of the folder. Raises CommandError, which names the missing or damaged file."""
    path = folder / GROUND_TRUTH
    try:
        known = json.loads(path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}. Give the folder that contains it.") from error
    except ValueError as error:
        raise CommandError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(known, dict) or not known:
        raise CommandError(f'{path} lists no pages; it must be an object {{"ID": {{"articleBody": TEXT}}}}.')
    return [_read_page(folder, name, entry) for name, entry in known.items()]


def _read_page(folder: Path, name: str, entry: object) -> _Page:
    text = entry.get("articleBody") if isinstance(entry, dict) else None
    if not isinstance(text, str):
        raise CommandError(f"{folder / GROUND_TRUTH} has no articleBody for {name}; add one or remove the entry.")
    url = entry.get("url") if isinstance(entry, dict) else None
    path = folder / "html" / f"{name}.html.gz"
    try:
        body = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CommandError(
            f"{path} cannot be read: {reason}. Every page in {GROUND_TRUTH} must have its file."
        ) from error
    return _Page(name, url if isinstance(url, str) else "", body, text)


def _measure(pages: Sequence[_Page], extractor: Callable[[_Page], str], tracked: Iterable[_Page]) -> _Result:
    """Return the scores of the pages; `tracked` is the same pages with a progress bar."""
    extractor(pages[0])  # so that one-time loading is not measured
    started = time.thread_time()  # another thread draws the progress bar
    texts = [extractor(page) for page in tracked]
    seconds = time.thread_time() - started
    scores = [score_page(page.text, text) for page, text in zip(pages, texts, strict=True)]
    return _Result(scores, 1000 * seconds / len(pages))


def _extracted_text(page: _Page) -> str:
    try:
        return extract_article(page.body, page.url).text
    except ExtractionError:
        return ""


def _readability_text(page: _Page) -> str:
    try:
        summary = Document(decode_page(page.body)).summary(html_partial=True)
    except Unparseable:
        return ""
    return join_paragraphs(paragraphs(parse_markup(summary))) if summary.strip() else ""


def _worst(pages: Sequence[_Page], result: _Result, number: int) -> list[tuple[_Page, PageScore]]:
    return sorted(zip(pages, result.pages, strict=True), key=lambda each: each[1].f1)[: max(0, number)]


def _score_table(results: Mapping[str, _Result]) -> Table:
    heads = (Column(each, justify="right", no_wrap=True) for each in (*FIGURES, "ms"))
    table = Table(Column("", no_wrap=True), *heads, box=SIMPLE_HEAD, pad_edge=False)
    for name, result in results.items():
        score, margin = asdict(result.score), asdict(_margins(result))
        figures = (f"{score[each]:.3f} ±{margin[each]:.3f}" for each in FIGURES)
        table.add_row(name, *figures, f"{result.milliseconds:.1f}")
    return table


def _as_json(results: Mapping[str, _Result], worst: Sequence[tuple[_Page, PageScore]]) -> dict[str, object]:
    """Return our figures at the top level and those of the baselines in a list."""
    ours, *others = ({"name": name} | _figures(result) for name, result in results.items())
    listed = [
        {"page": page.name, "url": page.url, "f1": score.f1, "precision": score.precision, "recall": score.recall}
        for page, score in worst
    ]
    del ours["name"]
    return ours | ({"baselines": others} if others else {}) | ({"worst": listed} if worst else {})


def _figures(result: _Result) -> dict[str, object]:
    margin = {f"{name}_margin": value for name, value in asdict(_margins(result)).items()}
    return asdict(result.score) | margin | {"pages": len(result.pages), "milliseconds_a_page": result.milliseconds}


def _margins(result: _Result) -> ExtractionScore:
    return margins(result.pages)

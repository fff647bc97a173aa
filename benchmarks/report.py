"""The results as tables on a terminal and in Markdown, with the pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import pictures
from benchmarks.results import Results, Sheet

# The marks of a part of the page that is written by this program.
BEGIN, END = "<!-- {}: written by script/benchmark --write-docs -->", "<!-- end of {} -->"
# The columns of words; the others are numbers.
_WORDS = {"contestant", "step", "phase", "page", "tool", "finds", "result"}


def show(sheets: Sequence[Sheet], console: Console) -> None:
    """Print tables."""
    for sheet in sheets:
        table = Table(title=sheet.title, title_justify="left")
        for name in sheet.head:
            table.add_column(name, justify="left" if name in _WORDS else "right", overflow="fold")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)


def markdown(results: Results, part: Sequence[Sheet]) -> str:
    """Return a part of docs/benchmarks.md."""
    facts, options = (
        ", ".join(f"{name} {value}" for name, value in named.items()) for named in (results.machine, results.options)
    )
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
    text = page.read_text()
    for name, part in results.sheets().items():
        text = between_marks(text, name, markdown(results, part))
    page.write_text(text)
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, draw in pictures.PICTURES.items():
        if rows := getattr(results, name):
            (folder / f"{'trigram' if name == 'window' else name}.svg").write_text(draw(rows))

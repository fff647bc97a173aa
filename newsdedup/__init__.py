"""Each article once: what a program needs of newsdedup, in one function.

All else in these packages may change with any release.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CleanError", "Cleaned", "clean"]
# The column by which a row is found again, in the corpus and in the list of what was removed.
_ROW = "external_id"


class CleanError(RuntimeError):
    """The articles could not be cleaned; the message says why, and what to change."""


@dataclass(frozen=True)
class Cleaned:
    """What came of the articles.

    `kept`: those without the copies, as they were given: a frame of the same kind, or a list. `removed`: for each copy
    its `row`, counted from 0, the row that it is a copy of (`copy_of`, None if no row stays of these) and the `reason`.
    `counts`: what was read, kept and removed, and how many errors the model expects. `report`: an HTML page.
    """

    kept: Any
    removed: list[dict[str, Any]]
    counts: dict[str, Any]
    report: str


def clean(articles: Any, *, columns: Mapping[str, str] | None = None, policy: str = "one-per-cluster") -> Cleaned:
    """Return the articles of a pandas or polars frame, or of an iterable of dictionaries, without their copies.

    They need a headline or title, a text, a day and if possible a URL and a newspaper; `columns` names those with
    unusual names, as {"headline": "Titel"}. Of rows with one URL, the first counts. `policy` is that of `newsdedup
    clean`, which does the work in a process and a database of its own. Raises CleanError.
    """
    rows = list(_rows(articles))
    with tempfile.TemporaryDirectory() as folder:
        given, wanted = Path(folder) / "articles.jsonl", Path(folder) / "clean.jsonl"
        with given.open("w", encoding="utf-8") as file:
            for number, row in enumerate(rows):
                file.write(json.dumps({**row, _ROW: str(number)}, default=str) + "\n")
        options = ["--policy", policy, "--json", "--no-progress"]
        options += ["--columns", ",".join(f"{name}={column}" for name, column in columns.items())] if columns else []
        command = [sys.executable, "-m", "newsdedup", "clean", str(given), "--output", str(wanted), *options]
        # From a checkout, whatever the folder of the caller.
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
        if done.returncode:
            raise CleanError(done.stderr.strip() or f"newsdedup ended with {done.returncode}")
        stay = sorted(int(row[_ROW]) for row in _lines(wanted))
        removed = [
            {"row": int(row[_ROW]), "copy_of": _number(row[f"represented_by_{_ROW}"]), "reason": row["reason"]}
            for row in _lines(wanted.with_name("clean.removed.jsonl"))
        ]
        report = wanted.with_name("clean.html").read_text(encoding="utf-8")
    return Cleaned(_chosen(articles, rows, stay), removed, json.loads(done.stdout), report)


def _rows(articles: Any) -> Iterable[dict[str, Any]]:
    """Return the rows of any of the kinds; what is missing in a frame of pandas is None."""
    if hasattr(articles, "iter_rows"):  # polars
        return articles.iter_rows(named=True)
    rows = articles.to_dict("records") if hasattr(articles, "iloc") else map(dict, articles)
    return ({str(name): None if value != value else value for name, value in row.items()} for row in rows)  # noqa: PLR0124 - NaN and NaT


def _chosen(articles: Any, rows: list[dict[str, Any]], numbers: list[int]) -> Any:
    if hasattr(articles, "iloc"):
        return articles.iloc[numbers]
    return articles[numbers] if hasattr(articles, "iter_rows") else [rows[number] for number in numbers]


def _number(written: str | None) -> int | None:
    return int(written) if written else None


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)

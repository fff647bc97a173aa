"""Prints how well verdicts and passes agree with labelled pairs: tables, and a list of errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

from dedup.evaluation.measure import MEASURES, NEAR_DAYS
from dedup.runs.facts import label as label_of_pass

_WIDTH = 120


def print_report(result: dict[str, Any], stream: TextIO) -> None:
    """Print a report as tables and a list of errors."""
    labels = result["labels"]
    shown = ", ".join(f"{count} {label}" for label, count in labels["by_label"].items())
    stream.write(f"{labels['evaluated']:,} labelled pairs: {shown}. V pairs are left out. {result['about']}\n")
    console = Console(file=stream, width=None if stream.isatty() else _WIDTH)
    crossed = result["cross_validated"] or {}
    within = result["within_3_days"]
    console.print(_table(f"At most {NEAR_DAYS} days apart", within, crossed.get("within_3_days")))
    console.print(_table("All labelled pairs", result, crossed.get("verdict")))
    if result["strata"]:
        console.print(_strata(result["strata"]))
    if reason := crossed.get("reason"):
        stream.write(f"No cross-validation: {reason}.\n")
    _print_errors(result["errors"], stream)


def _table(title: str, scores: dict[str, Any], crossed: dict[str, Any] | None) -> Table:
    table = Table(title=f"{title} (95% intervals)", title_justify="left")
    table.add_column("Called duplicate by")
    for _, heading in MEASURES:
        table.add_column(heading, justify="right")
    table.add_row("the verdict", *_cells(scores["verdict"]))
    if crossed:
        table.add_row("the verdict, learnt from other dates", *_cells(crossed))
    table.add_section()
    for name, each in scores["passes"].items():
        table.add_row(label_of_pass(name), *_cells(each))
    return table


def _strata(strata: dict[str, Any]) -> Table:
    table = Table(title="The verdict, by stratum", title_justify="left")
    table.add_column("Stratum")
    for heading in ("Pairs", "Duplicates", *(heading for _, heading in MEASURES)):
        table.add_column(heading, justify="right")
    for name, each in strata.items():
        shares = ("–" if each[measure] is None else f"{each[measure]:.3f}" for measure, _ in MEASURES)
        table.add_row(name, str(each["pairs"]), str(each["duplicates"]), *shares)
    return table


def _cells(scores: dict[str, Any]) -> list[str]:
    return [_cell(scores[name], scores[f"{name}_interval"]) for name, _ in MEASURES]


def _cell(value: float | None, interval: Sequence[float] | None) -> str:
    return "–" if value is None or interval is None else f"{value:.3f} ({interval[0]:.2f}–{interval[1]:.2f})"


def _print_errors(errors: Sequence[dict[str, Any]], stream: TextIO) -> None:
    false = sum(each["kind"] == "false duplicate" for each in errors)
    stream.write(f"{false} false and {len(errors) - false} missed duplicates, largest weight first:\n")
    for each in errors:
        lead = f"{each['kind']} (line {each['line']}, label {each['label']}, weight {each['weight']:g})"
        verdict = (
            f"{each['verdict']} {each['probability']:.2f}, duplicate {each['duplicate_probability']:.2f}; "
            f"found by {', '.join(each['passes'])}"
            if each["verdict"]
            else "no pass proposed it"
        )
        stream.write(f"\n{lead}: {verdict}\n")
        for article in each["articles"]:
            headline = article["headline"] or "(no title)"
            stream.write(f"  {article['date']}  {article['newspaper']}: {headline}\n")

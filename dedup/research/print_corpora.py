"""Prints what `evaluate --corpus` measures: each corpus, and the cross-corpus table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from rich.table import Table

from dedup.research.answers import NEAR_DAYS
from dedup.research.cross import FittedOn
from dedup.research.print import cell, console_on, print_answers

_COLUMNS = ("Precision", "Recall", "F1", "F1, V as not dup.", "T called dup.", "ECE")


def print_corpora(result: dict[str, Any], stream: TextIO) -> None:
    """Print the cross-corpus table, then what the model in use does with each corpus."""
    console = console_on(stream)
    for name, each in result["corpora"].items():
        shown = ", ".join(f"{count} {label}" for label, count in each["labels"]["by_label"].items())
        stream.write(f"{name}: {each['labels']['evaluated']:,} labelled pairs: {shown}. {each['about']}\n")
    console.print(_cross_table("All labelled pairs", "all", result["cross_corpus"]))
    console.print(_cross_table(f"At most {NEAR_DAYS} days apart", "within_3_days", result["cross_corpus"]))
    for name, models in result["cross_corpus"].items():
        unfitted = [model for model in models if model["reason"]]
        stream.writelines(f"{name}, {_fitted_on(each)}: not fitted: {each['reason']}.\n" for each in unfitted)
    if result["learning_curve"] is not None:
        console.print(_learning_curve(result["learning_curve"]))
    for name, each in result["corpora"].items():
        stream.write(f"\n{name}, by the model in use, all labelled pairs:\n")
        print_answers(each, console)


def _cross_table(title: str, key: str, rows: dict[str, Sequence[dict[str, Any]]]) -> Table:
    """Return the table of one set of pairs; an interval is printed under its number."""
    table = Table(title=f"{title} (95% intervals)", title_justify="left")
    table.add_column("Judged")
    table.add_column("Model fitted on")
    for heading in _COLUMNS:
        table.add_column(heading, justify="right", width=9)
    for name, models in rows.items():
        for place, model in enumerate(models):
            shown = ["–"] * len(_COLUMNS) if model["reason"] else _numbers(model[key])
            table.add_row("" if place else name, _fitted_on(model), *shown)
        table.add_section()
    return table


def _fitted_on(model: dict[str, Any]) -> str:
    named = {FittedOn.IN_USE: "(the model in use)", FittedOn.ONE: ", ".join(model["fitted_on"])}
    return named.get(FittedOn(model["model"]), model["model"])


def _numbers(numbers: dict[str, Any]) -> list[str]:
    verdict, ece = numbers["verdict"], numbers["calibration"]["versions_left_out"]["weighted"]
    measures = (
        *((verdict, name) for name in ("precision", "recall", "f1")),
        (numbers["versions_as_negatives"], "f1"),
        (verdict, "templates_called_duplicates"),
        (ece, "ece"),
    )
    return [cell(each[name], each[f"{name}_interval"]).replace(" (", "\n").rstrip(")") for each, name in measures]


def _learning_curve(curves: dict[str, Sequence[dict[str, Any]]]) -> Table:
    """Return the table of means over the draws; the spread is printed after its number."""
    title = "Decisions on a new corpus, with a model fitted on all others (mean over draws ± standard deviation)"
    table = Table(title=title, title_justify="left")
    table.add_column("Judged")
    for heading in ("Decisions", "Precision", "Recall", "F1", "Without them", "Change of F1", "Worse"):
        table.add_column(heading, justify="right")
    for name, points in curves.items():
        for place, point in enumerate(points):
            shown = (_spread(point[key]) for key in ("precision", "recall", "f1", "f1_without"))
            change = point["f1_change"]
            changed = f"{change['mean']:+.3f} ({change['least']:+.2f} to {change['most']:+.2f})"
            worse = f"{point['worse']} of {point['draws']}"
            table.add_row("" if place else name, str(point["decisions"]), *shown, changed, worse)
        table.add_section()
    return table


def _spread(numbers: dict[str, float]) -> str:
    return f"{numbers['mean']:.3f} ±{numbers['deviation']:.2f}"

"""Prints what `evaluate` measures: tables, and a list of errors."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

from dedup.detection.runs.facts import label as label_of_pass
from dedup.research.answers import MEASURES, NEAR_DAYS, OUTCOMES
from dedup.research.corpora import FittedOn

_WIDTH = 120
_HEADINGS = [heading for _, heading in MEASURES]
_COLUMNS = ("Precision", "Recall", "F1", "F1, V as not dup.", "T called dup.", "ECE")


def print_report(result: dict[str, Any], stream: TextIO) -> None:
    """Print a report as tables and a list of errors."""
    labels = result["labels"]
    shown = ", ".join(f"{count} {label}" for label, count in labels["by_label"].items())
    stream.write(f"{labels['evaluated']:,} labelled pairs: {shown}. {result['about']}\n")
    stream.write("V pairs are left out unless a row says otherwise.\n")
    console = console_on(stream)
    crossed = result["cross_validated"] or {}
    within = result["within_3_days"]
    console.print(_table(f"At most {NEAR_DAYS} days apart", within, crossed.get("within_3_days")))
    console.print(_table("All labelled pairs", result, crossed.get("verdict")))
    print_answers(result, console)
    if len(result["files"]) > 1:
        console.print(_files(result["files"]))
    if result["strata"]:
        table = table_of("The verdict, by stratum", ["Stratum"], ["Pairs", "Duplicates", *_HEADINGS])
        for name, measures in result["strata"].items():
            shares = (_share(measures[measure]) for measure, _ in MEASURES)
            table.add_row(name, str(measures["pairs"]), str(measures["duplicates"]), *shares)
        console.print(table)
    if result["thresholds"]:
        _print_curves(result["thresholds"], console)
    if reason := crossed.get("reason"):
        stream.write(f"No cross-validation: {reason}.\n")
    _print_errors(result["errors"], stream)


def print_problems(problems: Sequence[str], say: Callable[[str], object], *, more: str, most: int = 5) -> None:
    """Print the first rows that do not count, and how many more there are."""
    for problem in problems[:most]:
        say(problem)
    if (left := len(problems) - most) > 0:
        say(f"… and {left:,} more rows{more}")


def print_clusters(result: dict[str, Any], stream: TextIO) -> None:
    """Print how much the clusters agree with those of a file."""
    numbers = result["clusters"]
    stream.write(f"{result['about']}\n")
    stream.write(
        f"{numbers['articles']:,} articles of the file are stored, {numbers['not_stored']:,} are not. "
        f"Clusters of two or more of them: {numbers['clusters']:,} here, {numbers['clusters_in_file']:,} in the file. "
        f"Pairs in one cluster: {numbers['pairs']:,} here, {numbers['pairs_in_file']:,} in the file, "
        f"{numbers['pairs_in_both']:,} in both.\n"
    )
    title = "The clusters, compared with those of the file"
    table = table_of(title, ["Measure"], ["Precision", "Recall", "F1", "Index"])
    for name, key in (("Pairs of articles", "pairwise"), ("Articles (B-cubed)", "b_cubed")):
        shares = numbers[key]
        table.add_row(name, *(_share(shares[measure]) for measure in ("precision", "recall", "f1")), "")
    table.add_row("Adjusted Rand index", "", "", "", _share(numbers["adjusted_rand_index"]))
    console_on(stream).print(table)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def console_on(stream: TextIO) -> Console:
    """Return a console as wide as the terminal, or 120 columns for a file."""
    return Console(file=stream, width=None if stream.isatty() else _WIDTH)


def _table(title: str, scores: dict[str, Any], crossed: dict[str, Any] | None) -> Table:
    table = table_of(f"{title} (95% intervals)", ["Called duplicate by"], _HEADINGS)
    table.add_row("the verdict", *cells(scores["verdict"]))
    table.add_row("… if V counts as not duplicate", *cells(scores["versions_as_negatives"]))
    if crossed:
        table.add_row("the verdict, learnt from other dates", *cells(crossed))
    table.add_section()
    for name, measures in scores["passes"].items():
        table.add_row(label_of_pass(name), *cells(measures))
    return table


def _files(files: dict[str, Any]) -> Table:
    table = table_of("The verdict, by file of labels (95% intervals)", ["File"], _HEADINGS)
    for name, measures in files.items():
        table.add_row(name, *cells(measures["verdict"]))
        table.add_row(f"… at most {NEAR_DAYS} days apart", *cells(measures["within_3_days"]))
    return table


def _print_curves(thresholds: dict[str, Any], console: Console) -> None:
    """Print a table for the verdict and for each pass: what every threshold would find among all labelled pairs."""
    console.print(_curve("The verdict, by its probability of a duplicate", thresholds["verdict"]))
    for name, thresholds_of_pass in thresholds["passes"].items():
        off = "" if thresholds_of_pass["enabled"] else ", which did not take part in the run"
        console.print(_curve(f"The pass “{label_of_pass(name)}”{off}", thresholds_of_pass))
    console.print("> marks the threshold of the run. Below it, the scores were computed for this table alone.\n")


def _curve(title: str, numbers: dict[str, Any]) -> Table:
    table = table_of(f"{title} (95% intervals)", ["Lowest score"], ["Pairs", *_HEADINGS[:3]])
    for row in numbers["all"]:
        mark = "> " if row["threshold"] == numbers["used"] else "  "
        shares = (cell(row[name], row[f"{name}_interval"]) for name, _ in MEASURES[:3])
        table.add_row(f"{mark}{row['threshold']:g}", f"{row['called']:,}", *shares)
    return table


def print_answers(numbers: dict[str, Any], console: Console) -> None:
    """Print the confusion matrix, the version verdict and the calibration of a set of labelled pairs."""
    title = "Verdicts by label: weighted shares of each label (95% intervals)"
    confusion = table_of(title, ["Label"], ["Pairs", *(outcome.replace("_", " ") for outcome in OUTCOMES)])
    for label, row in numbers["confusion"].items():
        shares = (cell(row[outcome]["share"], row[outcome]["share_interval"]) for outcome in OUTCOMES)
        confusion.add_row(label, f"{row['pairs']:,}", *shares)
    console.print(confusion)
    version = numbers["version_verdict"]
    shares = (f"{key.replace('f1', 'F1')} {cell(version[key], version[f'{key}_interval'])}" for key, _ in MEASURES[:3])
    console.print(f"The version verdict, V against all other labels: {', '.join(shares)}.\n", highlight=False)
    calibration = numbers["calibration"]
    console.print(_reliability(calibration["versions_left_out"]))
    for key, name in (("versions_left_out", "V left out"), ("versions_as_negatives", "V as not duplicate")):
        console.print(f"{name}: {_errors_of(calibration[key])}", highlight=False)


def _reliability(calibration: dict[str, Any]) -> Table:
    title = "Is the probability honest? Proposed pairs by their probability of a duplicate, V left out"
    right = ["To", "Pairs", "Mean probability", "Duplicates", "Mean, unweighted", "Duplicates, unweighted"]
    table = table_of(title, ["From"], right)
    for weighted, plain in zip(calibration["weighted"]["bins"], calibration["unweighted"]["bins"], strict=True):
        means = (row[key] for row in (weighted, plain) for key in ("mean_probability", "duplicates"))
        shown = map(_share, means)
        table.add_row(f"{weighted['from']:.1f}", f"{weighted['to']:.1f}", f"{weighted['pairs']:,}", *shown)
    return table


def _errors_of(calibration: dict[str, Any]) -> str:
    parts = (
        f"{name} {cell(calibration[how][key], calibration[how][f'{key}_interval'])} {how}"
        for key, name in (("ece", "ECE"), ("brier", "Brier score"))
        for how in ("weighted", "unweighted")
    )
    return f"{', '.join(parts)}."


def table_of(title: str, left: Iterable[str], right: Iterable[str], *, width: int | None = None) -> Table:
    """Return a table with these headings of columns that are aligned left, and then of those aligned right."""
    table = Table(*left, title=title, title_justify="left")
    for heading in right:
        table.add_column(heading, justify="right", width=width)
    return table


def cells(scores: dict[str, Any]) -> list[str]:
    """Return the measures of a score, each with its interval."""
    return [cell(scores[name], scores[f"{name}_interval"]) for name, _ in MEASURES]


def cell(value: float | None, interval: Sequence[float] | None) -> str:
    """Return a share with its interval."""
    return "–" if value is None or interval is None else f"{value:.3f} ({interval[0]:.2f}–{interval[1]:.2f})"


def _print_errors(errors: Sequence[dict[str, Any]], stream: TextIO) -> None:
    false = sum(error["kind"] == "false duplicate" for error in errors)
    stream.write(f"{false} false and {len(errors) - false} missed duplicates, largest weight first:\n")
    for error in errors:
        lead = f"{error['kind']} (line {error['line']}, label {error['label']}, weight {error['weight']:g})"
        verdict = (
            f"{error['verdict']} {error['probability']:.2f}, duplicate {error['duplicate_probability']:.2f}; "
            f"found by {', '.join(error['passes'])}"
            if error["verdict"]
            else "no pass proposed it"
        )
        stream.write(f"\n{lead}: {verdict}\n")
        for article in error["articles"]:
            headline = article["headline"] or "(no title)"
            stream.write(f"  {article['date']}  {article['newspaper']}: {headline}\n")


def print_corpora(result: dict[str, Any], stream: TextIO) -> None:
    """Print the cross-corpus table, then what the model in use does with each corpus."""
    console = console_on(stream)
    for name, numbers in result["corpora"].items():
        shown = ", ".join(f"{count} {label}" for label, count in numbers["labels"]["by_label"].items())
        stream.write(f"{name}: {numbers['labels']['evaluated']:,} labelled pairs: {shown}. {numbers['about']}\n")
    console.print(_cross_table("All labelled pairs", "all", result["cross_corpus"]))
    console.print(_cross_table(f"At most {NEAR_DAYS} days apart", "within_3_days", result["cross_corpus"]))
    for name, models in result["cross_corpus"].items():
        unfitted = [model for model in models if model["reason"]]
        stream.writelines(f"{name}, {_fitted_on(model)}: not fitted: {model['reason']}.\n" for model in unfitted)
    if result["learning_curve"] is not None:
        console.print(_learning_curve(result["learning_curve"]))
    for name, numbers in result["corpora"].items():
        stream.write(f"\n{name}, by the model in use, all labelled pairs:\n")
        print_answers(numbers, console)


def _cross_table(title: str, key: str, rows: dict[str, Sequence[dict[str, Any]]]) -> Table:
    """Return the table of one set of pairs; an interval is printed under its number."""
    table = table_of(f"{title} (95% intervals)", ["Judged", "Model fitted on"], _COLUMNS, width=9)
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
    return [
        cell(numbers_of[name], numbers_of[f"{name}_interval"]).replace(" (", "\n").rstrip(")")
        for numbers_of, name in measures
    ]


def _learning_curve(curves: dict[str, Sequence[dict[str, Any]]]) -> Table:
    """Return the table of means over the draws; the spread is printed after its number."""
    title = "Decisions on a new corpus, with a model fitted on all others (mean over draws ± standard deviation)"
    right = ["Decisions", "Precision", "Recall", "F1", "Without them", "Change of F1", "Worse"]
    table = table_of(title, ["Judged"], right)
    for name, points in curves.items():
        for place, point in enumerate(points):
            numbers = (point[key] for key in ("precision", "recall", "f1", "f1_without"))
            shown = (f"{number['mean']:.3f} ±{number['deviation']:.2f}" for number in numbers)
            change = point["f1_change"]
            changed = f"{change['mean']:+.3f} ({change['least']:+.2f} to {change['most']:+.2f})"
            worse = f"{point['worse']} of {point['draws']}"
            table.add_row("" if place else name, str(point["decisions"]), *shown, changed, worse)
        table.add_section()
    return table

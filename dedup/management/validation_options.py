"""The options of `manage.py export validation`: draw a sample by stratum, or write one that was drawn, to a file."""

from __future__ import annotations

import secrets
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from django.core.management.base import CommandParser
from django.template.defaultfilters import pluralize

from articles.management.base import usage_error
from dedup.detection.passes import PASSES
from dedup.models import ValidationSample
from dedup.research.samples import find_sample
from dedup.research.sampling import BANDS, DIMENSIONS, NEAR_DAYS, SEEDS, SIZE, Plan, draw
from dedup.rows.validation import Names, columns_of, labelled_rows, rows_to_label

_DRAWING = (*(field.name for field in fields(Plan)), "seed", "name")
_WRITING = ("sample", "labels", "blind", "texts", "names")


def add_validation_options(parser: CommandParser) -> None:
    """Declare the options."""
    drawing = parser.add_argument_group("drawing")
    sizes = drawing.add_mutually_exclusive_group()
    sizes.add_argument(
        "--size", type=int, help=f"draw so many pairs in all, as evenly as the strata allow (default: {SIZE})"
    )
    sizes.add_argument("--per-stratum", type=int, metavar="N", help="draw so many pairs from each stratum")
    drawing.add_argument(
        "--not-proposed",
        type=int,
        metavar="N",
        help="also draw so many of the pairs that no pass proposes, so that recall can be estimated (default: 0)",
    )
    drawing.add_argument(
        "--window",
        type=int,
        dest="window_days",
        metavar="DAYS",
        help=f"pairs that no pass proposes are at most so many days apart (default: {NEAR_DAYS})",
    )
    drawing.add_argument(
        "--by",
        type=_names,
        metavar="NAMES",
        help=f"what strata differ in, separated by commas, out of {','.join(DIMENSIONS)} (default: all)",
    )
    drawing.add_argument(
        "--pass",
        dest="pass_name",
        metavar="PASS",
        help=f"bands of the score of this pass, out of {', '.join(PASSES)} (default: of the best score of all)",
    )
    drawing.add_argument(
        "--bands",
        type=_numbers,
        metavar="SCORES",
        help=f"lower bounds of the score bands (default: {','.join(map(str, BANDS))})",
    )
    drawing.add_argument(
        "--near",
        type=int,
        dest="near_days",
        metavar="DAYS",
        help=f"pairs at most so many days apart are near (default: {NEAR_DAYS})",
    )
    drawing.add_argument("--readers", type=int, metavar="N", help="people who are to read each pair (default: 1)")
    drawing.add_argument(
        "--seed",
        type=int,
        help=f"the same archive and seed give the same pairs; 0 to {SEEDS - 1} (default: random)",
    )
    drawing.add_argument("--name", default="", help="the name of the new sample (default: its number)")
    writing = parser.add_argument_group("writing")
    writing.add_argument("--sample", metavar="SAMPLE", help="draw nothing; write this sample, by name or number")
    writing.add_argument(
        "--labels", action="store_true", help="with --sample: only labelled pairs, with their labels, for evaluate"
    )
    writing.add_argument(
        "--blind", action="store_true", help="leave out weight and stratum, for people who label in the file"
    )
    writing.add_argument("--texts", action="store_true", help="with the texts of the articles")
    writing.add_argument(
        "--names",
        choices=("newsdedup", "splink"),
        help="names of the columns; splink: those of its clerical labels (default: newsdedup)",
    )


def validation_rows(
    options: Mapping[str, Any], say: Callable[[str], object]
) -> tuple[dict[str, str], Iterator[dict[str, Any]]]:
    """Draw if asked to, and return the columns and the rows; `say` is told what was drawn."""
    _check(options)
    sample = find_sample(options["sample"]) if options["sample"] else _drawn(options, say)
    names: Names = options["names"] or "newsdedup"
    blind, texts = options["blind"], options["texts"]
    columns = columns_of(names, blind=blind, texts=texts)
    if options["labels"]:
        return columns, labelled_rows(sample, names)
    return columns, rows_to_label(sample, names, blind=blind, texts=texts)


def any_given(options: Mapping[str, Any]) -> bool:
    """Return whether any of these options was given."""
    return any(options.get(name) not in (None, "", False) for name in (*_DRAWING, *_WRITING))


def _drawn(options: Mapping[str, Any], say: Callable[[str], object]) -> ValidationSample:
    given = {field.name: options[field.name] for field in fields(Plan) if options.get(field.name) is not None}
    if "per_stratum" in given:
        given["size"] = None
    seed = secrets.randbelow(SEEDS) if options["seed"] is None else options["seed"]
    sample = draw(Plan(**given), seed=seed, name=options["name"].strip())
    say(
        f"Drew {sample.size:,} pair{pluralize(sample.size)} as “{sample.name}” "
        f"(number {sample.pk}, seed {sample.seed})."
    )
    for stratum in sample.strata:
        short = f" of {stratum['asked']:,} asked for: it has no more" if stratum["drawn"] < stratum["asked"] else ""
        pairs = f"{stratum['pairs']:,} pair{pluralize(stratum['pairs'])}"
        say(f"  {stratum['name']}: {pairs}, {stratum['drawn']:,} drawn{short}")
    return sample


def _check(options: Mapping[str, Any]) -> None:
    if options["labels"] and not options["sample"]:
        raise usage_error("--labels writes the labels of a stored sample; name it with --sample.")
    if options["labels"] and (options["blind"] or options["texts"]):
        raise usage_error("--labels writes weights and no texts; leave out --blind and --texts.")
    if options["names"] == "splink" and options["texts"]:
        raise usage_error("Splink's labels have no texts; leave out --texts.")
    if options["sample"] and any(options.get(name) not in (None, "") for name in _DRAWING):
        raise usage_error("--sample writes a sample that was drawn before; leave out the options of drawing.")


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(name) for name in _names(text))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of numbers such as 0.6,0.8") from None

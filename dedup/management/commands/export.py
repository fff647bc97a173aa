"""`manage.py export`: writes the rows of a list, with their declared columns, to a file or to standard output."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import count
from typing import Any, ClassVar

from django.core.management.base import CommandParser
from django.template.defaultfilters import pluralize
from rich.progress import TextColumn, TimeElapsedColumn

from articles.management.arguments import add_output_options, chosen_output
from articles.management.base import ExitCode, LongCommand, opened_output, usage_error
from dedup.declarations import settings_of
from dedup.models import ValidationSample
from dedup.research.labels import LabelsError
from dedup.research.sampling import SEEDS, Plan, SampleError, draw, find_sample, option_of
from dedup.rows.exporting import WRITTEN, FilterError, strict_filter
from dedup.rows.files import FORMATS
from dedup.rows.validation import Names, columns_of, labelled_rows, rows_to_label

# How many there will be is not counted beforehand: that would take as long as much of the export.
_COLUMNS = (TextColumn("{task.description}"), TextColumn("{task.completed:,} rows"), TimeElapsedColumn())
VALIDATION = "validation"


class Command(LongCommand):
    """Parse the options and write."""

    help = (
        "Exports a list as JSON lines or CSV: "
        f"{'; '.join(f'{name}: {export.help}' for name, export in WRITTEN.items())}; {VALIDATION}: pairs drawn at "
        "random by stratum, with weights, for people to label. They are stored as a validation sample, whose blind "
        "queue the page Validation shows."
    )
    resuming = "No file was written."
    exit_codes: ClassVar = {FilterError: ExitCode.USAGE, LabelsError: ExitCode.USAGE, SampleError: ExitCode.USAGE}

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        names = [*WRITTEN, VALIDATION]
        parser.add_argument("export", metavar="NAME", choices=names, help=f"one of {', '.join(names)}")
        parser.add_argument(
            "--filter",
            default="",
            metavar="QUERY",
            help=f"only these, as the address of the page writes its filter: NAME=VALUE&NAME=VALUE, {_fields()}",
        )
        add_validation_options(parser)
        add_output_options(parser)

    def handle(self, **options: Any) -> None:
        """Write the rows."""
        name, (path, form) = options["export"], chosen_output(options)
        columns, rows = validation_rows(options, self.stderr.write) if name == VALIDATION else _list_rows(name, options)
        with (
            self.progress({"no_progress": options["no_progress"] or path is None}, *_COLUMNS) as progress,
            opened_output(path, self.stdout) as write,
        ):
            numbered = zip(progress.track(rows, description=name), written := count(), strict=False)
            for piece in FORMATS[form](columns, (row for row, _ in numbered)):
                write(piece)
        if name != VALIDATION:
            self.stderr.write(f"Rows written: {next(written):,}.")


def _list_rows(name: str, options: Mapping[str, Any]) -> tuple[Iterable[str], Iterator[dict[str, Any]]]:
    if any(options.get(option) not in (None, "", False) for option in (*_DRAWING, *_WRITING)):
        raise usage_error(f"The options of drawing and writing samples are those of export {VALIDATION}.")
    export, chosen = WRITTEN[name], strict_filter(name, options["filter"]).qs
    return export.columns, export.rows(chosen)


def _fields() -> str:
    """Return the fields of the filters, for the help."""
    fields = {name: [field for field in strict_filter(name, "").form.fields if field != "sort"] for name in WRITTEN}
    return "; ".join(f"{name}: out of {', '.join(found)}" for name, found in fields.items())


_DRAWING = (*settings_of(Plan), "seed", "name")
_WRITING = ("sample", "labels", "blind", "texts", "names")


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(name) for name in _names(text))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of numbers such as 0.6,0.8") from None


# How the options that fill in a plan are read, if not as numbers.
_READ: dict[str, Callable[[str], Any]] = {"by": _names, "pass_name": str, "bands": _numbers}


def add_validation_options(parser: CommandParser) -> None:
    """Declare the options."""
    drawing = parser.add_argument_group("drawing")
    sizes = drawing.add_mutually_exclusive_group()
    for name, (field, declared) in settings_of(Plan).items():
        group = sizes if name in {"size", "per_stratum"} else drawing
        known = f" Out of: {', '.join(declared.choices)}." if declared.choices else ""
        usual: Any = field.default
        default = usual if isinstance(usual, int) else ",".join(map(str, usual or ["none"]))
        group.add_argument(
            option_of(name),
            type=_READ.get(name, int),
            dest=name,
            metavar=declared.unit.upper(),
            help=f"{declared.label}: {declared.help[:1].lower()}{declared.help[1:]}{known} Default: {default}.",
        )
    drawing.add_argument(
        "--seed", type=int, help=f"the same archive and seed give the same pairs; 0 to {SEEDS - 1} (default: random)"
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
) -> tuple[Iterable[str], Iterator[dict[str, Any]]]:
    """Draw if asked to, and return the columns and the rows; `say` is told what was drawn."""
    if options["filter"]:
        raise usage_error(f"--filter is no option of export {VALIDATION}.")
    if options["labels"] and not options["sample"]:
        raise usage_error("--labels writes the labels of a stored sample; name it with --sample.")
    if options["labels"] and (options["blind"] or options["texts"]):
        raise usage_error("--labels writes weights and no texts; leave out --blind and --texts.")
    if options["names"] == "splink" and options["texts"]:
        raise usage_error("Splink's labels have no texts; leave out --texts.")
    if options["sample"] and any(options.get(name) not in (None, "") for name in _DRAWING):
        raise usage_error("--sample writes a sample that was drawn before; leave out the options of drawing.")
    sample = find_sample(options["sample"]) if options["sample"] else _drawn(options, say)
    names: Names = options["names"] or "newsdedup"
    blind, texts = options["blind"], options["texts"]
    columns = columns_of(names, blind=blind, texts=texts)
    if options["labels"]:
        return columns, labelled_rows(sample, names)
    return columns, rows_to_label(sample, names, blind=blind, texts=texts)


def _drawn(options: Mapping[str, Any], say: Callable[[str], object]) -> ValidationSample:
    given = {field.name: options[field.name] for field in fields(Plan) if options.get(field.name) is not None}
    if "per_stratum" in given:
        given["size"] = None
    sample = draw(Plan(**given), seed=options["seed"], name=options["name"].strip())
    say(
        f"Drew {sample.size:,} pair{pluralize(sample.size)} as “{sample.name}” "
        f"(number {sample.pk}, seed {sample.seed})."
    )
    for stratum in sample.strata:
        short = f" of {stratum['asked']:,} asked for: it has no more" if stratum["drawn"] < stratum["asked"] else ""
        pairs = f"{stratum['pairs']:,} pair{pluralize(stratum['pairs'])}"
        say(f"  {stratum['name']}: {pairs}, {stratum['drawn']:,} drawn{short}")
    return sample

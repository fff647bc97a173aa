"""`manage.py import_labels`: read back the labels of a validation sample that somebody filled in in a file."""

from typing import Any

from django.core.management.base import CommandParser
from django.template.defaultfilters import pluralize

from articles.management.base import ExitCode, ProjectCommand
from dedup.research.labels import LabelsError
from dedup.research.print import print_problems
from dedup.research.sampling import find_sample
from dedup.review.readings.label_files import LabelFileError, import_labels

_SHOWN_FAULTS = 20


class Command(ProjectCommand):
    """Read the file, check every row, and store all of its labels or none."""

    help = (
        "Read labels of a validation sample from a file that export validation wrote and somebody filled in: D, V, T, "
        "E or N in the column label, or 1 or 0 in Splink's clerical_match_score. If a row is wrong, nothing is stored."
    )
    exit_codes = {LabelsError: ExitCode.USAGE, LabelFileError: ExitCode.ERROR}

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("sample", help="the sample, by name or number")
        parser.add_argument("file", help="a .jsonl, .jsonl.gz, .csv or .csv.gz file")
        parser.add_argument(
            "--reader", required=True, metavar="NAME", help="who labelled: a user name, or the name of anybody else"
        )

    def handle(self, **options: Any) -> None:
        """Import."""
        sample = find_sample(options["sample"])
        try:
            done = import_labels(sample, options["file"], reader=options["reader"])
        except LabelFileError as error:
            lines = [f"line {line}: {fault}" for line, fault in error.faults]
            print_problems(lines, self.stderr.write, more="", most=_SHOWN_FAULTS)
            raise
        self.stdout.write(
            f"Labels of {options['reader'].strip()} for “{sample.name}”: {done.added:,} new, {done.changed:,} changed, "
            f"{done.same:,} stored already; {done.empty:,} row{pluralize(done.empty)} without a label."
        )

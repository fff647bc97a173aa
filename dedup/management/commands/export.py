"""`manage.py export`: writes the rows of a list, with their declared columns, to a file or to standard output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django.core.management.base import CommandParser
from rich.progress import TextColumn, TimeElapsedColumn

from articles.management.arguments import add_output_options, chosen_output
from articles.management.base import ExitCode, LongCommand, opened_output, usage_error
from dedup.management.validation_options import add_validation_options, any_given, validation_rows
from dedup.research.labels import LabelsError
from dedup.research.sampling import SampleError
from dedup.rows.exporting import WRITTEN, FilterError, strict_filter
from dedup.rows.files import FORMATS

# How many there will be is not counted beforehand: that would take as long as much of the export.
_COLUMNS = (TextColumn("{task.description}"), TextColumn("{task.completed:,} rows"), TimeElapsedColumn())
_SHOWN_EVERY = 1_000
VALIDATION = "validation"


class Command(LongCommand):
    """Parse the options and write. An old command, such as export_pairs, exports one list."""

    old_name_of: ClassVar[str] = ""
    help = (
        "Exports a list as JSON lines or CSV: "
        f"{'; '.join(f'{name}: {export.help}' for name, export in WRITTEN.items())}; {VALIDATION}: pairs drawn at "
        "random by stratum, with weights, for people to label. They are stored as a validation sample, whose blind "
        "queue the page Validation shows."
    )
    resuming = "No file was written."
    exit_codes: ClassVar = {
        FilterError: ExitCode.USAGE,
        LabelsError: ExitCode.USAGE,
        SampleError: ExitCode.USAGE,
    }

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        if not self.old_name_of:
            names = [*WRITTEN, VALIDATION]
            parser.add_argument("export", metavar="NAME", choices=names, help=f"one of {', '.join(names)}")
        if self.old_name_of != VALIDATION:
            parser.add_argument(
                "--filter",
                default="",
                metavar="QUERY",
                help=f"only these, as the address of the page writes its "
                f"filter: NAME=VALUE&NAME=VALUE, {self._fields()}",
            )
        if self.old_name_of in ("", VALIDATION):
            add_validation_options(parser)
        add_output_options(parser)

    def _fields(self) -> str:
        """Return the fields of the filters, for the help."""
        names = [self.old_name_of] if self.old_name_of else list(WRITTEN)
        fields = {name: [field for field in strict_filter(name, "").form.fields if field != "sort"] for name in names}
        return "; ".join(
            f"{'' if self.old_name_of else f'{name}: '}out of {', '.join(found)}" for name, found in fields.items()
        )

    def handle(self, **options: Any) -> None:
        """Write the rows."""
        name = self.old_name_of or options["export"]
        if self.old_name_of:
            self.stderr.write(f"export_{name} is now called: export {name}. The old name goes with the next release.")
        if name == VALIDATION:
            self._write_validation(options)
        else:
            self._write_list(name, options)

    def _write_validation(self, options: dict[str, Any]) -> None:
        if options.get("filter"):
            raise usage_error(f"--filter is no option of export {VALIDATION}.")
        path, form = chosen_output(options)
        columns, rows = validation_rows(options, self.stderr.write)
        with opened_output(path, self.stdout) as write:
            for piece in FORMATS[form](columns, rows):
                write(piece)

    def _write_list(self, name: str, options: dict[str, Any]) -> None:
        if any_given(options):
            raise usage_error(f"The options of drawing and writing samples are those of export {VALIDATION}.")
        export, chosen = WRITTEN[name], strict_filter(name, options["filter"]).qs
        path, form = chosen_output(options)
        written = 0
        with (
            self.progress({"no_progress": options["no_progress"] or path is None}, *_COLUMNS) as progress,
            opened_output(path, self.stdout) as write,
        ):
            task = progress.add_task(name, total=None)

            def rows() -> Iterator[dict[str, Any]]:
                nonlocal written
                for row in export.rows(chosen):
                    written += 1
                    if written % _SHOWN_EVERY == 0:
                        progress.update(task, completed=written)
                    yield row

            for piece in FORMATS[form](export.columns, rows()):
                write(piece)
        self.stderr.write(f"Rows written: {written:,}.")

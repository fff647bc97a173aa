"""What the commands that export a list share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django.core.management.base import CommandParser
from rich.progress import TextColumn, TimeElapsedColumn

from articles.management.arguments import add_output_options, chosen_output
from articles.management.base import ExitCode, LongCommand
from articles.management.output import opened_output
from dedup.rows.exports import EXPORTS
from dedup.rows.exports.base import Export
from dedup.rows.exports.formats import FORMATS
from dedup.rows.filters.exports import FilterError, strict_filter

# How many there will be is not counted beforehand: that would take as long as much of the export.
_COLUMNS = (TextColumn("{task.description}"), TextColumn("{task.completed:,} rows"), TimeElapsedColumn())
_SHOWN_EVERY = 1_000


class ExportCommand(LongCommand):
    """Writes an export of what the list `name` has, to a file or to standard output: `export`, or that list itself."""

    name: ClassVar[str]
    export: ClassVar[Export | None] = None
    resuming = "No file was written."
    exit_codes: ClassVar = {FilterError: ExitCode.USAGE}

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        fields = ", ".join(field for field in strict_filter(self.name, "").form.fields if field != "sort")
        parser.add_argument(
            "--filter",
            default="",
            metavar="QUERY",
            help=f"only these, as the address of the page writes its filter: NAME=VALUE&NAME=VALUE, out of {fields}",
        )
        add_output_options(parser)

    def handle(self, **options: Any) -> None:
        """Write the rows."""
        export = self.export or EXPORTS[self.name]
        path, form = chosen_output(options)
        chosen = strict_filter(self.name, options["filter"]).qs
        written = 0
        with (
            self.progress({"no_progress": options["no_progress"] or path is None}, *_COLUMNS) as progress,
            opened_output(path, self.stdout) as write,
        ):
            task = progress.add_task(export.name, total=None)

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

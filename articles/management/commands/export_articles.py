"""`manage.py export_articles`: writes the stored articles to a file, with or without boilerplate."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from articles.boilerplate.mode import Mode
from articles.files.exporting import LINES, ExportedRow, TooManyColumnsError, exported_rows
from articles.management.arguments import (
    add_boilerplate_option,
    add_output_options,
    add_scope_options,
    chosen_output,
    chosen_scope,
)
from articles.management.base import ExitCode, LongCommand, opened_output
from articles.management.commands.find_boilerplate import mark_outdated_weeks
from articles.models import Article


class Command(LongCommand):
    help = (
        "Exports articles as JSON lines or CSV, ordered by day, in the format that import_articles reads. With "
        "--boilerplate story or topic, it first updates outdated boilerplate marks. A failed export leaves no partial "
        "file."
    )

    resuming = "No file was written."
    exit_codes = {TooManyColumnsError: ExitCode.ERROR}

    def add_arguments(self, parser: CommandParser) -> None:
        add_boilerplate_option(parser)
        add_scope_options(parser)
        add_output_options(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        scope, mode = chosen_scope(options), Mode(options["boilerplate"])
        path, file_format = chosen_output(options)
        written: Counter[bool] = Counter()  # by whether a text is left
        # Lines on the terminal would mix with a bar.
        with self.progress({"no_progress": options["no_progress"] or path is None}) as progress:
            if mode is not Mode.KEEP:
                mark_outdated_weeks(progress, **scope)
            articles = Article.objects.in_scope(**scope)
            task = progress.add_task("articles", total=articles.count())

            def rows() -> Iterator[ExportedRow]:
                for row in exported_rows(mode, articles):
                    has_text = bool(row.values["content"].strip())
                    written[has_text] += 1
                    if has_text:
                        yield row
                    progress.update(task, advance=1)

            with opened_output(path, self.stdout) as write:
                for line in LINES[file_format](rows()):
                    write(line)
        skipped = f" Skipped, because they are nothing but boilerplate: {written[False]:,}." if written[False] else ""
        self.stderr.write(f"Articles written: {written[True]:,}.{skipped}")

"""`manage.py export_revisions`: writes the versions of articles that changed after they were stored."""

from typing import Any

from django.core.management.base import CommandParser

from articles.files.exporting import VERSION_COLUMNS, csv_lines, json_lines, versions_rows
from articles.management.arguments import add_output_options, add_scope_options, chosen_output, chosen_scope
from articles.management.base import LongCommand, opened_output
from articles.models import Article


class Command(LongCommand):
    help = (
        "Exports the versions of articles that changed, went or came back after they were stored, as JSON lines or "
        "CSV: first each article as it was stored (number 0), then its later versions with their times. Articles "
        "without a later version are left out. A failed export leaves no partial file."
    )

    resuming = "No file was written."

    def add_arguments(self, parser: CommandParser) -> None:
        add_scope_options(parser)
        add_output_options(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        articles = Article.objects.in_scope(**chosen_scope(options))
        path, file_format = chosen_output(options)
        with self.progress({"no_progress": options["no_progress"] or path is None}) as progress:
            tracked = progress.track(versions_rows(articles), description="versions", total=None)
            lines = json_lines(tracked) if file_format == "jsonl" else csv_lines(tracked, VERSION_COLUMNS)
            written = 0
            with opened_output(path, self.stdout) as write:
                for line in lines:
                    write(line)
                    written += 1
        self.stderr.write(f"Versions written: {written - (file_format == 'csv'):,}.")

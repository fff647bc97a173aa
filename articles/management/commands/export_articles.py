"""`manage.py export_articles`: writes the stored articles to a file, with or without boilerplate."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO, cast

from django.core.management.base import CommandError, CommandParser
from rich.progress import Progress

from articles.boilerplate.mode import Mode
from articles.files.exporting import exported_rows, whole_file
from articles.management.arguments import add_day_options, add_newspaper_option, chosen_days, chosen_newspaper_ids
from articles.management.base import LongCommand, usage_error
from articles.models import Article
from articles.storage.boilerplate_marks import mark_week, outdated_weeks


class Command(LongCommand):
    help = (
        "Exports articles as JSON lines, ordered by day, in the format that import_articles reads. With --boilerplate "
        "story or topic, it first updates outdated boilerplate marks. A failed export leaves no partial file."
    )

    resuming = "No file was written."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--boilerplate",
            choices=[mode.value for mode in Mode],
            default=Mode.KEEP.value,
            help="story removes boilerplate from all articles but the first of the week that has it; topic removes it "
            "from all articles (default: %(default)s)",
        )
        add_newspaper_option(parser)
        add_day_options(parser)
        parser.add_argument(
            "--output", metavar="FILE", help="write to this .jsonl or .jsonl.gz file (default: standard output)"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        since, until = chosen_days(options)
        scope = {"since": since, "until": until, "newspaper_ids": chosen_newspaper_ids(options)}
        path = _path(options["output"])
        try:
            written, left_out = self._write(Mode(options["boilerplate"]), scope, path, options)
        except OSError as error:
            raise CommandError(f"{path or 'standard output'} cannot be written: {error.strerror}.") from error
        skipped = f" Skipped, because they are nothing but boilerplate: {left_out:,}." if left_out else ""
        self.stderr.write(f"Articles written: {written:,}.{skipped}")

    def _write(self, mode: Mode, scope: dict[str, Any], path: Path | None, options: dict[str, Any]) -> tuple[int, int]:
        """Write the articles; return how many were written, and how many were skipped because no text was left."""
        written = left_out = 0
        # Lines on the terminal would mix with a bar.
        with self.progress({"no_progress": options["no_progress"] or path is None}) as progress:
            if mode is not Mode.KEEP:
                _mark(scope, progress)
            total = Article.objects.in_scope(**scope).count()
            task = progress.add_task("articles", total=total)
            with whole_file(path) if path else nullcontext(cast("TextIO", self.stdout)) as file:
                for row in exported_rows(mode, **scope):
                    if row["content"].strip():
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
                        written += 1
                    else:
                        left_out += 1
                    progress.update(task, advance=1)
        return written, left_out


def _mark(scope: dict[str, Any], progress: Progress) -> None:
    weeks = outdated_weeks(scope["newspaper_ids"], since=scope["since"], until=scope["until"])
    task = progress.add_task("boilerplate", total=sum(weeks.values()))
    for week, articles in weeks.items():
        mark_week(week)
        progress.update(task, advance=articles)


def _path(name: str | None) -> Path | None:
    if name is None:
        return None
    path = Path(name)
    if not name.lower().endswith((".jsonl", ".jsonl.gz")):
        raise usage_error(f"--output {name} must end in .jsonl or .jsonl.gz.")
    if not path.parent.is_dir():
        raise usage_error(f"--output {name}: {path.parent} does not exist or is not a folder; create it first.")
    return path

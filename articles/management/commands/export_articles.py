"""`manage.py export_articles`: write the stored articles to a file, with their boilerplate or without."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress

from articles.boilerplate.mode import Mode
from articles.files.exporting import exported_rows, whole_file
from articles.management.arguments import INTERRUPTED_STATUS, USAGE_STATUS, day, newspapers_named
from articles.models import Article
from articles.storage.boilerplate_marks import mark_week, outdated_weeks


class Command(BaseCommand):
    help = (
        "Writes articles as JSON lines, by day, which import_articles reads. Without boilerplate, the weeks whose "
        "marks are outdated are looked at first. What breaks off leaves no half file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--boilerplate",
            choices=[mode.value for mode in Mode],
            default=Mode.KEEP.value,
            help="story: removed from all articles but the first of a week that has it; topic: from all "
            "(default: %(default)s)",
        )
        parser.add_argument(
            "--newspaper", action="append", default=[], metavar="NAME", help="only this newspaper; may be repeated"
        )
        parser.add_argument("--since", type=day, metavar="DAY", help="only articles from this day on, YYYY-MM-DD")
        parser.add_argument("--until", type=day, metavar="DAY", help="only articles up to this day, YYYY-MM-DD")
        parser.add_argument("--output", metavar="FILE", help="a .jsonl or .jsonl.gz file (default: standard output)")

    def handle(self, *_args: Any, **options: Any) -> None:
        newspapers = newspapers_named(options["newspaper"])
        scope = {
            "since": options["since"],
            "until": options["until"],
            "newspaper_ids": None if newspapers is None else [newspaper.pk for newspaper in newspapers],
        }
        if scope["since"] and scope["until"] and scope["since"] > scope["until"]:
            raise CommandError(
                f"--since {scope['since']} is after --until {scope['until']}; exchange them.", returncode=USAGE_STATUS
            )
        path = _path(options["output"])
        try:
            written, left_out = self._write(Mode(options["boilerplate"]), scope, path)
        except KeyboardInterrupt:
            self.stderr.write("Interrupted. No file was written." if path else "Interrupted.")
            sys.exit(INTERRUPTED_STATUS)
        except OSError as error:
            raise CommandError(f"{path or 'standard output'} cannot be written: {error.strerror}.") from error
        nothing = f" Left out, because they have nothing but boilerplate: {left_out:,}." if left_out else ""
        self.stderr.write(f"Articles written: {written:,}.{nothing}")

    def _write(self, mode: Mode, scope: dict[str, Any], path: Path | None) -> tuple[int, int]:
        """Write the articles; return how many, and how many had nothing left to write."""
        written = left_out = 0
        with Progress(console=Console(stderr=True), disable=path is None or not self.stderr.isatty()) as progress:
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
        raise CommandError(f"{name} must end in .jsonl or .jsonl.gz.", returncode=USAGE_STATUS)
    if not path.parent.is_dir():
        raise CommandError(f"{path.parent} is no folder; make it first.", returncode=USAGE_STATUS)
    return path

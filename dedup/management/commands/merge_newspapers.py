"""`manage.py merge_newspapers`: merges a newspaper into another one, and undoes it."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandParser

from articles.management.base import ExitCode, ProjectCommand, usage_error
from articles.models import Newspaper
from articles.storage.newspaper_merges import MergeError, last_merge
from articles.storage.newspapers import newspaper_itself
from dedup.detection.runs.starting import RunActiveError
from dedup.management.arguments import add_user_option, chosen_user
from dedup.review.answers.newspaper_merges import done_line, merge_newspapers, preview_merge, undo_merge


class Command(ProjectCommand):
    """Parse the options, merge or undo, print."""

    help = (
        "Merge a newspaper into another one: move its articles there, and keep its name and host as aliases. The next "
        "run compares the articles again. Nothing is deleted, and --undo moves the articles back."
    )

    exit_codes = {MergeError: ExitCode.USAGE, RunActiveError: ExitCode.ACTIVE}

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("merged", metavar="FROM", help="name or id of the newspaper that is merged")
        parser.add_argument(
            "into", metavar="INTO", nargs="?", help="name or id of the newspaper that stays; not needed with --undo"
        )
        parser.add_argument("--undo", action="store_true", help="undo the merge of FROM")
        parser.add_argument("--dry-run", action="store_true", help="print what would happen; change nothing")
        add_user_option(parser)

    def handle(self, **options: Any) -> None:
        """Merge or undo."""
        merged = newspaper_itself(options["merged"])
        into = newspaper_itself(options["into"]) if options["into"] else None
        user = chosen_user(options)
        if options["undo"]:
            self._undo(merged, into, user, dry_run=options["dry_run"])
        elif into is None:
            raise usage_error(f"name the newspaper that {merged} is to be merged into")
        else:
            for label, text in preview_merge(merged, into).facts:
                self.stdout.write(f"{label}: {text}")
            dry_run = options["dry_run"]
            done = "Dry run, nothing was changed." if dry_run else done_line(merge_newspapers(merged, into, user=user))
            self.stdout.write(done)

    def _undo(self, merged: Newspaper, into: Newspaper | None, user: User | None, *, dry_run: bool) -> None:
        merge = last_merge(merged)
        if into is not None and merge.into != into:
            raise usage_error(f"{merged} is merged into {merge.into}, not into {into}")
        if dry_run:
            self.stdout.write(f"articles that move back: {merge.articles:,}\nDry run, nothing was changed.")
            return
        self.stdout.write(undo_merge(merge, user=user))

"""`manage.py restore FILE`: the rows of a backup, into an empty database."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from articles.management.base import ExitCode, LongCommand
from newsdedup_site.backup.backups import check, missing_migrations, restore
from newsdedup_site.backup.manifest import DamagedBackupError, RestoreError
from newsdedup_site.embedded import EmbeddedServerError
from newsdedup_site.management.commands.backup import reported, size_of


class Command(LongCommand):
    """Read the file as a whole, restore it in one transaction, and compare the rows."""

    help = (
        "Restores a backup of `manage.py backup` into an empty database: one without tables, or one that migrate has "
        "made and nobody has used. It is restored as a whole or not at all, and its rows are compared with those that "
        "were backed up."
    )
    resuming = "Nothing was restored; the database is still empty."
    exit_codes = dict.fromkeys((DamagedBackupError, RestoreError, EmbeddedServerError), ExitCode.ERROR)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the backup")
        parser.add_argument(
            "--check", action="store_true", help="only read the whole file and say what it has; needs no database"
        )

    def handle(self, **options: Any) -> None:
        path: Path = options["file"]
        with self.progress(options) as bars:
            manifest = (check if options["check"] else restore)(path, reported(bars))
        self.stdout.write(
            f"{path}: {manifest.rows:,} rows of {len(manifest.tables)} tables, {size_of(path)}, "
            f"of newsdedup {manifest.newsdedup}, PostgreSQL {manifest.server}, {manifest.made_at}."
        )
        if options["check"]:
            self.stdout.write("The file is complete.")
            return
        self.stdout.write("Restored; every table has the rows that were backed up.")
        if missing := missing_migrations():
            self.stdout.write(f"It is of an earlier version: run `manage.py migrate` ({len(missing)} migrations).")
        self.stdout.write("Run `manage.py doctor` to check it.")

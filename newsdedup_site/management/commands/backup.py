"""`manage.py backup FILE`: all rows of the database, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from articles.management.base import ExitCode, LongCommand
from newsdedup_site.backup.manifest import BackupError, DamagedBackupError, Format
from newsdedup_site.backup.saving import back_up
from newsdedup_site.embedded import EmbeddedServerError
from newsdedup_site.management.commands._backups import reported, size_of


class Command(LongCommand):
    """Write the file, read it again, and say what it has."""

    help = (
        "Writes a backup of the whole database to one file, as it is at one moment; editors and runs may go on. The "
        "file gets its name when it is complete and has been read again. Only you can read it: it has the logins."
    )
    resuming = "No backup was made."
    exit_codes = {
        BackupError: ExitCode.ERROR,
        DamagedBackupError: ExitCode.ERROR,
        EmbeddedServerError: ExitCode.ERROR,
    }

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("file", type=Path, help="the file to write")
        parser.add_argument("--force", action="store_true", help="replace the file if it exists")
        parser.add_argument(
            "--format",
            choices=[one.value for one in Format],
            help="pg_dump: what PostgreSQL's own pg_restore reads too; copy: needs no programs, and can be restored "
            "into any supported version of PostgreSQL (default: pg_dump where a fitting one is found, else copy)",
        )

    def handle(self, **options: Any) -> None:
        """Make the backup."""
        path: Path = options["file"]
        wanted = Format(options["format"]) if options["format"] else None
        with self.progress(options) as bars:
            manifest = back_up(path, wanted, replace_it=options["force"], progress=reported(bars))
        self.stdout.write(
            f"{path}: {manifest.rows:,} rows of {len(manifest.tables)} tables, {size_of(path)}, "
            f"in the format {manifest.format}. Read again and complete."
        )

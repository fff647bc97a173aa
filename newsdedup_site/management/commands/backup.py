"""`manage.py backup FILE`: all rows of the database, in one file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from rich.progress import Progress

from articles.management.base import ExitCode, LongCommand
from newsdedup_site.backup.backups import back_up
from newsdedup_site.backup.manifest import BackupError, DamagedBackupError
from newsdedup_site.embedded import EmbeddedServerError


class Command(LongCommand):
    help = (
        "Writes a backup of the whole database to one file, as it is at one moment; editors and runs may go on. The "
        "file gets its name when it is complete and has been read again. Only you can read it: it has the logins."
    )
    resuming = "No backup was made."
    exit_codes = dict.fromkeys((BackupError, DamagedBackupError, EmbeddedServerError), ExitCode.ERROR)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write")
        parser.add_argument("--force", action="store_true", help="replace the file if it exists")

    def handle(self, **options: Any) -> None:
        path: Path = options["file"]
        with self.progress(options) as bars:
            manifest = back_up(path, replace_it=options["force"], progress=reported(bars))
        self.stdout.write(
            f"{path}: {manifest.rows:,} rows of {len(manifest.tables)} tables, {size_of(path)}. "
            "Read again and complete."
        )


_STEPS = {
    "count": "Counting rows",
    "write": "Writing",
    "check": "Reading the file",
    "restore": "Restoring",
    "compare": "Comparing rows",
}


def reported(bars: Progress) -> Callable[[str, int], None]:
    """Return what shows the progress of each step; how much there is to do is not known before."""
    tasks = {}

    def report(step: str, done: int) -> None:
        if step not in tasks:
            tasks[step] = bars.add_task(_STEPS[step], total=None)
        bars.advance(tasks[step], done)

    return report


def size_of(path: Path) -> str:
    """Return the size of a file in words."""
    size = path.stat().st_size
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} bytes"

"""The files that commands read articles from: JSON lines and CSV, also gzipped, and standard input."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from django.core.management.base import CommandError

from articles.files.importing import FileFormat, Row, UnreadableFileError, read_rows
from articles.management.arguments import USAGE_STATUS

STDIN = "-"

_ENDING = re.compile(r"\.(?P<format>jsonl|csv)(?P<gzipped>\.gz)?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A file to import; "-" is standard input."""

    name: str
    file_format: FileFormat
    gzipped: bool = False

    @contextmanager
    def open(self) -> Iterator[tuple[BinaryIO, Callable[[], int], int | None]]:
        """Open it: the decompressed stream, how much of the file was read by now, and its size, both in bytes."""
        if self.name == STDIN:
            yield sys.stdin.buffer, lambda: 0, None
            return
        path = Path(self.name)
        with path.open("rb") as raw:
            stream = gzip.GzipFile(fileobj=raw) if self.gzipped else raw
            yield cast("BinaryIO", stream), raw.tell, path.stat().st_size

    def rows(self, stream: BinaryIO, newspaper: str = "") -> Iterator[Row]:
        try:
            yield from read_rows(stream, self.file_format, newspaper=newspaper)
        except UnreadableFileError as error:
            raise CommandError(f"{self.name} cannot be imported: {error}.") from error

    def check(self) -> None:
        """Raise CommandError if the file is missing, cannot be read twice, or holds no row that can be read."""
        if self.name == STDIN:
            return
        path = Path(self.name)
        try:
            if path.exists() and not (path.is_file() or path.is_dir()):
                remedy = f'read it with "-" and --format {self.file_format}'
                raise CommandError(f"{self.name} is no regular file and cannot be read twice; {remedy}.")
            with self.open() as (stream, _, _):
                next(self.rows(stream), None)
        except OSError as error:
            raise CommandError(f"{self.name} cannot be opened: {error.strerror}. Check the path.") from error


def source_named(name: str, stdin_format: FileFormat | None) -> Source:
    """Return the file of this name, or standard input. Raises CommandError if its format is unknown."""
    if name == STDIN:
        if stdin_format is None:
            raise CommandError('"-" needs --format jsonl or --format csv.', returncode=USAGE_STATUS)
        return Source(name, stdin_format)
    ending = _ENDING.search(name)
    if ending is None:
        fault = f"The format of {name} is unknown; its name must end in .jsonl, .jsonl.gz, .csv or .csv.gz"
        raise CommandError(f'{fault}, or read it with "-" and --format.', returncode=USAGE_STATUS)
    file_format: FileFormat = "csv" if ending["format"].lower() == "csv" else "jsonl"
    return Source(name, file_format, gzipped=ending["gzipped"] is not None)

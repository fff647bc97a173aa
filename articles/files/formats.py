"""Opens the files that commands read: JSON lines and CSV, gzipped or not, and standard input."""

import gzip
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from articles.files.records import FileFormat, UnreadableFileError

STDIN = "-"

_ENDING = re.compile(r"\.(?P<format>jsonl|csv)(?P<gzipped>\.gz)?\Z", re.IGNORECASE)


class FileUsageError(ValueError):
    """A file of unknown format; the message lists the known ones."""


@dataclass(frozen=True)
class Source:
    """A file to read; "-" is standard input."""

    name: str
    file_format: FileFormat
    gzipped: bool = False

    @contextmanager
    def open(self) -> Iterator[tuple[BinaryIO, Callable[[], int], int | None]]:
        """Open it: the decompressed stream, the number of bytes read so far, and the size of the file in bytes.

        Raises UnreadableFileError; one that is raised inside the block gets the name of the file.
        """
        with self._stream() as opened:
            try:
                yield opened
            except UnreadableFileError as error:
                raise UnreadableFileError(f"{self.name} cannot be read: {error}") from error

    @contextmanager
    def _stream(self) -> Iterator[tuple[BinaryIO, Callable[[], int], int | None]]:
        if self.name == STDIN:
            yield sys.stdin.buffer, lambda: 0, None
            return
        path = Path(self.name)
        try:
            if path.exists() and not (path.is_file() or path.is_dir()):
                remedy = f'read it with "-" and --format {self.file_format}'
                raise UnreadableFileError(f"{self.name} is not a regular file, so it cannot be read twice; {remedy}")
            raw = path.open("rb")
        except OSError as error:
            raise _cannot_open(self.name, error) from error
        with raw:
            stream = gzip.GzipFile(fileobj=raw) if self.gzipped else raw
            yield cast("BinaryIO", stream), raw.tell, path.stat().st_size


def source_named(name: str) -> Source:
    """Return the file of this name. Raises FileUsageError for an unknown ending, and UnreadableFileError."""
    file_format = format_of(name)
    if file_format is None:
        try:
            Path(name).stat()
        except OSError as error:
            raise _cannot_open(name, error) from error
        raise FileUsageError(
            f"the format of {name} is unknown; its name must end in .jsonl, .jsonl.gz, .csv or .csv.gz"
        )
    return Source(name, file_format, gzipped=name.lower().endswith(".gz"))


def format_of(name: str) -> FileFormat | None:
    """Return the format that a file has by the ending of its name; None for an unknown ending."""
    if ending := _ENDING.search(name):
        return "csv" if ending["format"].lower() == "csv" else "jsonl"
    return None


def _cannot_open(name: str, error: OSError) -> UnreadableFileError:
    return UnreadableFileError(f"{name} cannot be opened: {error.strerror}; check the path")

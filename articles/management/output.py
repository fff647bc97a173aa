"""Where commands write: standard output, whose faults are named, or a file that is whole or not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import OutputWrapper

from articles.files.whole_files import whole_file
from articles.files.write_faults import STDOUT, UnwritableError, writing


class NamedOutput:
    """A stream whose faults raise UnwritableError, which names it; in all else it is the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write."""
        with _writing_stdout(self._stream):
            return self._stream.write(text)

    def flush(self) -> None:
        """Flush."""
        with _writing_stdout(self._stream):
            self._stream.flush()


@contextmanager
def _writing_stdout(stream: TextIO) -> Iterator[None]:
    try:
        with writing(STDOUT):
            yield
    except UnwritableError:
        discard(stream)
        raise


def discard(stream: TextIO) -> None:
    """Discard what Python would still flush when it exits, which would fail again."""
    if stream is sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def opened_output(path: Path | None, stdout: OutputWrapper) -> Iterator[Callable[[str], object]]:
    """Give what writes texts to a file that gets its name when it is complete, or to standard output if there is none.

    Raises UnwritableError.
    """
    if path:
        with whole_file(path) as file:
            yield file.write
        return
    # The stream of a command would add a line end.
    yield partial(stdout.write, ending="")
    stdout.flush()

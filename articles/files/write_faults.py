"""Why a file cannot be written, in one sentence: which one, what is missing, and the remedy."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STDOUT = "standard output"

_MAKE_ROOM = "make room or choose another folder"


class UnwritableError(Exception):
    """A file, folder or standard output that cannot be written; the message says why, and the remedy."""


@contextmanager
def writing(name: Path | str, folder: Path | None = None) -> Iterator[None]:
    """Turn what the operating system says against writing into UnwritableError.

    `name` is what is written, in a file system that holds `folder`. That a pipe has no reader any more is passed on.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError(_sentence(name, error, folder)) from error


def _sentence(name: Path | str, error: OSError, folder: Path | None) -> str:
    why = os.strerror(error.errno) if error.errno else str(error)
    return f"{name} cannot be written: {why}{_remedy(error.errno, folder)}, then run the same command again"


def _remedy(number: int | None, folder: Path | None) -> str:
    if folder is None:
        return "; send it elsewhere"
    if number == errno.ENOSPC:
        return f" ({_free(folder)}); {_MAKE_ROOM}"
    if number == errno.EROFS:
        return f"; {folder.resolve()} is read-only: choose another folder (for a container, mount one: docs/running.md)"
    if number == errno.EDQUOT:
        return f" in {folder}; {_MAKE_ROOM}"
    if number == errno.EFBIG:
        return f" (this process may write {_largest()}); raise the limit (ulimit -f)"
    return f"; check {folder}"


def _free(folder: Path) -> str:
    with suppress(OSError):
        return f"it needs more than the {shutil.disk_usage(folder).free / 1e6:,.1f} MB that are free in {folder}"
    return f"in {folder}"


def _largest() -> str:
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return "files of any size" if soft == resource.RLIM_INFINITY else f"at most {soft:,} bytes to a file"

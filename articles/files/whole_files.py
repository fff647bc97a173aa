"""Files that get their name only when they are complete, however the process ends, and why one cannot be written."""

import errno
import fcntl
import glob
import gzip
import io
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, TextIO, cast

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
        why = os.strerror(error.errno) if error.errno else str(error)
        remedy = f"{_remedy(error.errno, folder)}, then run the same command again"
        raise UnwritableError(f"{name} cannot be written: {why}{remedy}") from error


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
        soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        largest = "files of any size" if soft == resource.RLIM_INFINITY else f"at most {soft:,} bytes to a file"
        return f" (this process may write {largest}); raise the limit (ulimit -f)"
    return f"; check {folder}"


def _free(folder: Path) -> str:
    with suppress(OSError):
        return f"it needs more than the {shutil.disk_usage(folder).free / 1e6:,.1f} MB that are free in {folder}"
    return f"in {folder}"


_PART = ".part"


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that gets its name only when it is complete; compressed if the name ends in .gz.

    Raises UnwritableError.
    """
    with whole_bytes(path) as raw, text_into(raw, path) as text:
        yield text


@contextmanager
def text_into(raw: BinaryIO, path: Path) -> Iterator[TextIO]:
    """Write text into a binary file that is to have this name; compressed if the name ends in .gz."""
    # Without a file name and a time in the header, so that the same articles give the same bytes.
    # Level 9 would take three times as long for a file that is hardly smaller.
    packed = gzip.GzipFile("", "wb", 6, fileobj=raw, mtime=0) if path.suffix == ".gz" else nullcontext(raw)
    with packed as stream:
        text = io.TextIOWrapper(cast("BinaryIO", stream), encoding="utf-8")
        yield text
        text.flush()
        text.detach()
    raw.flush()


@contextmanager
def whole_bytes(path: Path, *, mode: int = 0o666, replace: bool = True) -> Iterator[BinaryIO]:
    """Open a binary file, to write and to read, that gets its name only when it is complete and on the disk.

    Until then it has no name, or a hidden one in the same folder where the file system cannot do without. After an
    error nothing is left of it, and any existing file keeps its content; a hidden name that kill -9 leaves behind goes
    with the next file of that name. `mode`: who may read it, before the umask. Without `replace`, a file of that name
    that is there by then is an error. Raises UnwritableError.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}{_PART}")
    with writing(path, path.parent):
        _remove_abandoned(path)
        nameless = _nameless_file(path.parent, mode)
        try:
            with nameless or os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_RDWR, mode), "w+b") as raw:
                with suppress(OSError):  # some file systems know no such thing
                    fcntl.flock(raw, fcntl.LOCK_EX)  # until it is closed: nobody takes it for abandoned
                yield raw
                raw.flush()
                os.fsync(raw.fileno())
                if not nameless or not _linked(raw, path, replace=replace):
                    if nameless:
                        _link(raw, part)
                    _name(part, path, replace=replace)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _store_names(path.parent)


def _remove_abandoned(path: Path) -> None:
    """Remove the hidden names of this file whose processes were killed."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{_PART}"):
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _linked(raw: BinaryIO, path: Path, *, replace: bool) -> bool:
    """Give a file without a name its own; return False if another one has it that is to be replaced."""
    try:
        _link(raw, path)
    except FileExistsError:
        if replace:
            return False
        raise
    return True


def _link(raw: BinaryIO, path: Path) -> None:
    # The folder of a full path does not matter; naming one makes os.link follow the link to the file.
    os.link(f"/proc/self/fd/{raw.fileno()}", path, src_dir_fd=raw.fileno(), follow_symlinks=True)


def _name(part: Path, path: Path, *, replace: bool) -> None:
    if replace:
        part.replace(path)
    else:
        os.link(part, path)
        part.unlink()


def _store_names(folder: Path) -> None:
    """Have the names of a folder on the disk; some file systems know no such thing."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _nameless_file(folder: Path, mode: int) -> BinaryIO | None:
    """Return a new file without a name, which even kill -9 leaves no trace of; None where there are none.

    Source: open(2), O_TMPFILE, of Linux.
    """
    with suppress(OSError, AttributeError):
        if Path("/proc/self/fd").is_dir():
            return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, mode), "w+b")
    return None

"""The locks through which processes share one server; the kernel releases them however a process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from newsdedup_site.embedded.folders import home

# This process's lock on `users.lock`, and the id of the process that took it: a forked child
# inherits its parent's lock and must take its own.
_user_lock: tuple[int, int] | None = None


def open_lock(name: str) -> int:
    return os.open(home() / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def is_current(descriptor: int, name: str) -> bool:
    """Return whether an open lock is still the file of that name: the home may have been removed and created again."""
    try:
        return os.path.samestat(os.fstat(descriptor), (home() / name).stat())
    except FileNotFoundError:
        return False


@contextmanager
def locked(name: str) -> Iterator[None]:
    descriptor = open_lock(name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def holds_user_lock() -> bool:
    """Return whether this process itself holds its lock on `users.lock`."""
    return _user_lock is not None and _user_lock[1] == os.getpid() and is_current(_user_lock[0], "users.lock")


def hold_user_lock() -> None:
    global _user_lock  # noqa: PLW0603 - one lock per process, held until it ends
    if not holds_user_lock():
        descriptor = open_lock("users.lock")
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        _user_lock = (descriptor, os.getpid())

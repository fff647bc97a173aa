"""The locks by which processes agree on one server: the kernel gives them back, however a process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from newsdedup_site.embedded.folders import home

# The lock of this process on `users.lock`, and the process that took it: a forked child shares
# its parent's lock, and asks for one of its own.
_user_lock: tuple[int, int] | None = None


def open_lock(name: str) -> int:
    return os.open(home() / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def is_current(descriptor: int, name: str) -> bool:
    """Return whether an open lock still is the file of that name: a home may be removed, and made anew."""
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


def hold_user_lock() -> None:
    global _user_lock  # noqa: PLW0603 - one lock a process, held until the process ends
    if _user_lock is None or _user_lock[1] != os.getpid() or not is_current(_user_lock[0], "users.lock"):
        descriptor = open_lock("users.lock")
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        _user_lock = (descriptor, os.getpid())

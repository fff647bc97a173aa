"""Making sure that the server is running."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar

from newsdedup_site.embedded.binaries import install_binaries
from newsdedup_site.embedded.connections import answers, make_database
from newsdedup_site.embedded.folders import EmbeddedServerError, home, make_folder
from newsdedup_site.embedded.keeper import ensure_keeper
from newsdedup_site.embedded.locks import hold_user_lock, holds_user_lock, locked
from newsdedup_site.embedded.server import init_data, postmaster, start_server

# By time.monotonic(); None to wait as long as a start may take.
_deadline: ContextVar[float | None] = ContextVar("_deadline", default=None)
# The start that this process is busy with, in a thread of its own, and what guards this variable.
_start: Future[None] | None = None
_start_guard = threading.Lock()


class EmbeddedServerStartingError(EmbeddedServerError):
    """The server is being started, and the caller does not want to wait for it any longer."""


@contextmanager
def answer_within(seconds: float) -> Iterator[None]:
    """In this block, wait only so long in all for a server that has to be started; the start continues without it."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def ensure_running() -> None:
    """Start the server unless it is running, and keep it running until this process ends.

    Raises EmbeddedServerError, with the end of the server's log, when it cannot be started, and
    EmbeddedServerStartingError when that takes longer than `answer_within` allows.
    """
    # PGHOSTADDR, PGSERVICE, PGOPTIONS and the like are for another server, but libpq would use them.
    for name in [name for name in os.environ if name.startswith("PG")]:
        os.environ.pop(name, None)  # another thread may have been faster
    if holds_user_lock() and answers():
        ensure_keeper()
        return
    deadline = _deadline.get()
    if deadline is None:
        _ensure_running()
    else:
        _wait_for_start(max(0.0, deadline - time.monotonic()))


def _ensure_running() -> None:
    make_folder(home())
    hold_user_lock()
    with locked("start.lock"):
        if not answers():
            install_binaries()
            init_data()
            if postmaster() is None:
                start_server()
            make_database()
    ensure_keeper()


def _wait_for_start(seconds: float) -> None:
    global _start  # noqa: PLW0603 - one start per process, for all its threads
    with _start_guard:
        if _start is None or _start.done():
            _start = Future()
            threading.Thread(target=_run_start, args=(_start,), daemon=True).start()
        start = _start
    try:
        start.result(timeout=seconds)
    except TimeoutError:
        raise EmbeddedServerStartingError("The embedded PostgreSQL server is starting. Try again shortly.") from None


def _run_start(start: Future[None]) -> None:
    try:
        _ensure_running()
    except BaseException as error:  # noqa: BLE001 - raised again in the threads that wait
        start.set_exception(error)
    else:
        start.set_result(None)

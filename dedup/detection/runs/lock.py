"""The lock of runs: one run at a time on a database, in any process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection

from articles.storage.locks import ENDING_SECONDS, Holder, Lock, holder_of, session_lock
from dedup.models import DetectionRun

log = logging.getLogger(__name__)


class RunActiveError(RuntimeError):
    """Another run is active on this database."""


@contextmanager
def run_lock(say: Callable[[str], None] = log.warning) -> Iterator[None]:
    """Hold the one lock of runs. Raises RunActiveError if another process holds it.

    PostgreSQL releases it when the process ends, even if it is killed: that takes it a second or two, and `say` is
    called with a sentence about what is waited for.
    """

    def say_waiting(holder: Holder | None) -> None:
        say(
            f"Waiting up to {ENDING_SECONDS:.0f} seconds for another run{_described(holder)}. "
            "If it was killed, its database process is ending."
        )

    with session_lock(Lock.RUN, say_waiting) as held:
        if not held:
            with connection.cursor() as cursor:
                active = _described(holder_of(cursor, Lock.RUN))
            raise RunActiveError(f"another run is active on this database{active}; wait for it or stop it")
        yield


def _described(holder: Holder | None) -> str:
    """Return which run holds the lock, and who it is to the database, in brackets; a dry run is not stored."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.RUNNING).order_by("-pk").first()
    known = [f"run {run.pk}, since {run.started_at:%Y-%m-%d %H:%M} UTC" if run else "", str(holder or "")]
    words = "; ".join(word for word in known if word)
    return f" ({words})" if words else ""

"""The start of a run: the lock, so that one goes on at a time on a database, and its row, stored before it begins.

It is a new run, one that stopped and goes on, or one that could not start.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection
from django.utils import timezone

from articles.storage.locks import ENDING_SECONDS, Holder, Lock, holder_of, session_lock
from dedup.detection.runs.profiles import Configs, snapshot
from dedup.detection.runs.scope import Scope, state_of_articles, texts_will_change
from dedup.models import DetectionRun, Profile

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


def start_run(
    configs: Configs,
    scope: Scope,
    *,
    profile: Profile | None = None,
    user_id: int | None = None,
    by_itself: bool = False,
) -> DetectionRun:
    """Store a new run, or resume the last one if it stopped. Call inside `run_lock`.

    A run that stopped is resumed if its settings, its scope and the articles are still the same: its results are kept
    and its finished blocks are not repeated. Otherwise it is marked as interrupted, and a new run repairs what it left.
    A run that nobody asked for, started `by_itself`, does not resume one that was cancelled.
    """
    asked_as = profile.name if profile else ""
    asked = {"config": snapshot(configs), "scope": scope.stored()}
    end_killed_runs()
    last = DetectionRun.objects.order_by("-pk").first()
    stopped = (DetectionRun.State.INTERRUPTED, DetectionRun.State.FAILED)
    if (
        last is not None
        and last.state in stopped
        and {"config": last.config, "scope": last.scope} == asked
        and not last.results
        and not (by_itself and last.cancelled_at)
        and _is_unchanged(last, scope)
    ):
        last.profile, last.profile_name, last.requested_by_id = profile, asked_as, user_id
        return resumed(last)
    return DetectionRun.objects.create(profile=profile, profile_name=asked_as, requested_by_id=user_id, **asked)


def end_killed_runs() -> None:
    """Mark runs whose process is gone as interrupted. Call inside `run_lock`."""
    DetectionRun.objects.filter(state=DetectionRun.State.RUNNING).update(
        state=DetectionRun.State.INTERRUPTED,
        finished_at=timezone.now(),
        error="The process ended unexpectedly (killed or crashed).",
    )


def resumed(stopped: DetectionRun) -> DetectionRun:
    """Store that a run that stopped goes on; return it."""
    stopped.state, stopped.finished_at, stopped.error = DetectionRun.State.RUNNING, None, ""
    stopped.cancelled_at = stopped.cancelled_by = None
    stopped.save()
    return stopped


def store_refused_run(scope: Scope, reason: str, *, profile: Profile, user_id: int | None) -> DetectionRun:
    """Store that a run could not start, for users who started it on a page and see no terminal."""
    return DetectionRun.objects.create(
        profile=profile,
        profile_name=profile.name,
        requested_by_id=user_id,
        config={},
        scope=scope.stored(),
        state=DetectionRun.State.FAILED,
        error=reason,
        finished_at=timezone.now(),
    )


def _is_unchanged(stopped: DetectionRun, scope: Scope) -> bool:
    """Return whether a run that stopped has compared the articles as they are; or none yet, if it was preparing."""
    if "fingerprint" not in stopped.counts:
        return True
    return not texts_will_change(scope) and bool(stopped.counts["fingerprint"] == state_of_articles(scope))

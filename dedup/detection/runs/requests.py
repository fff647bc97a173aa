"""The writer of what people ask for on pages: runs to queue, and runs to cancel."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from articles.models import Newspaper
from articles.storage.locks import Lock, holder_of
from dedup.models import DetectionRun, Profile, RunRequest, Worker

# A worker gives a sign of life this often; after the longer time without one, it counts as gone.
SIGN_SECONDS = 5.0
GONE_AFTER = datetime.timedelta(seconds=30)


@dataclass(frozen=True)
class Wanted:
    """A run that somebody wants: with this profile, of these days and newspapers (none: all)."""

    profile: Profile
    since: datetime.date | None = None
    until: datetime.date | None = None
    newspapers: Sequence[Newspaper] = ()
    new: bool = False


def request_run(wanted: Wanted, *, user: User) -> tuple[RunRequest | DetectionRun, bool]:
    """Queue a run for a worker, unless the same run already waits or goes on.

    Return the request and True, or what waits or goes on already, and False.
    """
    with transaction.atomic():
        # Two clicks at the same moment queue one after the other.
        Profile.objects.select_for_update().get(pk=wanted.profile.pk)
        same = _waiting(wanted) or _going_on(wanted)
        return (same, False) if same else (_queued(wanted, user), True)


def _values(wanted: Wanted) -> dict[str, object]:
    return {
        "profile": wanted.profile,
        "since": wanted.since,
        "until": wanted.until,
        "newspapers": sorted(newspaper.pk for newspaper in wanted.newspapers),
        "new": wanted.new,
    }


def _waiting(wanted: Wanted) -> RunRequest | None:
    return RunRequest.objects.filter(run=None, **_values(wanted)).first()


def _going_on(wanted: Wanted) -> DetectionRun | None:
    """Return the run that a process works on now, if it is the one wanted."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.RUNNING, profile=wanted.profile).first()
    if run is None or not is_at_work():
        return None
    asked = {
        "since": wanted.since and wanted.since.isoformat(),
        "until": wanted.until and wanted.until.isoformat(),
        "newspapers": sorted(newspaper.name for newspaper in wanted.newspapers) or None,
        "passes": None,
    }
    same = all(run.scope.get(name) == value for name, value in asked.items())
    return run if same and (run.scope.get("newer_than") is not None) == wanted.new else None


def _queued(wanted: Wanted, user: User) -> RunRequest:
    from dedup.detection.runs.tasks import find_duplicates_task  # noqa: PLC0415 - the tasks import the pipeline and its numeric kernels

    request = RunRequest.objects.create(**_values(wanted), requested_by=user)
    result = find_duplicates_task.enqueue(
        profile_id=wanted.profile.pk,
        since=wanted.since.isoformat() if wanted.since else None,
        until=wanted.until.isoformat() if wanted.until else None,
        newspaper_ids=request.newspapers,
        user_id=user.pk,
        new=wanted.new,
        request_id=request.pk,
    )
    request.task_id = result.id
    request.save(update_fields=["task_id"])
    return request


def cancel_request(request: RunRequest) -> bool:
    """Take a request from the queue; return False if a worker is just starting its run."""
    with transaction.atomic():
        waiting = DBTaskResult.objects.filter(pk__in=[request.task_id], status=TaskResultStatus.READY)
        taken_back, _ = waiting.delete()
        if not taken_back and is_worker_alive():
            return False
        RunRequest.objects.filter(pk=request.pk, run=None).delete()
    return True


def cancel_run(run: DetectionRun, *, user: User) -> bool:
    """Ask a run to stop, which takes it a moment; return False if it had ended before.

    One that no process works on any more is marked as interrupted.
    """
    running = DetectionRun.objects.filter(pk=run.pk, state=DetectionRun.State.RUNNING)
    now = timezone.now()
    if not is_at_work():
        error = f"Cancelled by {user}, when no process worked on it any more."
        state = DetectionRun.State.INTERRUPTED
        return bool(running.update(cancelled_at=now, cancelled_by=user, state=state, finished_at=now, error=error))
    return bool(running.update(cancelled_at=now, cancelled_by=user))


def is_at_work() -> bool:
    """Return whether a process holds the lock of runs."""
    with connection.cursor() as cursor:
        return holder_of(cursor, Lock.RUN) is not None


def last_sign() -> datetime.datetime | None:
    """Return when a worker last gave a sign of life; None if none ever did."""
    return Worker.objects.values_list("seen_at", flat=True).first()


def is_worker_alive() -> bool:
    """Return whether a worker gave a sign of life lately."""
    sign = last_sign()
    return sign is not None and timezone.now() - sign < GONE_AFTER

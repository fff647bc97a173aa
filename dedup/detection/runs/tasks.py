"""Runs that the pages and the schedules queue for a worker process. `manage.py db_worker` executes them."""

from __future__ import annotations

import dataclasses
import datetime
import os
from collections.abc import Callable
from contextlib import suppress

from django.db import connection, transaction
from django.utils import timezone
from django_tasks import task

from articles.boilerplate.mode import Mode
from articles.daily import next_time
from articles.storage.locks import Lock, try_lock_in_transaction
from articles.storage.newspapers import current_ids
from dedup.detection.runs.lock import RunActiveError, run_lock
from dedup.detection.runs.lost_tasks import Fate, recovered
from dedup.detection.runs.phases import NoProgress, RunCancelledError
from dedup.detection.runs.pipeline import run_detection
from dedup.detection.runs.profiles import ProfileError, configs_of, rules_of
from dedup.detection.runs.requests import is_at_work
from dedup.detection.runs.scope import Scope, only_new
from dedup.detection.runs.starting import start_run, store_refused_run
from dedup.models import DetectionRun, Profile, RunRequest

# A nightly run that finds another run active retries after this time.
_RETRY_AFTER = datetime.timedelta(minutes=10)
_UNFINISHED = (DetectionRun.State.RUNNING, DetectionRun.State.INTERRUPTED)
_PUT_BACK = "Its worker was killed, or lost the database. The run was put back into the queue, to resume by itself."


def _resume_run(*_: object, request_id: int | None = None, **__: object) -> Fate:
    """Let the request of a run that was left wait again: what it has done is kept. Without a request, nobody waits."""
    with transaction.atomic(), connection.cursor() as cursor:
        if not try_lock_in_transaction(cursor, Lock.RUN):
            return Fate.NOT_YET
        request = RunRequest.objects.filter(pk=request_id or 0)
        begun = DetectionRun.objects.filter(requests__in=request)
        left = begun.filter(state__in=_UNFINISHED, cancelled_at=None)
        interrupted = {"state": DetectionRun.State.INTERRUPTED, "finished_at": timezone.now(), "error": _PUT_BACK}
        if begun.exists() and not left.update(**interrupted):
            return Fate.OVER
        return Fate.AGAIN if request.update(run=None) else Fate.OVER


def _is_run_left(*_: object, request_id: int | None = None, **__: object) -> bool:
    begun = DetectionRun.objects.filter(requests=request_id or 0, state=DetectionRun.State.RUNNING)
    return begun.exists() and not is_at_work()


def _say_run_failed(
    profile_id: int, *_: object, request_id: int | None = None, user_id: int | None = None, reason: str, **__: object
) -> None:
    request = RunRequest.objects.filter(pk=request_id or 0)
    begun = DetectionRun.objects.filter(requests__in=request, state__in=_UNFINISHED)
    if not begun.update(state=DetectionRun.State.FAILED, finished_at=timezone.now(), error=reason):
        profile = Profile.objects.get(pk=profile_id)
        request.update(run=store_refused_run(Scope(), reason, profile=profile, user_id=user_id))


def _night_again(profile_id: int, due: str) -> Fate:
    """Do a night again that has not begun; one that has begun has scheduled the next one."""
    profile = Profile.objects.filter(pk=profile_id).exclude(nightly_due=None).first()
    is_due = profile is not None and profile.nightly_due is not None and profile.nightly_due.isoformat() == due
    return Fate.AGAIN if is_due else Fate.OVER


def _lose_night(profile_id: int, due: str, reason: str) -> None:
    if _night_again(profile_id, due) is Fate.AGAIN:
        schedule_nightly(Profile.objects.get(pk=profile_id))
    _say_run_failed(profile_id, reason=reason)


@recovered(_resume_run, _say_run_failed, is_left=_is_run_left)
@task()
def find_duplicates_task(
    profile_id: int,
    since: str | None = None,
    until: str | None = None,
    newspaper_ids: list[int] | None = None,
    user_id: int | None = None,
    *,
    new: bool = False,
    request_id: int | None = None,
) -> int | None:
    """Run the detection with a profile and return the id of the run. Days are ISO dates.

    A request that was cancelled in the meantime is left alone. If the run cannot start (another run is active, or the
    profile is invalid), a failed run is stored, so that the Runs page shows why, and the error is raised.
    """
    request = RunRequest.objects.filter(pk=request_id or 0)
    if request_id is not None and not request.exists():
        return None
    profile = Profile.objects.get(pk=profile_id)
    scope = Scope(
        datetime.date.fromisoformat(since) if since else None,
        datetime.date.fromisoformat(until) if until else None,
        current_ids(newspaper_ids) if newspaper_ids else None,
        boilerplate=Mode(profile.boilerplate),
    )
    try:
        return _run(profile, scope, new=new, user_id=user_id, on_start=lambda run: request.update(run=run))
    except (RunActiveError, ProfileError) as error:
        request.update(run=store_refused_run(scope, str(error), profile=profile, user_id=user_id))
        raise


@recovered(_night_again, _lose_night)
@task()
def nightly_task(profile_id: int, due: str) -> int | None:
    """Do the nightly run of a profile, on new articles, and return the id of the run.

    The next night is scheduled first: a worker that is killed during the run loses only this night. A task whose
    time no longer matches the profile does nothing: another one has been scheduled.
    """
    profile = Profile.objects.filter(pk=profile_id).first()
    if profile is None or profile.nightly_due is None or profile.nightly_due.isoformat() != due:
        return None
    waits_since = profile.nightly_waits_since or profile.nightly_due
    schedule_nightly(profile)
    try:
        return _run(profile, Scope(boilerplate=Mode(profile.boilerplate)), new=True, user_id=None, by_itself=True)
    except RunActiveError:
        _enqueue(profile, timezone.now() + _RETRY_AFTER, waits_since=waits_since)
        return None
    except ProfileError as error:
        store_refused_run(Scope(), str(error), profile=profile, user_id=None)
        raise


def schedule_nightly(profile: Profile) -> None:
    """Schedule the next nightly run of a profile, replacing any scheduled before; none if it has no time."""
    if profile.nightly_at is None:
        Profile.objects.filter(pk=profile.pk).update(nightly_due=None, nightly_waits_since=None)
        return
    _enqueue(profile, next_time(profile.nightly_at, timezone.localtime()))


def _enqueue(profile: Profile, due: datetime.datetime, *, waits_since: datetime.datetime | None = None) -> None:
    due = due.astimezone(datetime.UTC)
    with transaction.atomic():
        Profile.objects.filter(pk=profile.pk).update(nightly_due=due, nightly_waits_since=waits_since)
        nightly_task.using(run_after=due).enqueue(profile_id=profile.pk, due=due.isoformat())


def _run(
    profile: Profile,
    scope: Scope,
    *,
    new: bool,
    user_id: int | None,
    on_start: Callable[[DetectionRun], object] = lambda _run: None,
    by_itself: bool = False,
) -> int:
    configs = configs_of(profile.settings)
    scope = dataclasses.replace(scope, rules=rules_of(profile))
    with run_lock():
        asked = only_new(scope, configs) if new else scope
        run = start_run(configs, asked, profile=profile, user_id=user_id, by_itself=by_itself)
        on_start(run)
        # The run itself says that it was cancelled.
        with suppress(RunCancelledError):
            run_detection(run, configs, asked, progress=NoProgress(), workers=os.cpu_count() or 1)
    return run.pk

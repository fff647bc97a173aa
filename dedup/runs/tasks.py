"""Work that a worker process does for the pages and by the clock: `manage.py db_worker` runs it."""

from __future__ import annotations

import datetime
import os

from django.db import transaction
from django.utils import timezone
from django_tasks import task

from articles.boilerplate.mode import Mode
from dedup.models import Profile
from dedup.runs.pipeline import (
    NoProgress,
    RunActiveError,
    run_detection,
    run_lock,
    start_run,
    store_refused_run,
)
from dedup.runs.profiles import ProfileError, configs_of
from dedup.runs.scope import Scope, only_new

# A nightly run that meets another one comes again after this time.
_LATER = datetime.timedelta(minutes=10)


@task()
def find_duplicates_task(
    profile_id: int,
    since: str | None = None,
    until: str | None = None,
    newspaper_ids: list[int] | None = None,
    user_id: int | None = None,
    *,
    new: bool = False,
) -> int:
    """Run the detection with a profile and return the number of the run. Days are ISO dates.

    Where it cannot begin (another run is active, the profile cannot be used), a failed run says so on the page of runs,
    and the error is raised.
    """
    profile = Profile.objects.get(pk=profile_id)
    scope = Scope(
        datetime.date.fromisoformat(since) if since else None,
        datetime.date.fromisoformat(until) if until else None,
        tuple(newspaper_ids) if newspaper_ids else None,
        boilerplate=Mode(profile.boilerplate),
    )
    try:
        return _run(profile, scope, new=new, user_id=user_id)
    except (RunActiveError, ProfileError) as error:
        store_refused_run(scope, str(error), profile=profile, user_id=user_id)
        raise


@task()
def nightly_task(profile_id: int, due: str) -> int | None:
    """Compare new articles as a profile wants it every night, and return the number of the run.

    The next night is arranged first: a worker that is killed in the middle loses this night alone. A task
    whose time is no longer that of the profile does nothing: another one has been arranged.
    """
    profile = Profile.objects.filter(pk=profile_id).first()
    if profile is None or profile.nightly_due is None or profile.nightly_due.isoformat() != due:
        return None
    schedule_nightly(profile)
    try:
        return _run(profile, Scope(boilerplate=Mode(profile.boilerplate)), new=True, user_id=None)
    except RunActiveError:
        _arrange(profile, timezone.now() + _LATER)
        return None
    except ProfileError as error:
        store_refused_run(Scope(), str(error), profile=profile, user_id=None)
        raise


def schedule_nightly(profile: Profile) -> None:
    """Arrange the next nightly run of a profile, in place of any arranged before; none where it has no time."""
    if profile.nightly_at is None:
        Profile.objects.filter(pk=profile.pk).update(nightly_due=None)
        return
    now = timezone.localtime()
    due = now.replace(
        hour=profile.nightly_at.hour, minute=profile.nightly_at.minute, second=profile.nightly_at.second, microsecond=0
    )
    _arrange(profile, due if due > now else due + datetime.timedelta(days=1))


def _arrange(profile: Profile, due: datetime.datetime) -> None:
    due = due.astimezone(datetime.UTC)
    with transaction.atomic():
        Profile.objects.filter(pk=profile.pk).update(nightly_due=due)
        nightly_task.using(run_after=due).enqueue(profile_id=profile.pk, due=due.isoformat())


def _run(profile: Profile, scope: Scope, *, new: bool, user_id: int | None) -> int:
    configs = configs_of(profile.settings)
    with run_lock():
        asked = only_new(scope, configs) if new else scope
        run = start_run(configs, asked, profile=profile, user_id=user_id)
        run_detection(run, configs, asked, progress=NoProgress(), workers=os.cpu_count() or 1)
    return run.pk

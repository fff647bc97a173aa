"""Work that a worker process does for the pages: `manage.py db_worker` runs it."""

from __future__ import annotations

from datetime import date

from django_tasks import task

from dedup.models import Profile
from dedup.pipeline import (
    NoProgress,
    RunActiveError,
    Scope,
    run_detection,
    run_lock,
    start_run,
    store_refused_run,
)
from dedup.profiles import ProfileError, configs_of


@task()
def find_duplicates_task(
    profile_id: int,
    since: str | None = None,
    until: str | None = None,
    newspaper_ids: list[int] | None = None,
    user_id: int | None = None,
) -> int:
    """Run the detection with a profile and return the number of the run. Days are ISO dates.

    Where it cannot begin (another run is active, the profile cannot be used), a failed run says so on the page of runs,
    and the error is raised.
    """
    profile = Profile.objects.get(pk=profile_id)
    scope = Scope(
        date.fromisoformat(since) if since else None,
        date.fromisoformat(until) if until else None,
        tuple(newspaper_ids) if newspaper_ids else None,
    )
    try:
        configs = configs_of(profile.settings)
        with run_lock():
            run = start_run(configs, scope, profile=profile, user_id=user_id)
            run_detection(run, configs, scope, progress=NoProgress())
    except (RunActiveError, ProfileError) as error:
        store_refused_run(scope, str(error), profile=profile, user_id=user_id)
        raise
    return run.pk

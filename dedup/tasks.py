"""Work that a worker process does for the pages: `manage.py db_worker` runs it."""

from __future__ import annotations

from datetime import date

from django_tasks import task

from dedup.models import Profile
from dedup.pipeline import NoProgress, Scope, run_detection, run_lock, start_run
from dedup.profiles import configs_of


@task()
def find_duplicates_task(
    profile_id: int,
    since: str | None = None,
    until: str | None = None,
    newspaper_ids: list[int] | None = None,
    user_id: int | None = None,
) -> int:
    """Run the detection with a profile and return the number of the run. Days are ISO dates.

    Raises RunActiveError when another run is active; the task is then marked as failed.
    """
    profile = Profile.objects.get(pk=profile_id)
    configs = configs_of(profile.settings)
    scope = Scope(
        date.fromisoformat(since) if since else None,
        date.fromisoformat(until) if until else None,
        tuple(newspaper_ids) if newspaper_ids else None,
    )
    with run_lock():
        run = start_run(configs, scope, profile=profile, user_id=user_id)
        run_detection(run, configs, scope, progress=NoProgress())
    return run.pk

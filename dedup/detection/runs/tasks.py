"""What people and schedules ask for, done by a worker: runs, and extracting a newspaper's stored pages again."""

import dataclasses
import datetime
import os
from contextlib import suppress

from django.urls import reverse
from django.utils import timezone

from articles.boilerplate.mode import Mode
from articles.jobs.work import KILLED, JobEndedError, JobError, JobPostponedError, Work
from articles.models import Job, Newspaper
from articles.storage.ingest import refresh_statistics
from articles.storage.newspapers import current_ids
from articles.storage.reextraction import outdated_texts, reextract
from dedup.detection.clustering.rebuild import renew_questions, update_clusters
from dedup.detection.runs.phases import NO_PROGRESS, RunCancelledError
from dedup.detection.runs.pipeline import run_detection
from dedup.detection.runs.profiles import ProfileError, configs_of, rules_of
from dedup.detection.runs.requests import cancel_run, is_due, schedule_night, schedule_nightly
from dedup.detection.runs.scope import Scope, only_new
from dedup.detection.runs.starting import RunActiveError, run_lock, start_run, store_refused_run
from dedup.models import Cluster, DetectionRun, Profile

# A nightly run that finds another run active retries after this time.
_RETRY_AFTER = datetime.timedelta(minutes=10)
_UNFINISHED = (DetectionRun.State.RUNNING, DetectionRun.State.INTERRUPTED)
_PUT_BACK = "Its worker was killed, or lost the database. The run was put back into the queue, to resume by itself."


def run_job(work: Work) -> int:
    """Run the detection as somebody asked for it, and return the id of the run. Raises JobError.

    If the run cannot start (another run is active, or the profile is invalid), a failed run is stored, so that the Runs
    page shows why.
    """
    asked, profile = work.job.arguments, _profile(work.job)
    since, until = (asked[name] and datetime.date.fromisoformat(asked[name]) for name in ("since", "until"))
    newspapers = current_ids(asked["newspapers"]) if asked["newspapers"] else None
    scope = Scope(since or None, until or None, newspapers, boilerplate=Mode(profile.boilerplate))
    try:
        return _run(work, profile, scope, new=asked["new"])
    except (RunActiveError, ProfileError) as error:
        if isinstance(error, RunActiveError) and work.job.tries > 1:
            raise JobPostponedError(_RETRY_AFTER) from error
        _refuse(work.job, profile, str(error), scope)
        raise JobError(str(error)) from error


def night_job(work: Work) -> int | None:
    """Do the nightly run of a profile, on new articles, and return the id of the run. Raises JobError.

    The next night is scheduled first: a worker that is killed during the run loses only this night. A job whose time no
    longer matches the profile does nothing: another one has been scheduled.
    """
    profile = Profile.objects.filter(pk=work.job.arguments["profile"]).first()
    if profile is None or not is_due(profile, work.job):
        if work.job.tries > 1:
            raise JobError(KILLED)
        return None
    waits_since = profile.nightly_waits_since or profile.nightly_due
    schedule_nightly(profile)
    try:
        return _run(work, profile, Scope(boilerplate=Mode(profile.boilerplate)), new=True, by_itself=True)
    except RunActiveError:
        schedule_night(profile, timezone.now() + _RETRY_AFTER, waits_since=waits_since)
        return None
    except ProfileError as error:
        _refuse(work.job, profile, str(error))
        raise JobError(str(error)) from error


def mark_run(job: Job, reason: str) -> None:
    """Let the run of a job that was put back, given up or cancelled say so."""
    if job.state == Job.State.CANCELLED:
        for run in DetectionRun.objects.filter(job=job, state=DetectionRun.State.RUNNING):
            cancel_run(run, user=job.cancelled_by)
        return
    again = job.state == Job.State.WAITING
    said = (DetectionRun.State.INTERRUPTED, _PUT_BACK) if again else (DetectionRun.State.FAILED, reason)
    left = DetectionRun.objects.filter(job=job, state__in=_UNFINISHED)
    if left.update(state=said[0], error=said[1], finished_at=timezone.now()) or again:
        return
    profile = _profile(job)
    if job.kind == "night" and is_due(profile, job):
        schedule_nightly(profile)
    _refuse(job, profile, reason)


def clusters_job(_work: Work) -> int | None:
    """Rebuild the clusters by what the default profile now counts as the same; return how many there are.

    Raises JobPostponedError while a run goes on.
    """
    try:
        with run_lock():
            renew_questions(update_clusters(only_changed=True))
    except RunActiveError as error:
        raise JobPostponedError(_RETRY_AFTER) from error
    return Cluster.objects.count()


def reextraction_job(work: Work) -> int:
    """Extract the outdated pages of a newspaper; return how many articles changed. Raises JobEndedError."""
    newspaper = Newspaper.objects.filter(pk=work.job.arguments["newspaper"]).first()
    if newspaper is None:
        return 0
    outdated = outdated_texts([newspaper.current]).count()
    changed = done = 0
    for batch in reextract([newspaper.current]):
        changed, done = changed + batch.changed, done + batch.articles
        work.advance(done, outdated)
    refresh_statistics(changed)
    return changed


def _profile(job: Job) -> Profile:
    """Return the profile of a job. Raises JobError."""
    profile = Profile.objects.filter(pk=job.arguments["profile"]).first()
    if profile is None:
        raise JobError("The profile was deleted.")
    return profile


def _refuse(job: Job, profile: Profile, reason: str, scope: Scope | None = None) -> None:
    run = store_refused_run(scope or Scope(), reason, profile=profile, user_id=job.requested_by_id)
    _link(job, run)


def _link(job: Job, run: DetectionRun) -> None:
    DetectionRun.objects.filter(pk=run.pk).update(job=job)
    Job.objects.filter(pk=job.pk).update(page=reverse("run", args=[run.pk]))
    run.job = job


def _run(work: Work, profile: Profile, scope: Scope, *, new: bool, by_itself: bool = False) -> int:
    configs = configs_of(profile.settings)
    scope = dataclasses.replace(scope, rules=rules_of(profile))
    with run_lock():
        asked = only_new(scope, configs) if new else scope
        if not work.own().exists():
            raise JobEndedError
        run = start_run(configs, asked, profile=profile, user_id=work.job.requested_by_id, by_itself=by_itself)
        _link(work.job, run)
        # The run itself says that it was cancelled.
        with suppress(RunCancelledError):
            run_detection(run, configs, asked, progress=NO_PROGRESS, workers=os.cpu_count() or 1)
    return run.pk

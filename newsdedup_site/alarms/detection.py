"""Alarms about the worker, nightly runs, runs that stopped, and imports."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from django.conf import settings
from django.db.models import Max, Q
from django.db.models.functions import Coalesce
from django.urls import reverse
from django_tasks_db.models import DBTaskResult

from articles.jobs.work import is_at_work as is_doing
from articles.models import Job
from crawlers.models import Crawl, CrawlSchedule
from dedup.detection.runs.requests import is_at_work, last_sign
from dedup.models import DetectionRun, Profile
from newsdedup_site.alarms.kinds import Found, in_words, remedy_of

# A worker that restarts, or a run that changes hands, is no alarm.
_PATIENCE = datetime.timedelta(minutes=10)
# Somebody who interrupted a run, or saw an import stop, may be about to start it again.
_LEFT_ALONE = datetime.timedelta(hours=1)


def find_worker(now: datetime.datetime) -> Iterator[Found]:
    """No worker answers although something is planned; after one that ended properly, once something is overdue."""
    seen = last_sign()
    if seen is not None and now - seen < _PATIENCE:
        return
    if (_is_anything_planned() or _overdue(now)) if seen else _overdue(now):
        what = f"No worker has answered since {in_words(seen)}." if seen else "No worker answers."
        yield Found("worker", "", what, seen, address=reverse("runs"))


def _is_anything_planned() -> bool:
    return Profile.objects.exclude(nightly_at=None).exists() or CrawlSchedule.objects.exists()


def _overdue(now: datetime.datetime) -> bool:
    """Return whether something that only a worker does should have been done by now."""
    before = now - _PATIENCE
    # A task without a time of its own is due since it was queued; its time is then the end of all times.
    waits = Q(run_after__lt=before) | Q(run_after__gt=now, enqueued_at__lt=before)
    return (
        DBTaskResult.objects.ready().filter(waits).exists()
        or Profile.objects.filter(nightly_due__lt=before).exists()
        or CrawlSchedule.objects.filter(due_at__lt=before).exists()
        or Crawl.objects.filter(job__state=Job.State.WAITING, asked_at__lt=before).exists()
    )


def find_missed_nights(now: datetime.datetime) -> Iterator[Found]:
    """A nightly run has not started ALARM_NIGHTLY_MINUTES after its time.

    The next time is stored when a profile gets its nightly time, and again when a run starts; so a time in the past is
    one that was missed, whoever slept.
    """
    late = now - datetime.timedelta(minutes=settings.ALARM_NIGHTLY_MINUTES)
    missed = Profile.objects.exclude(nightly_at=None).alias(since=Coalesce("nightly_waits_since", "nightly_due"))
    for profile in missed.filter(since__lte=late).order_by("name"):
        since = profile.nightly_waits_since or profile.nightly_due
        if since is None:
            continue
        why = " Another run holds it up." if profile.nightly_waits_since else ""
        what = f"The nightly run of the profile “{profile}” was due on {in_words(since)} and has not started.{why}"
        yield Found("night", f"profile {profile.pk}", what, since, address=reverse("runs"))


def find_stopped_runs(now: datetime.datetime) -> Iterator[Found]:
    """The last run of a profile failed, or was interrupted or killed and not resumed.

    Runs that somebody cancelled count for nothing, nor those that could not start when somebody asked for them on a
    page, where they saw why. Where no nightly run will follow, a later run of any profile is good enough.
    """
    runs = DetectionRun.objects.filter(cancelled_at=None).exclude(config={}, requested_by__isnull=False)
    latest = runs.order_by("profile_id", "-pk").distinct("profile_id").select_related("profile")
    at_work: bool | None = None
    for run in latest:
        if run.state == DetectionRun.State.DONE:
            continue
        if run.state == DetectionRun.State.RUNNING:
            at_work = is_at_work() if at_work is None else at_work
            if at_work:
                continue
        found = _stopped(run, now)
        if found is not None and not _made_good(run, found.since):
            yield found


def _stopped(run: DetectionRun, now: datetime.datetime) -> Found | None:
    """Return the alarm about a run that no process works on; None while it is too early."""
    words, since, patience = "was interrupted", run.finished_at or run.started_at, _LEFT_ALONE
    if run.state == DetectionRun.State.FAILED:
        words, patience = "failed", _PATIENCE
    elif run.state == DetectionRun.State.RUNNING:
        since = run.phases.aggregate(last=Max("updated_at"))["last"] or run.started_at
        words, patience = "was killed", _PATIENCE
    if now - since < patience:
        return None
    profile = f" of the profile “{run.profile_name}”" if run.profile_name else ""
    what = f"Run {run.pk}{profile} {words} on {in_words(since)} and has not been resumed."
    address = reverse("run", args=[run.pk])
    return Found("run", f"profile {run.profile_id or 'none'}", what, since, run.error, remedy_of(run.error), address)


def _made_good(run: DetectionRun, since: datetime.datetime | None) -> bool:
    if run.profile is not None and run.profile.nightly_at is not None:
        return False
    return DetectionRun.objects.filter(state=DetectionRun.State.DONE, finished_at__gt=since).exists()


def find_stopped_imports(now: datetime.datetime) -> Iterator[Found]:
    """An import that nobody cancelled was killed, or could not write any more."""
    jobs = Job.objects.filter(kind="import", state__in=[Job.State.RUNNING, Job.State.FAILED])
    for job in jobs.filter(started_at__lt=now - _PATIENCE).order_by("pk"):
        remedy, killed = remedy_of(job.error), job.state == Job.State.RUNNING
        if (is_doing(job) or now - (job.started_at or now) < _LEFT_ALONE) if killed else not remedy:
            continue  # whoever uploaded the file sees what is wrong with it
        what = f"The {job.title[0].lower()}{job.title[1:]} {'was killed' if killed else 'ran into a full disk'}."
        since = job.finished_at or job.started_at
        for kept in job.imports.all():
            yield Found("import", f"import {kept.pk}", what, since, job.error, remedy, job.page)

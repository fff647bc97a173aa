"""The writer of what people and schedules ask for: runs to queue and to cancel, and extraction after a rule changed."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from articles.daily import next_time
from articles.jobs.work import ask, cancel
from articles.models import Job, Newspaper
from articles.storage.locks import Lock, holder_of
from dedup.models import DetectionRun, Profile, Worker

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

    def days(self) -> dict[str, Any]:
        """Return the days as they are stored."""
        return {"since": self.since and self.since.isoformat(), "until": self.until and self.until.isoformat()}


def request_run(wanted: Wanted, *, user: User) -> tuple[Job | DetectionRun, bool]:
    """Queue a run for a worker, unless the same run already waits or goes on.

    Return the job and True, or what waits or goes on already, and False.
    """
    arguments = {
        "profile": wanted.profile.pk,
        **wanted.days(),
        "newspapers": sorted(newspaper.pk for newspaper in wanted.newspapers),
        "new": wanted.new,
    }
    if not waiting_runs().filter(arguments=arguments).exists() and (going_on := _going_on(wanted)):
        return going_on, False
    return ask("run", arguments, title=_title(wanted), user=user, even_if_running=True)


def waiting_runs() -> QuerySet[Job]:
    """Return the runs that people asked for and that wait for a worker, the longest first."""
    return Job.objects.filter(kind="run", state=Job.State.WAITING).order_by("pk")


def _title(wanted: Wanted) -> str:
    bounds = [f"from {wanted.since}" if wanted.since else "", f"to {wanted.until}" if wanted.until else ""]
    papers = ", ".join(sorted(newspaper.name for newspaper in wanted.newspapers))
    part = " ".join(filter(None, [*bounds, f"of {papers}" if papers else ""]))
    articles = "new articles" if wanted.new else "articles" if part else "all articles"
    return f"Run: {' '.join(filter(None, [articles, part]))}, profile {wanted.profile.name}"


def _going_on(wanted: Wanted) -> DetectionRun | None:
    """Return the run that a process works on now, if it is the one wanted."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.RUNNING, profile=wanted.profile).first()
    if run is None or not is_at_work():
        return None
    asked = {
        **wanted.days(),
        "newspapers": sorted(newspaper.name for newspaper in wanted.newspapers) or None,
        "passes": None,
    }
    same = all(run.scope.get(name) == value for name, value in asked.items())
    return run if same and (run.scope.get("newer_than") is not None) == wanted.new else None


def cancel_run(run: DetectionRun, *, user: User | None) -> bool:
    """Ask a run to stop, which takes it a moment; return False if it had ended before.

    One that no process works on any more is marked as interrupted.
    """
    if run.job:
        cancel(run.job, user)
    running = DetectionRun.objects.filter(pk=run.pk, state=DetectionRun.State.RUNNING)
    now = timezone.now()
    if not is_at_work():
        error = f"Cancelled by {user}, when no process worked on it any more."
        state = DetectionRun.State.INTERRUPTED
        return bool(running.update(cancelled_at=now, cancelled_by=user, state=state, finished_at=now, error=error))
    return bool(running.update(cancelled_at=now, cancelled_by=user))


def schedule_nightly(profile: Profile) -> None:
    """Schedule the next nightly run of a profile, replacing any scheduled before; none if it has no time."""
    for night in Job.objects.filter(kind="night", state=Job.State.WAITING, arguments__profile=profile.pk):
        cancel(night)
    if profile.nightly_at is None:
        Profile.objects.filter(pk=profile.pk).update(nightly_due=None, nightly_waits_since=None)
        return
    schedule_night(profile, next_time(profile.nightly_at, timezone.localtime()))


def schedule_night(profile: Profile, due: datetime.datetime, *, waits_since: datetime.datetime | None = None) -> None:
    """Schedule a nightly run at this time."""
    due = due.astimezone(datetime.UTC)
    with transaction.atomic():
        Profile.objects.filter(pk=profile.pk).update(nightly_due=due, nightly_waits_since=waits_since)
        arguments = {"profile": profile.pk, "due": due.isoformat()}
        ask("night", arguments, title=f"Nightly run, profile {profile.name}", not_before=due)


def is_due(profile: Profile, night: Job) -> bool:
    """Return whether a profile still waits for this nightly run: no other time was scheduled since."""
    return profile.nightly_due is not None and profile.nightly_due.isoformat() == night.arguments["due"]


def request_reextraction(newspaper: Newspaper, user: Any = None) -> bool:
    """Queue the extraction of a newspaper's stored pages for a worker; return False if it waits already."""
    title, page = f"Pages of {newspaper.name}", reverse("extraction_rule", args=[newspaper.pk])
    # One that runs, or was killed while it ran, may have read the rule of before.
    return ask("reextraction", {"newspaper": newspaper.pk}, title=title, user=user, page=page, even_if_running=True)[1]


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

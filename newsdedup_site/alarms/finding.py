"""The checks for alarms: of the worker, runs and imports, of crawls, and of the machine. Nothing is written."""

import datetime
import os
import pkgutil
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Coalesce
from django.urls import reverse
from django_tasks_db.models import DBTaskResult

from articles.jobs.work import is_at_work as is_doing
from articles.models import Job
from crawlers.models import Crawl, CrawlSchedule
from crawlers.reports import failing_since, with_visits
from crawlers.requested.queue import KIND
from dedup.detection.runs.requests import is_at_work, last_sign
from dedup.models import DetectionRun, Profile, Webhook
from dedup.models.base import read_rows
from newsdedup_site import embedded
from newsdedup_site.alarms.kinds import found, in_words, remedy_of
from newsdedup_site.models import Alarm, AlarmNotice

# A worker that restarts, or a run that changes hands, is no alarm.
_PATIENCE = datetime.timedelta(minutes=10)
# Somebody who interrupted a run, or saw an import stop, may be about to start it again.
_LEFT_ALONE = datetime.timedelta(hours=1)
# A worker queues a newspaper within seconds of its time.
_LATE = datetime.timedelta(hours=2)
# A crawl makes way for others after fifteen minutes; one that was started in a shell does not.
_STUCK = datetime.timedelta(hours=6)
_SHOWN_CHARACTERS = 1_000
GIGABYTE = 1_000_000_000
# A disk with so many bytes free is not nearly full, however large it is.
_PLENTY = 50 * GIGABYTE
# What a machine has seen is over when it was not heard of for so long.
FORGOTTEN = datetime.timedelta(days=1)


def crawled() -> QuerySet[Any]:
    """Return the newspapers that are crawled, with their visits; see crawlers/reports.py."""
    return with_visits().filter(Q(crawl=True) | Q(crawl_schedule__isnull=False))


def find_worker(now: datetime.datetime) -> Iterator[Alarm]:
    """No worker answers although something is planned; after one that ended properly, once something is overdue."""
    seen = last_sign()
    if seen is not None and now - seen < _PATIENCE:
        return
    planned = (Profile.objects.exclude(nightly_at=None), CrawlSchedule.objects)
    if (seen and any(rows.exists() for rows in planned)) or _overdue(now):
        what = f"No worker has answered since {in_words(seen)}." if seen else "No worker answers."
        yield found("worker", "", what, seen, address=reverse("runs"))


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


def find_missed_nights(now: datetime.datetime) -> Iterator[Alarm]:
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
        yield found("night", f"profile {profile.pk}", what, since, address=reverse("runs"))


def find_stopped_runs(now: datetime.datetime) -> Iterator[Alarm]:
    """The last run of a profile failed, or was interrupted or killed and not resumed.

    Runs that somebody cancelled count for nothing, nor those that could not start when somebody asked for them on a
    page, where they saw why. Where no nightly run will follow, a later run of any profile is good enough.
    """
    runs = DetectionRun.objects.filter(cancelled_at=None).exclude(config={}, requested_by__isnull=False)
    latest = runs.order_by("profile_id", "-pk").distinct("profile_id").select_related("profile")
    is_any_active = cache(is_at_work)
    for run in latest:
        if run.state == DetectionRun.State.DONE or (run.state == DetectionRun.State.RUNNING and is_any_active()):
            continue
        stopped = _stopped(run, now)
        if stopped is None:
            continue
        comes_every_night = run.profile is not None and run.profile.nightly_at is not None
        later = DetectionRun.objects.filter(state=DetectionRun.State.DONE, finished_at__gt=stopped.since)
        if comes_every_night or not later.exists():
            yield stopped


def _stopped(run: DetectionRun, now: datetime.datetime) -> Alarm | None:
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
    return found("run", f"profile {run.profile_id or 'none'}", what, since, run.error, remedy_of(run.error), address)


def find_stopped_imports(now: datetime.datetime) -> Iterator[Alarm]:
    """An import that nobody cancelled was killed, or could not write any more."""
    jobs = Job.objects.filter(kind="import", state__in=[Job.State.RUNNING, Job.State.FAILED])
    for job in jobs.filter(started_at__lt=now - _PATIENCE).order_by("pk"):
        remedy, killed = remedy_of(job.error), job.state == Job.State.RUNNING
        if (is_doing(job) or now - (job.started_at or now) < _LEFT_ALONE) if killed else not remedy:
            continue  # whoever uploaded the file sees what is wrong with it
        what = f"The {job.title[0].lower()}{job.title[1:]} {'was killed' if killed else 'ran into a full disk'}."
        since = job.finished_at or job.started_at
        for kept in job.imports.all():
            yield found("import", f"import {kept.pk}", what, since, job.error, remedy, job.page)


def find_failing_newspapers(now: datetime.datetime) -> Iterator[Alarm]:  # noqa: ARG001 - the visits have their times
    """Every visit of a newspaper that is crawled has failed for days."""
    for paper in crawled().order_by("fails_since", "pk"):
        if since := failing_since(paper):
            what = f"Every visit of {paper.name} has failed since {in_words(since)}."
            address = reverse("newspaper_crawls", args=[paper.pk])
            yield found("newspaper", f"newspaper {paper.pk}", what, since, address=address)


def find_missed_crawls(now: datetime.datetime) -> Iterator[Alarm]:
    """Newspapers were due long ago and are not even queued, or have waited long for another crawl to end."""
    overdue = CrawlSchedule.objects.filter(due_at__lt=now - _LATE, newspaper__merged_into=None)
    rows = list(overdue.order_by("due_at", "pk").values_list("due_at", "newspaper__name"))
    why = "not crawled when due on {}" + (" or later" if len(rows) > 1 else "")
    if not rows:
        waiting = Crawl.objects.filter(job__state=Job.State.WAITING, asked_at__lt=now - _STUCK)
        rows = list(waiting.order_by("pk").values_list("asked_at", "newspaper__name"))
        why = "not crawled: the crawl has waited since {}"
    if rows:
        since = min(moment for moment, _ in rows)
        who = f"{rows[0][1]} was" if len(rows) == 1 else f"{len(rows)} newspapers were"
        yield found("crawl", "", f"{who} {why.format(in_words(since))}.", since, address=reverse("crawls"))


def find_failed_crawl(now: datetime.datetime) -> Iterator[Alarm]:  # noqa: ARG001 - every check is asked alike
    """The last crawl of the worker failed, and no other follows now."""
    crawls = Job.objects.filter(kind=KIND)
    if crawls.filter(state__in=Job.ACTIVE).exists():
        return
    last = crawls.filter(state__in=(Job.State.DONE, Job.State.FAILED)).order_by("-pk").first()
    if last is None or last.state == Job.State.DONE:
        return
    what, since = "The last crawl failed.", last.finished_at or last.started_at
    detail = last.error.strip()[-_SHOWN_CHARACTERS:]
    yield found("crawl_failed", "", what, since, detail, remedy_of(last.error), reverse("crawl_log"))


def disks() -> dict[str, os.statvfs_result]:
    """Return the state of each file system that this process writes to, by the folders on it."""
    folders = [Path(settings.CRAWL_STATE_DIR), Path(tempfile.gettempdir())]
    if settings.EMBEDDED_DATABASE:
        folders.append(embedded.home())
    by_device: dict[int, tuple[list[str], os.statvfs_result]] = {}
    for folder in folders:
        there = next(existing for existing in (folder, *folder.absolute().parents) if existing.exists())
        named, _ = by_device.setdefault(there.stat().st_dev, ([], os.statvfs(there)))
        named.append(str(folder))
    return {" and ".join(named): state for named, state in by_device.values()}


def find_full_disks(now: datetime.datetime) -> Iterator[Alarm]:  # noqa: ARG001 - every check is asked alike
    """A disk that this process writes to has less than ALARM_DISK_FREE left, of bytes or of files."""
    for folders, state in disks().items():
        free, all_ = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
        share, left = free / all_ if all_ else 1.0, f"{free / GIGABYTE:,.1f} GB ({free / all_:.1%})" if all_ else ""
        if state.f_files and state.f_favail / state.f_files < share:
            share, left = state.f_favail / state.f_files, f"{state.f_favail:,} files"
            free = 0
        if share >= settings.ALARM_DISK_FREE or free >= _PLENTY:
            continue
        host = platform.node()
        detail = f"{folders} on {host}: {left} free; the alarm is raised below {settings.ALARM_DISK_FREE:.0%}."
        yield found("disk", f"{host}: {folders}"[:200], f"A disk is nearly full: {left} free.", detail=detail)


def is_elsewhere(alarm: Alarm) -> bool:
    """Return whether only another machine can see it: its own disks."""
    return alarm.kind == "disk" and not alarm.subject.startswith(f"{platform.node()}:")


def database_bytes() -> int:
    """Return the size of the database, with all its indexes."""
    return int(read_rows("SELECT pg_database_size(current_database())")[0][0])


def find_large_database(now: datetime.datetime) -> Iterator[Alarm]:  # noqa: ARG001 - every check is asked alike
    """The database is larger than ALARM_DATABASE_GIGABYTES: how full its disk is, no client can see."""
    bound = settings.ALARM_DATABASE_GIGABYTES
    if not bound:
        return
    size = database_bytes()
    if size > bound * GIGABYTE:
        what = f"The database has {size / GIGABYTE:,.1f} GB, more than the {bound:,} GB that you set as its bound."
        yield found("database", "", what)


@cache
def _shipped() -> frozenset[tuple[str, str]]:
    """Return the app and name of every migration of this version."""
    shipped = set()
    for app in apps.get_app_configs():
        package, _ = MigrationLoader.migrations_module(app.label)
        try:
            folder = getattr(import_module(package or ""), "__path__", ())
        except (ImportError, ValueError):
            continue
        shipped |= {(app.label, module.name) for module in pkgutil.iter_modules(folder) if module.name[0] not in "_~"}
    return frozenset(shipped)


def find_waiting_migrations(now: datetime.datetime) -> Iterator[Alarm]:  # noqa: ARG001 - every check is asked alike
    """The database has not seen every migration of this version."""
    waiting = sorted(_shipped() - set(MigrationRecorder(connection).applied_migrations()))
    if waiting:
        number = f"{len(waiting)} migration{'s' * (len(waiting) > 1)}"
        named = ", ".join(f"{app}.{name}" for app, name in waiting[:5])
        yield found("migrations", "", f"The tables are not up to date: {number} to do.", detail=named)


def find_switched_off_webhooks(now: datetime.datetime) -> Iterator[Alarm]:  # noqa: ARG001 - every check is asked alike
    """A webhook of somebody who may still log in failed for so long that it was switched off."""
    broken = Webhook.objects.filter(active=False, owner__is_active=True).exclude(fault="")
    for hook in broken.select_related("owner").annotate(tried=Max("deliveries__tried_at")).order_by("pk"):
        what = f"A webhook of {hook.owner} was switched off because its receiver does not accept anything."
        detail, address = f"{hook.url}: {hook.fault}", reverse("webhook", args=[hook.pk])
        yield found("webhook", f"webhook {hook.pk}", what, hook.tried, detail, address=address)


def find_failing_mail(now: datetime.datetime) -> Iterator[Alarm]:  # noqa: ARG001 - every check is asked alike
    """E-mails about alarms wait because sending them failed."""
    waiting = AlarmNotice.objects.filter(mail=AlarmNotice.Mail.WAITING, mail_tries__gt=0).order_by("pk").first()
    if waiting is not None:
        what = "E-mails about alarms cannot be sent."
        yield found("mail", "", what, waiting.made_at, waiting.mail_answer, address=reverse("alarms"))


FINDERS: tuple[Callable[[datetime.datetime], Iterable[Alarm]], ...] = (
    find_worker,
    find_missed_nights,
    find_stopped_runs,
    find_missed_crawls,
    find_failed_crawl,
    find_failing_newspapers,
    find_stopped_imports,
    find_full_disks,
    find_large_database,
    find_switched_off_webhooks,
    find_failing_mail,
)


def find_everywhere(now: datetime.datetime) -> list[Alarm]:
    """Return what an admin has to see to, also the full disks that only other machines can see and have recorded."""
    here = find_all(now)
    if any(alarm.kind == "migrations" for alarm in here):
        return here
    recorded = Alarm.objects.filter(kind="disk", over_at=None, gone_at=None, seen_at__gt=now - FORGOTTEN)
    return [*here, *(row for row in recorded.order_by("pk") if is_elsewhere(row))]


def find_all(now: datetime.datetime) -> list[Alarm]:
    """Return what this machine can see that an admin has to see to, the most urgent kinds first.

    A few quick queries; nothing is written.

    While migrations wait, only they are returned: the other questions may need what they bring.
    """
    return list(find_waiting_migrations(now)) or [alarm for find in FINDERS for alarm in find(now)]

"""Alarms about the machine: disks, the database, its tables, webhooks and e-mail."""

from __future__ import annotations

import datetime
import os
import pkgutil
import platform
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Max
from django.urls import reverse

from dedup.models import Webhook
from newsdedup_site import embedded
from newsdedup_site.alarms.kinds import Found
from newsdedup_site.models import Alarm, AlarmNotice

GIGABYTE = 1_000_000_000
# A disk with so many bytes free is not nearly full, however large it is.
_PLENTY = 50 * GIGABYTE
# What a machine has seen is over when it was not heard of for so long.
FORGOTTEN = datetime.timedelta(days=1)


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


def find_full_disks(now: datetime.datetime) -> Iterator[Found]:  # noqa: ARG001 - every check is asked alike
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
        yield Found("disk", f"{host}: {folders}"[:200], f"A disk is nearly full: {left} free.", detail=detail)


def find_full_disks_elsewhere(now: datetime.datetime) -> Iterator[Found]:
    """Another machine has recorded a nearly full disk, which this one cannot see: that of the worker, for example."""
    recorded = Alarm.objects.filter(kind="disk", over_at=None, gone_at=None, seen_at__gt=now - FORGOTTEN)
    for row in recorded.order_by("pk"):
        if is_elsewhere(row):
            yield Found(row.kind, row.subject, row.what, row.since, row.detail)


def is_elsewhere(alarm: Alarm) -> bool:
    """Return whether only another machine can see it: its own disks."""
    return alarm.kind == "disk" and not alarm.subject.startswith(f"{platform.node()}:")


def database_bytes() -> int:
    """Return the size of the database, with all its indexes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def find_large_database(now: datetime.datetime) -> Iterator[Found]:  # noqa: ARG001 - every check is asked alike
    """The database is larger than ALARM_DATABASE_GIGABYTES: how full its disk is, no client can see."""
    bound = settings.ALARM_DATABASE_GIGABYTES
    if not bound:
        return
    size = database_bytes()
    if size > bound * GIGABYTE:
        what = f"The database has {size / GIGABYTE:,.1f} GB, more than the {bound:,} GB that you set as its bound."
        yield Found("database", "", what)


@cache
def _shipped() -> frozenset[tuple[str, str]]:
    """Return the app and name of every migration of this version."""
    found = set()
    for app in apps.get_app_configs():
        package, _ = MigrationLoader.migrations_module(app.label)
        try:
            folder = getattr(import_module(package or ""), "__path__", ())
        except (ImportError, ValueError):
            continue
        found |= {(app.label, module.name) for module in pkgutil.iter_modules(folder) if module.name[0] not in "_~"}
    return frozenset(found)


def find_waiting_migrations(now: datetime.datetime) -> Iterator[Found]:  # noqa: ARG001 - every check is asked alike
    """The database has not seen every migration of this version."""
    waiting = sorted(_shipped() - set(MigrationRecorder(connection).applied_migrations()))
    if waiting:
        number = f"{len(waiting)} migration{'s' * (len(waiting) > 1)}"
        named = ", ".join(f"{app}.{name}" for app, name in waiting[:5])
        yield Found("migrations", "", f"The tables are not up to date: {number} to do.", detail=named)


def find_switched_off_webhooks(now: datetime.datetime) -> Iterator[Found]:  # noqa: ARG001 - every check is asked alike
    """A webhook of somebody who may still log in failed for so long that it was switched off."""
    broken = Webhook.objects.filter(active=False, owner__is_active=True).exclude(fault="")
    for hook in broken.select_related("owner").annotate(tried=Max("deliveries__tried_at")).order_by("pk"):
        what = f"A webhook of {hook.owner} was switched off because its receiver does not accept anything."
        detail = f"{hook.url}: {hook.fault}"
        yield Found(
            "webhook", f"webhook {hook.pk}", what, hook.tried, detail, address=reverse("webhook", args=[hook.pk])
        )


def find_failing_mail(now: datetime.datetime) -> Iterator[Found]:  # noqa: ARG001 - every check is asked alike
    """E-mails about alarms wait because sending them failed."""
    waiting = AlarmNotice.objects.filter(mail=AlarmNotice.Mail.WAITING, mail_tries__gt=0).order_by("pk").first()
    if waiting is not None:
        what = "E-mails about alarms cannot be sent."
        yield Found("mail", "", what, waiting.made_at, waiting.mail_answer, address=reverse("alarms"))

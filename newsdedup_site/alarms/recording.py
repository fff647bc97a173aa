"""The check for alarms, every few minutes: finds what is wrong, records what begins, lasts or is over, and tells it."""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from articles.jobs.work import repeat
from articles.storage.locks import Lock, lock_transaction
from dedup.integrations.webhooks import announce_alarms
from newsdedup_site.alarms.finding import FORGOTTEN, find_all, is_elsewhere
from newsdedup_site.alarms.kinds import kind_of
from newsdedup_site.alarms.mail import recipients, send_waiting
from newsdedup_site.models import Alarm, AlarmNotice

# What was told lately is not told again because it was over for a while.
QUIET = datetime.timedelta(hours=36)


def record(found: Sequence[Alarm], now: datetime.datetime) -> list[AlarmNotice]:
    """Store what a check found, in one transaction with the notices to be sent; return these.

    An alarm is told when it begins, unless it was told within QUIET; again every ALARM_REPEAT_DAYS while it lasts; and
    when it is over, if its beginning was told.
    """
    with transaction.atomic():
        lock_transaction(Lock.ALARMS)
        active = {(row.kind, row.subject): row for row in Alarm.objects.filter(over_at=None)}
        told = [_seen(alarm, active.pop((alarm.kind, alarm.subject), None), now) for alarm in found]
        if not any(alarm.kind == "migrations" for alarm in found):  # then nothing else was looked for
            told += [_not_seen(row, now) for row in active.values()]
        return _queue([event for event in told if event is not None], now)


Told = tuple[Alarm, AlarmNotice.Event]


def _seen(found: Alarm, row: Alarm | None, now: datetime.datetime) -> Told | None:
    row = row or Alarm(kind=found.kind, subject=found.subject, since=found.since or now, found_at=now)
    row.what, row.detail, row.remedy, row.address = found.what, found.detail, found.remedy, found.address
    row.seen_at, row.gone_at = now, None
    if row.notified_at is None:
        lately = Alarm.objects.filter(kind=found.kind, subject=found.subject, notified_at__gt=now - QUIET)
        event = None if lately.exists() else AlarmNotice.Event.BEGAN
    else:
        repeat_after = datetime.timedelta(days=settings.ALARM_REPEAT_DAYS)
        event = AlarmNotice.Event.LASTS if now - row.notified_at >= repeat_after else None
    row.notified_at = now if event else row.notified_at
    row.save()
    return (row, event) if event else None


def _not_seen(row: Alarm, now: datetime.datetime) -> Told | None:
    """Note that an alarm was not found; it is over once that has been so for a while."""
    if is_elsewhere(row) and now - row.seen_at < FORGOTTEN:
        return None
    row.gone_at = row.gone_at or now
    event = None
    if now - row.gone_at >= kind_of(row).calm:
        row.over_at = row.gone_at
        event = AlarmNotice.Event.OVER if row.notified_at else None
        row.notified_at = now if event else None
    row.save()
    return (row, event) if event else None


def _queue(told: Sequence[Told], now: datetime.datetime) -> list[AlarmNotice]:
    if not told:
        return []
    webhooks = announce_alarms([_body(*event) for event in told])
    mail = AlarmNotice.Mail.WAITING if recipients() else AlarmNotice.Mail.NONE
    return AlarmNotice.objects.bulk_create(
        AlarmNotice(alarm=row, event=event, what=row.what, made_at=now, webhooks=webhooks, mail=mail)
        for row, event in told
    )


def _body(row: Alarm, event: AlarmNotice.Event) -> dict[str, Any]:
    return {
        "event": str(event),
        "kind": row.kind,
        "subject": row.subject,
        "since": row.since.isoformat(timespec="seconds"),
        "over_at": row.over_at.isoformat(timespec="seconds") if row.over_at else None,
        "what": row.what,
        "detail": row.detail,
        "follows": kind_of(row).follows,
        "remedy": row.remedy,
        "url": settings.SITE_URL + row.address if settings.SITE_URL and row.address else row.address,
    }


# Seconds between two checks. The first comes after a pause too: a worker that has just started catches up first.
PAUSE = 180.0

logger = logging.getLogger(__name__)


def tell(found: Sequence[Alarm], now: datetime.datetime) -> None:
    """Record what a check found, and tell by e-mail what there is to tell; webhooks are queued for the worker."""
    record(found, now)
    send_waiting(now)


def watch(ended: threading.Event) -> None:
    """Check every PAUSE seconds until `ended`."""
    repeat(_check, ended, pause=PAUSE, name="Alarms")


def _check() -> None:
    now = timezone.now()
    tell(find_all(now), now)

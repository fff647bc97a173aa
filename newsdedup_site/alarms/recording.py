"""The check for alarms, every few minutes: finds what is wrong, records what begins, lasts or is over, and tells it."""

import datetime
import smtplib
import threading
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F
from django.template.loader import render_to_string
from django.utils import timezone

from articles.jobs.work import repeat
from articles.storage.locks import Lock, lock_transaction
from dedup.integrations.webhooks import announce_alarms
from newsdedup_site.access.addresses import admins
from newsdedup_site.alarms.finding import FORGOTTEN, find_all, is_elsewhere
from newsdedup_site.alarms.kinds import facts_of, grouped, kind_of
from newsdedup_site.models import Alarm, AlarmNotice

# What was told lately is not told again because it was over for a while.
QUIET = datetime.timedelta(hours=36)
# Minutes to the next try after each that failed; then always the last.
RETRY_MINUTES = (5, 5, 15, 30, 60, 120, 360)
# Of one kind, an e-mail explains so many; a network that is away makes every newspaper fail.
MOST_OF_A_KIND = 10
_MAX_ANSWER = 500
_SUBJECT_CHARACTERS = 120
# Seconds between two checks. The first comes after a pause too: a worker that has just started catches up first.
PAUSE = 180.0


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
    if now - row.gone_at >= datetime.timedelta(minutes=kind_of(row).calm_minutes):
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
    facts = facts_of(row, "kind", "subject", "since", "over_at", "what", "detail", "follows", "remedy")
    url = settings.SITE_URL + row.address if settings.SITE_URL and row.address else row.address
    return {"event": str(event), **facts, "url": url}


def recipients() -> list[str]:
    """Return who is sent alarms: ALARM_EMAIL, else every admin with an address; nobody without a mail server."""
    if not settings.SEND_EMAIL:
        return []
    return settings.ALARM_EMAIL or list(admins().exclude(email="").values_list("email", flat=True).distinct())


def send_waiting(now: datetime.datetime) -> int:
    """Send one e-mail with all notices that wait, if it is time; return how many were sent.

    The notices are locked meanwhile, so two processes never send the same. If this one is killed after the server took
    the e-mail, it is sent once more.
    """
    with transaction.atomic():
        waiting = AlarmNotice.objects.filter(mail=AlarmNotice.Mail.WAITING).order_by("pk")
        notices = list(waiting.select_related("alarm").select_for_update(of=("self",), skip_locked=True))
        if not notices or not any(_is_due(notice, now) for notice in notices):
            return 0
        rows = AlarmNotice.objects.filter(pk__in=[notice.pk for notice in notices])
        to = recipients()
        if not to:
            rows.update(mail=AlarmNotice.Mail.NONE)
            return 0
        text = render_to_string("alarms/mail.txt", _context(notices))
        fault = deliver(_subject(notices), f"{text.rstrip()}\n", to)
        tried = {"mail_tries": F("mail_tries") + 1, "mail_tried_at": now, "mail_answer": fault}
        rows.update(**tried, mail=AlarmNotice.Mail.WAITING if fault else AlarmNotice.Mail.SENT)
    return 0 if fault else len(notices)


def _is_due(notice: AlarmNotice, now: datetime.datetime) -> bool:
    if notice.mail_tried_at is None:
        return True
    minutes = RETRY_MINUTES[min(notice.mail_tries, len(RETRY_MINUTES)) - 1]
    return now - notice.mail_tried_at >= datetime.timedelta(minutes=minutes)


def deliver(subject: str, text: str, to: Sequence[str]) -> str:
    """Send an e-mail in plain text; return why it failed, or "" if the server took it."""
    # Mail programs and lists must not answer it, RFC 3834.
    headers = {"Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(subject, text, None, list(to), headers=headers).send()
    except (smtplib.SMTPException, OSError) as error:
        return f"{type(error).__name__}: {error}"[:_MAX_ANSWER]
    return ""


# What happened: the words before a subject and the heading in the text, the most urgent first.
_EVENTS = {
    AlarmNotice.Event.BEGAN: ("", "NEW"),
    AlarmNotice.Event.LASTS: ("still: ", "STILL GOING ON"),
    AlarmNotice.Event.OVER: ("over: ", "OVER"),
}


def _subject(notices: Sequence[AlarmNotice]) -> str:
    """Return what began first; what lasts or is over if nothing began."""
    order = list(_EVENTS)
    first = min(notices, key=lambda notice: (order.index(AlarmNotice.Event(notice.event)), notice.pk))
    words, _ = _EVENTS[AlarmNotice.Event(first.event)]
    what = " ".join(first.what.split())
    shown = what if len(what) <= _SUBJECT_CHARACTERS else f"{what[: _SUBJECT_CHARACTERS - 1]}…"
    more = f" (and {len(notices) - 1} more)" if len(notices) > 1 else ""
    return f"[newsdedup] {words}{shown.removesuffix('.')}{more}"


def _context(notices: Sequence[AlarmNotice]) -> dict[str, object]:
    parts = []
    for event, (_, heading) in _EVENTS.items():
        alarms = [_as_noticed(notice) for notice in notices if notice.event == event]
        kinds = [alarm.kind for alarm in alarms]
        # The longest of a kind first.
        alarms.sort(key=lambda alarm: (kinds.index(alarm.kind), alarm.since))
        if alarms:
            parts.append((heading, event == AlarmNotice.Event.OVER, grouped(alarms, MOST_OF_A_KIND)))
    return {"parts": parts, "site": settings.SITE_URL}


def _as_noticed(notice: AlarmNotice) -> Alarm:
    """Return the alarm as its notice has it, with its detail in one line."""
    alarm = notice.alarm
    alarm.what, alarm.detail = notice.what, " ".join(alarm.detail.split())[:_MAX_ANSWER]
    return alarm


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

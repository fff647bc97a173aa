"""E-mails about alarms: one for everything that waits, tried again until the server takes it."""

from __future__ import annotations

import datetime
import smtplib
from collections.abc import Sequence

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F
from django.template.loader import render_to_string

from newsdedup_site.access.rights import admins
from newsdedup_site.alarms.kinds import grouped
from newsdedup_site.models import Alarm, AlarmNotice

# Minutes to the next try after each that failed; then always the last.
RETRY_MINUTES = (5, 5, 15, 30, 60, 120, 360)
# Of one kind, an e-mail explains so many; a network that is away makes every newspaper fail.
MOST_OF_A_KIND = 10
_MAX_ANSWER = 500
_SUBJECT_CHARACTERS = 120


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
        alarms = [_told(notice) for notice in notices if notice.event == event]
        kinds = [alarm.kind for alarm in alarms]
        # The longest of a kind first.
        alarms.sort(key=lambda alarm: (kinds.index(alarm.kind), alarm.since))
        if alarms:
            parts.append((heading, event == AlarmNotice.Event.OVER, grouped(alarms, MOST_OF_A_KIND)))
    return {"parts": parts, "site": settings.SITE_URL}


def _told(notice: AlarmNotice) -> Alarm:
    """Return the alarm as its notice has it, with its detail in one line."""
    alarm = notice.alarm
    alarm.what, alarm.detail = notice.what, " ".join(alarm.detail.split())[:_MAX_ANSWER]
    return alarm

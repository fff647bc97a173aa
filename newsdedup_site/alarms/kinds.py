"""The kinds of alarms: what follows from each, and what an admin can do."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils import timezone

from newsdedup_site.models import Alarm

# What PostgreSQL (SQLSTATE 53100) and the operating system (ENOSPC, EDQUOT) say of a full disk.
_FULL_DISK = ("no space left on device", "could not extend file", "disk full", "disk quota exceeded")
# While the next try is under way, nobody knows yet whether it fails like the last one.
_NEXT_TRY = datetime.timedelta(hours=6)
FREE_DISK = (
    "Free space on this disk or enlarge it, then start again what stopped. Nothing that was stored before is lost."
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of alarm. `for_all`: whether every reader of the archive sees it, and not only admins.

    It is over once no check has found it for as long as `calm`: what comes and goes is told once.
    """

    label: str
    follows: str
    remedy: str
    for_all: bool = False
    calm: datetime.timedelta = datetime.timedelta(minutes=30)


KINDS: dict[str, Kind] = {
    "worker": Kind(
        "No worker",
        "Nothing happens by itself: no nightly run, no scheduled crawl, no import and no webhook.",
        "Start the worker on the server, and have it restarted by systemd or Docker: manage.py db_worker",
        for_all=True,
    ),
    "night": Kind(
        "Nightly run missed",
        "New articles have not been compared, and the queue lacks their pairs.",
        "See that a worker is running and that no other run holds it up. The run is caught up once it can begin.",
        for_all=True,
    ),
    "run": Kind(
        "Run stopped",
        "Articles of its days may not have been compared yet. What it finished is kept.",
        "Open the run to see why, and start the same run again: it resumes.",
        for_all=True,
        calm=_NEXT_TRY,
    ),
    "crawl": Kind(
        "Crawl missed",
        "New articles of these newspapers are missing.",
        "See that a worker is running, and which crawl holds the others up.",
        for_all=True,
    ),
    "crawl_failed": Kind(
        "Crawl failed",
        "The newspapers that it had not visited yet wait for their next crawl.",
        "Read what it printed under “Crawls of the worker”, then crawl again.",
        for_all=True,
        calm=_NEXT_TRY,
    ),
    "newspaper": Kind(
        "Newspaper fails",
        "None of its articles has been stored since.",
        "Its page says why, and what helps. If it is gone for good, end its schedule and untick “crawl”.",
        for_all=True,
    ),
    "import": Kind(
        "Import stopped",
        "A part of the file is not in the archive.",
        "Open the import and start it again: it resumes, and stores nothing twice.",
    ),
    "disk": Kind(
        "Disk nearly full",
        "Once it is full, runs, crawls and imports stop.",
        "Free space on this disk, or enlarge it.",
    ),
    "database": Kind(
        "Database large",
        "Once its disk is full, nothing can be stored, and every run, crawl and import stops.",
        "Enlarge the disk of the database server, then raise ALARM_DATABASE_GIGABYTES.",
    ),
    "migrations": Kind(
        "Tables not up to date",
        "Pages and commands of this version fail where they use what is missing.",
        "Back up, then run manage.py migrate.",
    ),
    "webhook": Kind(
        "Webhook switched off",
        "Its receiver learns nothing of clusters and alarms until it is switched on again.",
        "Tell its owner. Once the receiver answers, they switch it on; what it has missed is sent then.",
    ),
    "mail": Kind(
        "E-mail fails",
        "Nobody is told of alarms by e-mail.",
        "Check EMAIL_URL and the mail server; manage.py alarms --test sends a test. What waits is then sent by itself.",
    ),
}


# A kind that this version no longer knows.
_UNKNOWN = Kind("", "", "", calm=datetime.timedelta(0))


def kind_of(alarm: Alarm) -> Kind:
    """Return the kind of an alarm; one without words if an earlier version knew it."""
    return KINDS.get(alarm.kind, _UNKNOWN)


def found(
    kind: str, subject: str, what: str, since: Any = None, detail: str = "", remedy: str = "", address: str = ""
) -> Alarm:
    """Return an alarm as a check has found it, which is not stored; without a `remedy`, it has that of its kind.

    `since` is None if nobody knows. `subject` tells it from others of its kind, and stays the same while it lasts.
    """
    remedy = remedy or KINDS[kind].remedy
    return Alarm(kind=kind, subject=subject, what=what, since=since, detail=detail, remedy=remedy, address=address)


def facts_of(alarm: Alarm, *names: str) -> dict[str, Any]:
    """Return what programs read of an alarm: columns of it, with its times in ISO 8601, and `follows` of its kind."""
    values = vars(alarm) | {"follows": kind_of(alarm).follows}
    return {
        name: value.isoformat(timespec="seconds") if isinstance(value := values[name], datetime.datetime) else value
        for name in names
    }


class Group(NamedTuple):
    """The alarms of one kind: those shown, how many more there are, and what helps."""

    kind: Kind
    shown: list[Alarm]
    left_out: int
    remedies: list[str]


def grouped(alarms: Iterable[Alarm], most: int) -> list[Group]:
    """Return alarms by their kinds, in the order in which these come; so many of each are shown."""
    by_kind: dict[str, list[Alarm]] = {}
    for alarm in alarms:
        by_kind.setdefault(alarm.kind, []).append(alarm)
    groups = []
    for alike in by_kind.values():
        shown = alike[:most]
        remedies = list(dict.fromkeys(alarm.remedy for alarm in shown))
        groups.append(Group(kind_of(alike[0]), shown, len(alike) - len(shown), remedies))
    return groups


def remedy_of(error: str) -> str:
    """Return what helps against an error that a full disk caused; empty for any other, whose kind says it."""
    return FREE_DISK if any(words in error.lower() for words in _FULL_DISK) else ""


def in_words(moment: datetime.datetime) -> str:
    """Return a time as alarms name it, in the zone of the site."""
    local = timezone.localtime(moment)
    return f"{local.day} {local:%b %Y, %H:%M}"

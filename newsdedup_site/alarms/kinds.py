"""The kinds of alarms: what follows from each, and what an admin can do."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from django.utils import timezone

from articles.grouping import by_key
from articles.loading import read_table
from newsdedup_site.models import Alarm

# What PostgreSQL (SQLSTATE 53100) and the operating system (ENOSPC, EDQUOT) say of a full disk.
_FULL_DISK = ("no space left on device", "could not extend file", "disk full", "disk quota exceeded")
FREE_DISK = (
    "Free space on this disk or enlarge it, then start again what stopped. Nothing that was stored before is lost."
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of alarm. `for_all`: whether every reader of the archive sees it, and not only admins.

    It is over once no check has found it for `calm_minutes`: what comes and goes is told once.
    """

    label: str
    follows: str
    remedy: str
    for_all: bool = False
    calm_minutes: int = 30


KINDS = {name: Kind(**values) for name, values in read_table(Path(__file__).with_suffix(".toml")).items()}
# A kind that this version no longer knows.
_UNKNOWN = Kind("", "", "", calm_minutes=0)


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
    groups = []
    for alike in by_key((alarm.kind, alarm) for alarm in alarms).values():
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

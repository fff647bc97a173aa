"""Everything that is wrong now."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable

from newsdedup_site.alarms import crawling, detection, machine
from newsdedup_site.alarms.kinds import Found

FINDERS: tuple[Callable[[datetime.datetime], Iterable[Found]], ...] = (
    detection.find_worker,
    detection.find_missed_nights,
    detection.find_stopped_runs,
    crawling.find_missed_crawls,
    crawling.find_failed_crawl,
    crawling.find_failing_newspapers,
    detection.find_stopped_imports,
    machine.find_full_disks,
    machine.find_large_database,
    machine.find_switched_off_webhooks,
    machine.find_failing_mail,
)


def find_everywhere(now: datetime.datetime) -> list[Found]:
    """Return what an admin has to see to, also what only other machines can see and have recorded."""
    found = find_all(now)
    only_migrations = any(each.kind == "migrations" for each in found)
    return found if only_migrations else [*found, *machine.find_full_disks_elsewhere(now)]


def find_all(now: datetime.datetime) -> list[Found]:
    """Return what this machine can see that an admin has to see to, the most urgent kinds first.

    A few quick queries; nothing is written.

    While migrations wait, only they are returned: the other questions may need what they bring.
    """
    waiting = list(machine.find_waiting_migrations(now))
    return waiting or [found for find in FINDERS for found in find(now)]

"""The wrong passwords of the last day, as django-axes stores them, and the locks that follow from them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from axes.models import AccessFailureLog, AccessLog
from django.db.models import Q
from django.utils import timezone

from newsdedup_site.logins.limits import ADDRESS, LONGEST, NAME, PAIR, Failures, Limit, Lock, lock_of

_KEPT = timedelta(days=1)
# A name is known at an address for this long after its last login from there.
_KNOWN_FOR = timedelta(days=90)


@dataclass(frozen=True)
class Locked:
    """A lock: of a name at an address, of an address (`name` is empty), or of a name (`address` is empty)."""

    name: str
    address: str
    until: datetime


def lock_for(name: str, address: str | None, now: datetime) -> Lock | None:
    """Return what forbids a login with this name from this address, or None."""
    rows = AccessFailureLog.objects.filter(attempt_time__gt=now - LONGEST)
    found = list(
        rows.filter(Q(username=name) | _at(address)).values_list("username", "ip_address", "attempt_time").order_by()
    )
    failures = Failures(
        pair=[time for who, where, time in found if who == name and where == address],
        address=[time for _, where, time in found if where == address],
        name=[time for who, _, time in found if who == name],
    )
    return lock_of(failures, is_known=_is_known(name, address, now), now=now)


def forget(*, name: str = "", address: str = "") -> int:
    """Delete the failures of a name, of an address, or of both together, and return how many that were."""
    rows = AccessFailureLog.objects.all()
    if name:
        rows = rows.filter(username=name)
    if address:
        rows = rows.filter(ip_address=address)
    return rows.delete()[0] if name or address else 0


def forget_old(now: datetime) -> None:
    """Delete the failures that count for no limit any more."""
    AccessFailureLog.objects.filter(attempt_time__lt=now - _KEPT).delete()


def locks() -> list[Locked]:
    """Return what is locked now, the longest first."""
    now = timezone.now()
    groups: dict[Limit, dict[tuple[str, str], list[datetime]]] = {each: defaultdict(list) for each in _KEYS}
    rows = AccessFailureLog.objects.filter(attempt_time__gt=now - LONGEST)
    for name, address, time in rows.values_list("username", "ip_address", "attempt_time").order_by():
        for limit, (by_name, by_address) in _KEYS.items():
            groups[limit][(name or "") * by_name, (address or "") * by_address].append(time)
    found = [
        Locked(name, address, until)
        for limit, of_limit in groups.items()
        for (name, address), times in of_limit.items()
        if (until := limit.full_until(times, now))
    ]
    return sorted(found, key=lambda each: each.until, reverse=True)


# Whether a limit counts by the name, and by the address.
_KEYS = {PAIR: (True, True), ADDRESS: (False, True), NAME: (True, False)}


def _at(address: str | None) -> Q:
    return Q(ip_address=address) if address else Q(ip_address__isnull=True)


def _is_known(name: str, address: str | None, now: datetime) -> bool:
    logins = AccessLog.objects.filter(_at(address), username=name, attempt_time__gt=now - _KNOWN_FOR)
    return logins.exists()

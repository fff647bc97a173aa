"""When too many wrong passwords lock a login, and until when: the limits, as a handler of django-axes, and the page.

OWASP's Authentication Cheat Sheet and NIST SP 800-63B (5.2.2) ask for a limit by name; alone it would let anybody
lock somebody else out, and it does not see one password tried on many names.
"""

import ipaddress
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessFailureLog, AccessLog
from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from articles.querysets import given


@dataclass(frozen=True)
class Limit:
    """At most so many failures in any window of this length."""

    failures: int
    window: timedelta

    def full_until(self, failures: Sequence[datetime], now: datetime) -> datetime | None:
        """Return when the next attempt is allowed, or None if it is allowed now. The order of failures is free."""
        recent = sorted((failure for failure in failures if failure > now - self.window), reverse=True)
        return recent[self.failures - 1] + self.window if len(recent) >= self.failures else None


LIMITS = {
    "pair": Limit(10, timedelta(minutes=15)),  # of one name from one address
    "address": Limit(20, timedelta(hours=1)),  # of all names from one address
    "name": Limit(50, timedelta(hours=1)),  # of one name from all addresses
    # Instead of the last two for a name that has logged in from this address before: a colleague who shares the
    # address, or a stranger who guesses the name's password elsewhere, cannot lock it out.
    "known": Limit(3, timedelta(hours=1)),
}
LONGEST = max(limit.window for limit in LIMITS.values())


class Lock(NamedTuple):
    """A limit that is reached, by its name in LIMITS, and when the next attempt is allowed."""

    kind: str
    until: datetime


def lock_of(failures: Mapping[str, Sequence[datetime]], *, is_known: bool, now: datetime) -> Lock | None:
    """Return the lock that holds longest, or None.

    `failures`: when those were that count for each limit. `is_known`: the name has logged in from this address before.
    """
    ends = {kind: LIMITS[kind].full_until(times, now) for kind, times in failures.items()}
    wide = [end for kind in ("address", "name") if (end := ends[kind])]
    if is_known and wide:
        own = LIMITS["known"].full_until(failures["pair"], now)
        ends = {"pair": ends["pair"], "known": own and min(own, max(wide))}
    return max((Lock(kind, end) for kind, end in ends.items() if end), key=lambda lock: lock.until, default=None)


# Older failures count for no limit.
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
    failures = {
        "pair": [time for who, where, time in found if who == name and where == address],
        "address": [time for _, where, time in found if where == address],
        "name": [time for who, _, time in found if who == name],
    }
    logins = AccessLog.objects.filter(_at(address), username=name, attempt_time__gt=now - _KNOWN_FOR)
    return lock_of(failures, is_known=logins.exists(), now=now)


def forget(*, name: str = "", address: str = "") -> int:
    """Delete the failures of a name, of an address, or of both together, and return how many that were."""
    bounds = given(username=name or None, ip_address=address or None)
    return AccessFailureLog.objects.filter(bounds).delete()[0] if name or address else 0


def locks() -> list[Locked]:
    """Return what is locked now, the longest first."""
    now = timezone.now()
    groups: dict[str, dict[tuple[str, str], list[datetime]]] = {kind: defaultdict(list) for kind in _KEYS}
    rows = AccessFailureLog.objects.filter(attempt_time__gt=now - LONGEST)
    for name, address, time in rows.values_list("username", "ip_address", "attempt_time").order_by():
        for kind, (by_name, by_address) in _KEYS.items():
            groups[kind][(name or "") * by_name, (address or "") * by_address].append(time)
    found = [
        Locked(name, address, until)
        for kind, of_kind in groups.items()
        for (name, address), times in of_kind.items()
        if (until := LIMITS[kind].full_until(times, now))
    ]
    return sorted(found, key=lambda lock: lock.until, reverse=True)


# Whether a limit counts by the name, and by the address.
_KEYS = {"pair": (True, True), "address": (False, True), "name": (True, False)}


def _at(address: str | None) -> Q:
    return Q(ip_address=address) if address else Q(ip_address__isnull=True)


class LimitsHandler(AxesDatabaseHandler):
    """Counts failures one by one, each limit in its own window; django-axes has one limit and one window for all.

    A login clears the failures of its name at its address alone: with an own account nobody clears their guesses at
    others. An attempt while locked is refused unread and not counted, so a lock always ends.
    """

    def is_locked(self, request: Any, credentials: dict[str, Any] | None = None) -> bool:
        """Return whether a limit is reached, and leave the lock for the page."""
        name = get_client_username(request, credentials) or ""
        request.login_lock = lock_for(name, request.axes_ip_address, request.axes_attempt_time)
        return request.login_lock is not None

    def user_login_failed(self, _sender: Any, credentials: dict[str, Any], request: Any = None, **_kwargs: Any) -> None:
        """Store a failure, and lock if it was one too many."""
        if request is None or request.axes_locked_out:
            return
        AccessFailureLog.objects.create(
            username=get_client_username(request, credentials) or "",
            ip_address=request.axes_ip_address,
            user_agent=request.axes_user_agent,
            http_accept=request.axes_http_accept,
            path_info=request.axes_path_info,
        )
        AccessFailureLog.objects.filter(attempt_time__lt=request.axes_attempt_time - _KEPT).delete()
        request.axes_locked_out = self.is_locked(request, credentials)

    def user_logged_in(self, sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
        """Store the login, which makes the name known at this address, and clear its failures here."""
        super().user_logged_in(sender, request, user, **kwargs)
        if request.axes_ip_address:
            forget(name=user.get_username(), address=request.axes_ip_address)

    def reset_attempts(
        self, *, ip_address: str | None = None, username: str | None = None, ip_or_username: bool = False
    ) -> int:
        """Clear failures for the commands axes_reset, axes_reset_ip and axes_reset_username."""
        if ip_or_username:
            return forget(name=username or "") + forget(address=ip_address or "")
        if username or ip_address:
            return forget(name=username or "", address=ip_address or "")
        cleared: int = AccessFailureLog.objects.all().delete()[0]
        return cleared


@never_cache
def locked_out(request: HttpRequest, _response: object, _credentials: object) -> HttpResponse:
    """Answer 429 with a page that says until when, and Retry-After."""
    lock = request.login_lock  # type: ignore[attr-defined]
    seconds = max(1, math.ceil((lock.until - timezone.now()).total_seconds()))
    minutes = math.ceil(seconds / 60)
    shown = {
        "kind": lock.kind,
        "limit": LIMITS[lock.kind],
        "minutes": minutes,
        # Whole minutes, and never too early.
        "until": timezone.now() + timedelta(minutes=minutes),
    }
    answer = render(request, "accounts/locked_out.html", shown, status=429)
    answer["Retry-After"] = str(seconds)
    return answer


def counted_address(request: HttpRequest) -> str | None:
    """Return the address for which a wrong password counts; None for a Unix socket without a proxy's header.

    X-Forwarded-For is believed only behind a proxy, and only its last entry, the address that our own proxy saw: the
    client writes the earlier ones and could change them with every attempt. IPv6 addresses of one network of 64 bits
    count together, because every customer has at least one such network (RFC 6177).
    """
    seen = [request.META.get("REMOTE_ADDR", "")]
    if settings.BEHIND_TLS_PROXY:
        seen.insert(0, request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip())
    for text in seen:
        with suppress(ValueError):
            return _counted(ipaddress.ip_address(text))
    return None


def _counted(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False).network_address)

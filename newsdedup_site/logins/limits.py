"""When too many wrong passwords lock a login, and until when. Pure functions of the times of the failures.

OWASP's Authentication Cheat Sheet and NIST SP 800-63B (5.2.2) ask for a limit by name; alone it would let anybody
lock somebody else out, and it does not see one password tried on many names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Limit:
    """At most so many failures in any window of this length."""

    failures: int
    window: timedelta

    def full_until(self, failures: Sequence[datetime], now: datetime) -> datetime | None:
        """Return when the next attempt is allowed, or None if it is allowed now. The order of failures is free."""
        recent = sorted((failure for failure in failures if failure > now - self.window), reverse=True)
        return recent[self.failures - 1] + self.window if len(recent) >= self.failures else None


PAIR = Limit(10, timedelta(minutes=15))  # of one name from one address
ADDRESS = Limit(20, timedelta(hours=1))  # of all names from one address
NAME = Limit(50, timedelta(hours=1))  # of one name from all addresses
# Instead of ADDRESS and NAME for a name that has logged in from this address before: a colleague who shares the
# address, or a stranger who guesses the name's password elsewhere, cannot lock it out.
KNOWN = Limit(3, timedelta(hours=1))
LONGEST = max(limit.window for limit in (PAIR, ADDRESS, NAME, KNOWN))


@dataclass(frozen=True)
class Lock:
    """A limit that is reached ("pair", "address", "name" or "known"), and when the next attempt is allowed."""

    kind: str
    until: datetime


@dataclass(frozen=True)
class Failures:
    """The times of the failures that count for an attempt: of its name and address, its address, its name."""

    pair: Sequence[datetime]
    address: Sequence[datetime]
    name: Sequence[datetime]


def lock_of(failures: Failures, *, is_known: bool, now: datetime) -> Lock | None:
    """Return the lock that holds longest, or None. `is_known`: the name has logged in from this address before."""
    locks = [_lock("pair", PAIR, failures.pair, now)]
    wide = [_lock("address", ADDRESS, failures.address, now), _lock("name", NAME, failures.name, now)]
    ends = [lock.until for lock in wide if lock]
    if is_known and ends:
        own = _lock("known", KNOWN, failures.pair, now)
        locks.append(own and Lock(own.kind, min(own.until, max(ends))))
    else:
        locks += wide
    return max((lock for lock in locks if lock), key=lambda lock: lock.until, default=None)


def _lock(kind: str, limit: Limit, failures: Sequence[datetime], now: datetime) -> Lock | None:
    until = limit.full_until(failures, now)
    return Lock(kind, until) if until else None

"""What crawls remember of the pace of sites, written here only."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone

from crawlers.models import SitePace

# A site is forgotten after this time without a visit, and its slowness is halved each day.
KEPT_DAYS = 90
HALVED_EACH = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Remembered:
    """The pause that the site's answers led to, that after it asked for fewer requests (both in seconds), and until
    when it asked to wait (in seconds since 1970; 0: not).
    """

    delay: float = 0.0
    penalty: float = 0.0
    waits_until: float = 0.0


def remembered(site: str) -> Remembered | None:
    """Return what is remembered of a site; None if it is new."""
    row = SitePace.objects.filter(site=site).first()
    if row is None:
        return None
    share = 0.5 ** ((timezone.now() - row.seen_at) / HALVED_EACH)
    waits_until = row.waits_until.timestamp() if row.waits_until else 0.0
    return Remembered(row.delay * share, row.penalty * share, waits_until)


def remember(paces: Mapping[str, Remembered]) -> None:
    """Remember the paces of these sites, and forget sites that were not visited for KEPT_DAYS."""
    now = timezone.now()
    rows = [
        SitePace(
            site=site,
            delay=each.delay,
            penalty=each.penalty,
            waits_until=datetime.datetime.fromtimestamp(each.waits_until, datetime.UTC) if each.waits_until else None,
            seen_at=now,
        )
        for site, each in sorted(paces.items())
    ]
    fields = ["delay", "penalty", "waits_until", "seen_at"]
    SitePace.objects.bulk_create(rows, update_conflicts=True, unique_fields=["site"], update_fields=fields)
    SitePace.objects.filter(seen_at__lt=now - datetime.timedelta(days=KEPT_DAYS)).delete()

"""The record of visits, written here only."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from django.utils import timezone

from articles.normalization.logins import without_logins
from crawlers.models import Visit

# A running crawl gives a sign of life every BEAT seconds; after SILENCE seconds without one it counts as broken off.
BEAT = 10
SILENCE = 120
KEPT_DAYS = 90
MAX_EXAMPLE_CHARACTERS = 500


def begin_visit(newspaper_id: int, spider: str) -> Visit:
    return Visit.objects.create(newspaper_id=newspaper_id, spider=spider)


def record_counts(visit: Visit, counts: Mapping[str, int], examples: Mapping[str, str]) -> None:
    """Save the counts so far, which is also a sign of life."""
    failures = {name.removeprefix("failed/"): number for name, number in counts.items() if name.startswith("failed/")}
    for name in (
        "stored",
        "known",
        "unchanged",
        "refused_earlier",
        "left_out",
        "paywalled",
        "rechecked",
        "changed",
        "gone",
    ):
        setattr(visit, name, counts.get(name, 0))
    visit.failed = sum(failures.values())
    visit.failures = [
        {"reason": _storable(reason), "number": number, "url": _storable(examples.get(reason, ""))}
        for reason, number in sorted(failures.items(), key=lambda failure: (-failure[1], failure[0]))
    ]
    visit.save()


def end_visit(visit: Visit, state: Visit.State, counts: Mapping[str, int], examples: Mapping[str, str]) -> None:
    visit.state = state
    record_counts(visit, counts, examples)


def tidy_visits() -> None:
    """Mark visits of killed crawls as broken off, and delete old ones. Call it only while no other crawl runs."""
    Visit.objects.filter(state=Visit.State.RUNNING).update(state=Visit.State.BROKEN_OFF)
    Visit.objects.filter(started_at__lt=timezone.now() - datetime.timedelta(days=KEPT_DAYS)).delete()


def _storable(text: str) -> str:
    """Return the text, shortened, without characters that jsonb cannot hold: addresses come from anywhere."""
    return without_logins(text)[:MAX_EXAMPLE_CHARACTERS].replace("\0", "").encode(errors="replace").decode()

"""Which newspapers a crawl visits, and the record of its visits and of the pace of sites, written here only."""

import datetime
from collections.abc import Iterable, Mapping, Sequence

from django.utils import timezone

from articles.models import Newspaper
from articles.normalization.logins import without_logins
from articles.normalization.text import storable
from articles.storage.newspapers import newspapers_named
from crawlers.models import SitePace, Visit


def newspapers_to_crawl(references: Sequence[str]) -> list[Newspaper]:
    """Return the newspapers of these names or ids; without any, all with crawl=True. Raises UnknownNewspaperError."""
    every = Newspaper.objects.in_use().filter(crawl=True).order_by("name")
    return newspapers_named(references) if references else list(every)


# A running crawl gives a sign of life every BEAT seconds; after SILENCE seconds without one it counts as broken off.
BEAT = 10
SILENCE = 120
# Visits are kept for so long, and what is remembered of a site without one.
KEPT_DAYS = 90
MAX_EXAMPLE_CHARACTERS = 500


def begin_visit(newspaper_id: int, spider: str) -> Visit:
    return Visit.objects.create(newspaper_id=newspaper_id, spider=spider)


def record_counts(visit: Visit, counts: Mapping[str, int], examples: Mapping[str, str]) -> None:
    """Save the counts so far, which is also a sign of life."""
    failures = failures_of(counts)
    for name in Visit.COUNTS:
        setattr(visit, name, counts.get(name, 0))
    visit.failed = sum(failures.values())
    visit.failures = [
        {"reason": _shown(reason), "number": number, "url": _shown(examples.get(reason, ""))}
        for reason, number in sorted(failures.items(), key=lambda failure: (-failure[1], failure[0]))
    ]
    visit.save()


def failures_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the failures among the counts of a visit, by their reasons."""
    return {name.removeprefix("failed/"): number for name, number in counts.items() if name.startswith("failed/")}


def end_visit(visit: Visit, state: Visit.State, counts: Mapping[str, int], examples: Mapping[str, str]) -> None:
    visit.state = state
    record_counts(visit, counts, examples)


def tidy_visits() -> None:
    """Mark visits of killed crawls as such, and delete old ones. Call it only while no other crawl runs."""
    Visit.objects.filter(state=Visit.State.RUNNING).update(state=Visit.State.STOPPED_UNEXPECTEDLY)
    Visit.objects.filter(started_at__lt=timezone.now() - datetime.timedelta(days=KEPT_DAYS)).delete()


def _shown(text: str) -> str:
    """Return the text, shortened, as jsonb can hold it: addresses come from anywhere."""
    return storable(without_logins(text)[:MAX_EXAMPLE_CHARACTERS])


# The slowness of a site is halved each day.
HALVED_EACH = datetime.timedelta(days=1)


def remembered(site: str) -> SitePace | None:
    """Return what is remembered of a site, as it counts now; None if it is new."""
    row = SitePace.objects.filter(site=site).first()
    if row is not None:
        share = 0.5 ** ((timezone.now() - row.seen_at) / HALVED_EACH)
        row.delay, row.penalty = row.delay * share, row.penalty * share
    return row


def remember(paces: Iterable[SitePace]) -> None:
    """Remember the paces of these sites as of now, and forget sites that were not visited for KEPT_DAYS."""
    now = timezone.now()
    rows = sorted(paces, key=lambda pace: pace.site)
    for row in rows:
        row.seen_at = now
    fields = ["delay", "penalty", "waits_until", "seen_at"]
    SitePace.objects.bulk_create(rows, update_conflicts=True, unique_fields=["site"], update_fields=fields)
    SitePace.objects.filter(seen_at__lt=now - datetime.timedelta(days=KEPT_DAYS)).delete()

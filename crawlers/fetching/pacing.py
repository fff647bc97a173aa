"""How fast each site is asked: one request at a time, with pauses, whichever crawl, spider or newspaper asks.

The pause follows the site's answers, as Scrapy's AutoThrottle does for each crawl by itself. It is at least what
robots.txt asks for, and grows when the site asks for fewer requests (HTTP 429 or 503). If the site says when to come
back (Retry-After; RFC 9110, 10.2.3), nothing is asked before. All of that is remembered over crawls, in SitePace.
"""

from __future__ import annotations

import asyncio
import datetime
import email.utils
import math
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from scrapy.settings import BaseSettings

from crawlers import models, visits
from crawlers.database import LOST, in_database
from crawlers.faults import RefusedError
from crawlers.fetching.sites import shared_site
from crawlers.reasons import SITE_WAITS

# Statuses by which a site asks for fewer requests.
SLOW_DOWN = frozenset({429, 503})
# A longer Retry-After is taken for this one, in seconds: a mistake must not lose a newspaper.
LONGEST_RETRY_AFTER = 7 * 86_400.0
# A longer Crawl-delay is taken for this one, in seconds.
LONGEST_CRAWL_DELAY = 300.0
# The pause after SLOW_DOWN: doubled each time, and reduced by each other answer.
_SLOWEST = 60.0
_RECOVERY = 0.8


@dataclass(frozen=True, slots=True)
class Bounds:
    """The settings of a crawl, in seconds. `longest_wait` is how long a crawl waits for a Retry-After."""

    least: float
    start: float
    most: float
    slow_down: float
    longest_wait: float
    adapts: bool
    remembers: bool

    @classmethod
    def of(cls, settings: BaseSettings) -> Bounds:
        """Return those of a crawl."""
        return cls(
            settings.getfloat("DOWNLOAD_DELAY"),
            settings.getfloat("AUTOTHROTTLE_START_DELAY"),
            settings.getfloat("AUTOTHROTTLE_MAX_DELAY"),
            settings.getfloat("SLOW_DOWN_DELAY"),
            settings.getfloat("RETRY_AFTER_LONGEST"),
            settings.getbool("AUTOTHROTTLE_ENABLED"),
            settings.getbool("SITES_REMEMBERED"),
        )


@dataclass(slots=True)
class SitePace:
    """What is known of a site's pace; the times of its last request are seconds since 1970.

    `row` is what later crawls remember: `delay` follows how long the site takes to answer, and `penalty` how often it
    asked for fewer requests. `crawl_delay` is what its robots.txt asks for.
    """

    row: models.SitePace
    crawl_delay: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def waits_until(self) -> float:
        """When it may be asked again, if it said so; else 0."""
        return self.row.waits_until.timestamp() if self.row.waits_until else 0.0

    def free_at(self, bounds: Bounds) -> float:
        """Return when the next request may begin, apart from Retry-After."""
        usual = max(bounds.least, self.row.delay if bounds.adapts else 0.0)
        return max(self.began + usual, self.ended + max(self.crawl_delay, self.row.penalty))

    def answered(self, bounds: Bounds, status: int, latency: float, retry_after: float | None) -> None:
        """Note an answer: its status, after how many seconds it came, and the seconds that it asks to wait."""
        row = self.row
        row.delay = next_delay(bounds, row.delay, latency, status)
        if status not in SLOW_DOWN:
            row.penalty = row.penalty * _RECOVERY if row.penalty > 0.1 else 0.0
            return
        row.penalty = min(max(2 * row.penalty, bounds.slow_down), _SLOWEST) if bounds.slow_down else 0.0
        if retry_after is not None:
            until = max(self.waits_until, time.time() + retry_after)
            row.waits_until = datetime.datetime.fromtimestamp(until, datetime.UTC)


def next_delay(bounds: Bounds, delay: float, latency: float, status: int) -> float:
    """Return the pause after an answer: as long as the site takes to answer, approached by half each time.

    Errors are often quick, so they do not make it shorter. The rule is that of Scrapy's AutoThrottle
    (docs.scrapy.org/en/latest/topics/autothrottle.html).
    """
    new = min(max(latency, (delay + latency) / 2, bounds.least), max(bounds.most, bounds.least))
    return delay if status != 200 and new < delay else new


def retry_after(value: str, now: datetime.datetime) -> float | None:
    """Return the seconds that a Retry-After header asks to wait, 0 to LONGEST_RETRY_AFTER; None if it says nothing."""
    text = value.strip()
    if text.isdecimal():
        # A number of so many digits is no time anyway.
        return min(float(text[:12]), LONGEST_RETRY_AFTER)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return min(max((moment - now).total_seconds(), 0.0), LONGEST_RETRY_AFTER)


class Sites:
    """The paces of all sites that the crawls of this process ask."""

    def __init__(self) -> None:
        self._sites: dict[str, SitePace] = {}
        self._stopped = asyncio.Event()

    @asynccontextmanager
    async def turn(self, url: str, bounds: Bounds) -> AsyncIterator[SitePace]:
        """Wait until the site may be asked, and keep others from asking it meanwhile.

        Raises RefusedError if the site asked to wait for longer than this crawl does.
        """
        key = shared_site(url)
        site = await self._site(key, bounds)
        async with site.lock:
            await self._wait(site, bounds)
            site.began = time.time()
            before = site.waits_until
            try:
                yield site
            finally:
                site.ended = time.time()
                if bounds.remembers and site.waits_until > before:
                    await _save([site])

    def set_crawl_delay(self, url: str, seconds: float) -> None:
        """Keep at least this pause between two requests to the site of a URL, from now on."""
        if (site := self._sites.get(shared_site(url))) and math.isfinite(seconds):
            site.crawl_delay = max(site.crawl_delay, min(seconds, LONGEST_CRAWL_DELAY))

    def stop_waiting(self) -> None:
        """Refuse the requests that wait for a Retry-After: the crawl was interrupted."""
        self._stopped.set()

    async def save(self) -> None:
        """Remember the paces for later crawls."""
        await _save(self._sites.values())

    async def _site(self, key: str, bounds: Bounds) -> SitePace:
        if key not in self._sites:
            row = models.SitePace(site=key, delay=0.0, penalty=0.0)
            if bounds.remembers:
                with suppress(*LOST):
                    known = await in_database(visits.remembered, key)
                    row = known or row
            row.delay = max(bounds.least, bounds.start, row.delay) if bounds.adapts else bounds.least
            # Another request may have come first meanwhile.
            self._sites.setdefault(key, SitePace(row))
        return self._sites[key]

    async def _wait(self, site: SitePace, bounds: Bounds) -> None:
        while (seconds := max(site.waits_until, site.free_at(bounds)) - time.time()) > 0:
            asked = site.waits_until - time.time()
            if asked > bounds.longest_wait or (asked > 0 and self._stopped.is_set()):
                raise RefusedError(f"{SITE_WAITS}: until {site.row.waits_until:%Y-%m-%d %H:%M} UTC")
            if asked > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), seconds)
            else:
                await asyncio.sleep(seconds)


async def _save(paces: Iterable[SitePace]) -> None:
    with suppress(*LOST):  # then the next crawl asks as it would ask a new site
        await in_database(visits.remember, [pace.row for pace in paces])


sites = Sites()

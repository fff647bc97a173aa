"""What robots.txt allows (RFC 9309), and the pause that it asks for."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from crawlers.faults import RefusedError, reason_of
from crawlers.fetching.pacing import sites
from crawlers.reasons import SITE_WAITS

# RFC 9309, 2.4: a copy is used for 24 hours at most. What could not be read is asked for sooner.
KEPT_SECONDS = 86_400.0
RETRY_SECONDS = 600.0
_UNREACHABLE = "robots.txt unreachable"
# The fault is of the host and not of its robots.txt.
_OF_THE_HOST = frozenset({"unknown host", "connection refused", SITE_WAITS})
# Faults that are not of the server or the network: RFC 9309, 2.3.1.2, on redirects; and what no crawler could read.
_FORBIDS_NOTHING = frozenset({"too large", "unreadable compression"})


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of a host; none if it has no robots.txt. With a `fault`, all is forbidden for now, for this reason."""

    until: float
    rules: Protego | None = None
    fault: str = ""


class RobotsMiddleware:
    """Drops requests that robots.txt forbids. If it answers with an error of the server, or not at all, all are.

    The crawls of a process share what they have read: by scheme, host and port.
    """

    _read: dict[str, Robots] = {}
    _reading: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self.crawler = crawler
        self.agent: str = crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get("dont_obey_robotstxt"):
            return
        robots = await self._robots(request.url)
        if robots.fault:
            raise RefusedError(robots.fault)
        if robots.rules and not robots.rules.can_fetch(request.url, self.agent):
            raise RefusedError("Forbidden by robots.txt")

    async def _robots(self, url: str) -> Robots:
        parts = urlsplit(url)
        host = f"{parts.scheme}://{parts.netloc}"
        async with self._reading[host]:
            known = self._read.get(host)
            if known is None or known.until < time.monotonic():
                known = self._read[host] = await self._asked(host)
            if known.rules:
                sites.set_crawl_delay(url, pause_of(known.rules, self.agent))
            return known

    async def _asked(self, host: str) -> Robots:
        request = Request(f"{host}/robots.txt", callback=NO_CALLBACK, meta={"dont_obey_robotstxt": True})
        now = time.monotonic()
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - whatever it is, robots.txt cannot be read
            fault = _fault_of(error)
            return Robots(now + RETRY_SECONDS if fault else now + KEPT_SECONDS, fault=fault)
        if fault := fault_of_status(response.status):
            return Robots(now + RETRY_SECONDS, fault=fault)
        return Robots(now + KEPT_SECONDS, _rules(response))


def pause_of(rules: Protego, agent: str) -> float:
    """Return the seconds between two requests that Crawl-delay or Request-rate asks for; 0 without either."""
    rate = rules.request_rate(agent)
    least = rate.seconds / rate.requests if rate and rate.requests else 0.0
    return max(float(rules.crawl_delay(agent) or 0.0), least, 0.0)


def fault_of_status(status: int) -> str:
    """Return why nothing may be fetched after this status of robots.txt; empty if that depends on its rules.

    RFC 9309, 2.3.1.3 and 2.3.1.4: a missing robots.txt (4xx) allows everything, one that cannot be had (5xx) nothing.
    429 says "not now", as 503 does.
    """
    return f"{_UNREACHABLE}: HTTP {status}" if status == 429 or status >= 500 else ""


def _fault_of(error: Exception) -> str:
    reason = reason_of(error)
    if reason.partition(": ")[0] in _OF_THE_HOST:
        return reason
    refused = isinstance(error, IgnoreRequest) and reason != "cut off"
    return "" if refused or reason in _FORBIDS_NOTHING else f"{_UNREACHABLE}: {reason}"


def _rules(response: Response) -> Protego | None:
    if not 200 <= response.status < 300:
        return None
    # Whatever is not UTF-8 is no rule, but the other lines are.
    return Protego.parse(response.body.decode("utf-8-sig", "ignore"))

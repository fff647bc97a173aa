"""What a site asks of crawlers: robots.txt (RFC 9309) and its pause; noindex; text and data mining that is reserved.

Mining is reserved by W3C's TDM Reservation Protocol.
"""

import asyncio
import json
import math
import re
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from html import unescape
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from crawlers.faults import RefusedError, reason_of
from crawlers.fetching.pacing import sites
from crawlers.reasons import NOINDEX, SITE_WAITS, TDM_RESERVED

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

    rules: Protego | None = None
    fault: str = ""


class _HostFileMiddleware(ABC):
    """Reads a file of each host. The crawls of a process share what they have read."""

    file: ClassVar[str]
    asked_with: ClassVar[dict[str, Any]]
    # By the URL of the file: until when it is used, in seconds of time.monotonic(), and what it says.
    _read: dict[str, tuple[float, Any]] = {}
    _reading: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def _said(self, url: str) -> Any:
        """Return what the host of a URL says in its file."""
        parts = urlsplit(url)
        address = f"{parts.scheme}://{parts.netloc}{self.file}"
        async with self._reading[address]:
            if self._read.get(address, (-math.inf, None))[0] < time.monotonic():
                request = Request(address, callback=NO_CALLBACK, meta=self.asked_with)
                now = time.monotonic()
                try:
                    answer: Response | Exception = await self.crawler.engine.download_async(request)
                except Exception as error:  # noqa: BLE001 - whatever it is, the file cannot be read
                    answer = error
                kept, said = self._understood(answer)
                self._read[address] = now + kept, said
            return self._read[address][1]

    @abstractmethod
    def _understood(self, answer: Response | Exception) -> tuple[float, Any]:
        """Return for how many seconds an answer is used, and what it says."""


class RobotsMiddleware(_HostFileMiddleware):
    """Drops requests that robots.txt forbids. If it answers with an error of the server, or not at all, all are."""

    file = "/robots.txt"
    asked_with = {"dont_obey_robotstxt": True}

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        super().__init__(crawler)
        self.agent: str = crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"]

    async def process_request(self, request: Request) -> None:
        if request.meta.get("dont_obey_robotstxt"):
            return
        robots: Robots = await self._said(request.url)
        if robots.rules:
            sites.set_crawl_delay(request.url, pause_of(robots.rules, self.agent))
        if robots.fault:
            raise RefusedError(robots.fault)
        if robots.rules and not robots.rules.can_fetch(request.url, self.agent):
            raise RefusedError("Forbidden by robots.txt")

    def _understood(self, answer: Response | Exception) -> tuple[float, Robots]:
        if fault := _fault_of(answer) if isinstance(answer, Exception) else fault_of_status(answer.status):
            return RETRY_SECONDS, Robots(fault=fault)
        if isinstance(answer, Exception) or not 200 <= answer.status < 300:
            return KEPT_SECONDS, Robots()
        # Whatever is not UTF-8 is no rule, but the other lines are.
        return KEPT_SECONDS, Robots(Protego.parse(answer.body.decode("utf-8-sig", "ignore")))


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


# -- What pages and sites reserve --------------------------------------------------------------------------------

# Metadata further down a page are not looked for.
_HEAD_CHARACTERS = 200_000
# Each of these takes a time in proportion to the page, whatever it contains.
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style|template)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_META = re.compile(r"<meta\b", re.IGNORECASE)
_META_CHARACTERS = 4_000
_INSIDE = re.compile(r"(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+")
_ATTRIBUTE = re.compile(r"(?<![a-zA-Z-])([a-zA-Z-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]++))")
_FORBIDS_INDEX = frozenset({"noindex", "none"})
# Rules of X-Robots-Tag that have a colon, as the name of a crawler before its rules has.
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class ReservationsMiddleware(_HostFileMiddleware):
    """Refuses articles whose page says noindex (NOINDEX_OBEY), or for which mining is reserved (TDM_OBEY)."""

    file = "/.well-known/tdmrep.json"
    asked_with = {"dont_retry": True}

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.noindex = crawler.settings.getbool("NOINDEX_OBEY")
        self.tdm = crawler.settings.getbool("TDM_OBEY")
        self.names = {"robots", crawler.settings["BOT_NAME"].lower()}

    async def process_request(self, request: Request) -> None:
        if self.tdm and "article_link" in request.meta:
            parts = urlsplit(request.url)
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            if reserved_by(await self._said(request.url), path):
                raise RefusedError(TDM_RESERVED)

    def process_response(self, request: Request, response: Response) -> Response:
        if "article_link" not in request.meta or response.status != 200:
            return response
        metas = list(meta_elements(response.text)) if isinstance(response, HtmlResponse) else []
        if self.noindex:
            said = [_text(value) for value in response.headers.getlist("X-Robots-Tag")]
            if forbids_index(said, metas, self.names):
                raise RefusedError(NOINDEX)
        # The page's word counts more than the header's.
        said = [content.strip() for name, content in metas if name == "tdm-reservation"]
        said += [_text(value).strip() for value in response.headers.getlist("tdm-reservation")]
        if self.tdm and said[:1] == ["1"]:
            raise RefusedError(TDM_RESERVED)
        return response

    def _understood(self, answer: Response | Exception) -> tuple[float, list[tuple[str, bool]]]:
        if isinstance(answer, Exception) or answer.status != 200:
            return math.inf, []  # a site whose rules cannot be had has reserved nothing
        return math.inf, read_rules(answer.body)


def meta_elements(html: str) -> Iterator[tuple[str, str]]:
    """Yield the name, in lower case, and the content of each meta element near the beginning of a page."""
    for piece in _META.split(_HIDDEN.sub(" ", html[:_HEAD_CHARACTERS]))[1:]:
        inside = _INSIDE.match(piece[:_META_CHARACTERS])
        found = _ATTRIBUTE.findall(inside[0] if inside else "")
        values = {name.lower(): one or two or three for name, one, two, three in found}
        if "name" in values and "content" in values:
            yield values["name"].strip().lower(), unescape(values["content"])


def forbids_index(headers: Iterable[str], metas: Iterable[tuple[str, str]], names: set[str]) -> bool:
    """Return whether X-Robots-Tag headers or meta elements say noindex to all crawlers, or to one of these names.

    The rules: developers.google.com/search/docs/crawling-indexing/robots-meta-tag.
    """
    for header in headers:
        agent = "robots"
        for part in header.lower().split(","):
            before, colon, after = (piece.strip() for piece in part.partition(":"))
            is_agent = bool(colon) and before not in _WITH_VALUE
            agent = before if is_agent else agent
            if agent in names and (after if is_agent else before) in _FORBIDS_INDEX:
                return True
    return any(name in names and _FORBIDS_INDEX & set(re.split(r"[,\s]+", content.lower())) for name, content in metas)


def read_rules(body: bytes) -> list[tuple[str, bool]]:
    """Return the locations of a tdmrep.json, and whether each is reserved; what cannot be read is left out."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return []
    rules: list[Any] = found if isinstance(found, list) else [found]
    return [
        (rule["location"], str(rule.get("tdm-reservation")) == "1")
        for rule in rules
        if isinstance(rule, dict) and isinstance(rule.get("location"), str)
    ]


def reserved_by(rules: Iterable[tuple[str, bool]], path: str) -> bool:
    """Return what the rule with the longest location that fits a path says, as in robots.txt; without one, False."""
    fitting = [(len(location), reserved) for location, reserved in rules if _fits(location, path)]
    return max(fitting)[1] if fitting else False


def _fits(location: str, path: str) -> bool:
    # As in robots.txt: the beginning of a path, in which * is any characters, and $ the end.
    pattern = location.removesuffix("$") if location.endswith("$") else f"{location}*"
    return fnmatchcase(path, re.sub(r"([\[?])", r"[\1]", pattern))


def _text(value: bytes) -> str:
    return value.decode("latin-1")

"""What a page or its site reserves: noindex, and text and data mining (W3C's TDM Reservation Protocol)."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from html import unescape
from typing import Any, Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from crawlers.faults import RefusedError
from crawlers.reasons import NOINDEX, TDM_RESERVED

WELL_KNOWN = "/.well-known/tdmrep.json"
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


class ReservationsMiddleware:
    """Refuses articles whose page says noindex (NOINDEX_OBEY), or for which mining is reserved (TDM_OBEY)."""

    # Of all instances: the rules of tdmrep.json by scheme, host and port.
    _read: dict[str, list[tuple[str, bool]]] = {}
    _reading: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.noindex = crawler.settings.getbool("NOINDEX_OBEY")
        self.tdm = crawler.settings.getbool("TDM_OBEY")
        self.names = {"robots", crawler.settings["BOT_NAME"].lower()}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if self.tdm and "article_link" in request.meta:
            parts = urlsplit(request.url)
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            if reserved_by(await self._rules(f"{parts.scheme}://{parts.netloc}"), path):
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

    async def _rules(self, host: str) -> list[tuple[str, bool]]:
        async with self._reading[host]:
            if host not in self._read:
                self._read[host] = await self._asked(host)
            return self._read[host]

    async def _asked(self, host: str) -> list[tuple[str, bool]]:
        request = Request(host + WELL_KNOWN, callback=NO_CALLBACK, meta={"dont_retry": True})
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception:  # noqa: BLE001 - a site whose rules cannot be had has reserved nothing
            return []
        return read_rules(response.body) if response.status == 200 else []


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

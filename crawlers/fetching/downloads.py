"""Downloads: Scrapy's, with additional bounds and readable errors."""

import datetime
import re
import zlib
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler, _LenientHTTP11ClientProtocol
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.responsetypes import responsetypes
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS
from twisted.web.client import _HTTP11ClientFactory

from articles.normalization.url_patterns import finds
from crawlers.faults import HeadersTooLargeError, RefusedError, reason_of
from crawlers.fetching.addresses import allowed_networks, refused_address, refused_through_proxy
from crawlers.fetching.pacing import Bounds, retry_after, sites
from crawlers.fetching.sites import content_type, is_front_page
from crawlers.items import ArticleLink, Validator

GZIP = b"\x1f\x8b\x08"  # what its data begin with
_CHUNK = 64 * 1024
MAX_VALIDATOR = 1_000  # characters of an ETag that are kept and sent again
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?A-Za-z]")


class BoundedDownloadHandler(HTTP11DownloadHandler):
    """Scrapy's, but refused addresses are reported as such, headers are bounded, and requests wait for their turn.

    Every request of a crawl comes here, also for robots.txt, redirects and second tries.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        bound = crawler.settings.getint("DOWNLOAD_MAXHEADERS")
        self._pool._factory = partial(_BoundedFactory, bound)  # type: ignore[assignment]
        self._bounds = Bounds.of(crawler.settings)
        self._allowed = allowed_networks(crawler.settings)

    async def download_request(self, request: Request) -> Response:
        async with sites.turn(request.url, self._bounds) as site:
            response = await self._downloaded(request)
            latency = request.meta.get("download_latency", 0.0)
            said = (response.headers.get("Retry-After") or b"").decode("latin-1")
            asked = retry_after(said, datetime.datetime.now(datetime.UTC))
            site.answered(self._bounds, response.status, latency, asked)
            return response

    async def _downloaded(self, request: Request) -> Response:
        host = urlsplit(request.url).hostname or ""
        if request.meta.get("proxy") and (address := refused_through_proxy(host, self._allowed)):
            raise RefusedError(f"private address: {address}")
        try:
            return await super().download_request(request)
        except CannotResolveHostError as error:
            if address := refused_address(host):
                raise RefusedError(f"private address: {address}") from error
            raise


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    """Closes the connection when the headers of a response, or of interim responses before it, do not end."""

    max_headers = 0
    _head = 0

    def request(self, request: Any) -> Deferred[Any]:
        self._head = 0
        answer = super().request(request)
        if self._parser is not None:
            # Twisted's bound is 16 kB a line, which policies and cookies often exceed.
            self._parser.MAX_LENGTH = self.max_headers
        return answer

    def dataReceived(self, data: bytes) -> None:
        parser = self._parser
        if parser is not None and parser.state in (STATUS, HEADER):
            self._head += len(data)
        super().dataReceived(data)
        if self._parser is not None and self._parser.state in (STATUS, HEADER) and self._head > self.max_headers:
            self._giveUp(Failure(HeadersTooLargeError(f"no end after {self._head} bytes")))


class _BoundedFactory(_HTTP11ClientFactory):
    noisy = False

    def __init__(self, max_headers: int, *args: Any) -> None:
        super().__init__(*args)
        self.max_headers = max_headers

    def buildProtocol(self, addr: IAddress | None) -> _BoundedProtocol:  # noqa: ARG002 - Twisted's signature
        protocol = _BoundedProtocol(self._quiescentCallback)
        protocol.max_headers = self.max_headers
        return protocol


class UnpackingMiddleware(HttpCompressionMiddleware):
    """Scrapy's, but faulty compression is refused with a reason, and a truncated body is not accepted as complete."""

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Response:  # noqa: ARG002
        encoding = response.headers.get("Content-Encoding") or b""
        if encoding and _MARKUP.match(response.body):
            # Not compressed at all, despite the header.
            del response.headers["Content-Encoding"]
            kind = responsetypes.from_args(headers=response.headers, url=response.url, body=response.body)
            return response.replace(cls=kind)
        if encoding and is_cut_off(response.body, request.meta.get("download_maxsize", self._max_size)):
            raise RefusedError("cut off")
        try:
            unpacked = cast("Response", super().process_response(request, response))
        except IgnoreRequest:
            raise
        except Exception as error:  # each compression format has its own exceptions
            raise RefusedError("unreadable compression") from error
        if unpacked.headers.get("Content-Encoding"):
            raise RefusedError("unreadable compression")
        return unpacked


def is_cut_off(packed: bytes, max_size: int) -> bool:
    """Return whether gzip data are truncated; false for other data and for more than max_size bytes unpacked."""
    size = 0
    while packed.startswith(GZIP):
        unpacking = zlib.decompressobj(wbits=31)
        while packed and not unpacking.eof:
            try:
                size += len(unpacking.decompress(packed, _CHUNK))
            except zlib.error:
                return False
            if size > max_size:
                return False
            packed = unpacking.unconsumed_tail
        if not unpacking.eof:
            return True
        packed = unpacking.unused_data  # the next member; any other trailing data are ignored
    return False


async def fetch(spider: Spider, url: str, **meta: Any) -> Response | str:
    """Return the response to a request that a spider makes besides those of the crawl, or why there is none."""
    try:
        response = await spider.crawler.engine.download_async(Request(url, dont_filter=True, meta=meta))
    except Exception as error:  # noqa: BLE001 - reason_of knows the many kinds
        return reason_of(error)
    return response if 200 <= response.status < 300 else reason_of(HttpError(response))


# -- What a response says of its page ---------------------------------------------------------------------------


def declared(response: Response, url: str) -> Validator:
    """Return the state of a source or page that its response declares."""
    return Validator(url, _header(response, "ETag"), _header(response, "Last-Modified"))


def _header(response: Response, name: str) -> str:
    """Return a header that is to be sent again; empty if there is none, or one that cannot be."""
    value: str = (response.headers.get(name) or b"").decode("latin-1")
    return value if value.isprintable() and len(value) <= MAX_VALIDATOR else ""


def page_fault(response: Response, link: ArticleLink) -> str:
    """Return why a response cannot be the article's page; empty if it can."""
    if response.status == 206:
        return "cut off"
    if not response.body:
        return "empty page"
    if not isinstance(response, HtmlResponse):
        return f"no HTML page: {content_type(response).partition(';')[0] or 'unknown type'}"
    if response.meta.get("redirect_urls"):
        pattern = link.source.article_url_pattern
        if is_front_page(response.url) or (not finds(pattern, response.url) and finds(pattern, link.url)):
            return "redirected to a page that is no article"
    return ""

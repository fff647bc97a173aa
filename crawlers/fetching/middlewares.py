"""Scrapy middlewares: known URLs are not fetched again, bad ones are refused, broken pages are repaired.

A cookie lives within one chain of redirects: what a consent page sets, its next redirect wants back. No cookie lives
longer, so a site cannot follow a crawl from one article to the next.
"""

import re
from collections.abc import Sequence
from http.cookiejar import Cookie
from typing import NamedTuple, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.http.cookies import CookieJar
from scrapy.utils.response import get_base_url

from articles.models import ArticleURL
from articles.normalization.logins import without_login
from articles.storage import ingest
from articles.storage.incoming import SeenURL
from articles.storage.known_articles import known_pages, known_urls
from crawlers import frontier
from crawlers.database import Batched, in_database
from crawlers.faults import RefusedError
from crawlers.fetching.sites import is_visitable
from crawlers.items import ArticleLink
from crawlers.reasons import COOKIE_WALL


class KnownURLError(IgnoreRequest):
    """The URL belongs to a stored article."""


class KnownURLMiddleware:
    """Drops requests for stored articles, and adds the URLs that led to them.

    Spiders leave out articles already stored when they find a link. This catches those stored since, and targets
    of redirects.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        link: ArticleLink | None = request.meta.get("article_link")
        redirects = request.meta.get("redirect_urls")
        # A redirect's other URLs are added to the article with its very URL.
        kept = None if link is None or redirects else link.source.kept_parameters
        if link is None or not await _is_known(_Asked(request.url, kept)):
            return
        if redirects:
            seen = [SeenURL(link.url, link.kind)]
            seen += [SeenURL(url, ArticleURL.Kind.REDIRECT) for url in redirects[1:]]
            await in_database(ingest.attach_urls, seen, known_as=request.url)
        self.crawler.stats.inc_value("articles/known")
        raise KnownURLError(request.url)


class _Asked(NamedTuple):
    """A URL, and which of its parameters count; without them, only its very URL is looked for."""

    url: str
    kept: tuple[str, ...] | None


def _are_known(batch: Sequence[_Asked]) -> list[bool]:
    known = {_Asked(url, None) for url in known_urls([asked.url for asked in batch])}
    for kept in {asked.kept for asked in batch if asked.kept is not None}:
        known |= {_Asked(url, kept) for url in known_pages([asked.url for asked in batch if asked.kept == kept], kept)}
    return [asked in known or _Asked(asked.url, None) in known for asked in batch]


# Of all crawls of this process: each asks before each page.
_is_known = Batched(_are_known, frontier.BATCH)


class BadAddressMiddleware:
    """Drops requests for URLs that are not web addresses; redirects can lead anywhere. Nobody is logged in anywhere."""

    def process_request(self, request: Request) -> Request | None:
        if (url := without_login(request.url)) != request.url:
            return request.replace(url=url)
        if not is_visitable(request.url):
            raise RefusedError("bad address")
        return None


class PoliteRetryMiddleware(RetryMiddleware):
    """Scrapy's, but a site that asks for fewer requests (HTTP 429) gets another only if it says when."""

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002 - given by Scrapy
    ) -> Request | Response:
        if response.status == 429 and "Retry-After" not in response.headers:
            return response
        return super().process_response(request, response)


class BadBaseMiddleware:
    """Disables the base elements of a page if the first has no valid URL, because Scrapy fails on such pages."""

    def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002 - given by name
        if isinstance(response, HtmlResponse):
            try:
                get_base_url(response)
            except ValueError:
                # Meta is also an empty element allowed in a head, so the rest of the page is parsed unchanged.
                return response.replace(body=re.sub(rb"(?i)<base(?=[\s/])", b"<meta", response.body))
        return response


_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEY = "chain_cookies"
_SENT = "chain_cookies_sent"


class ChainCookiesMiddleware:
    """Sends the cookies that earlier redirects of a chain have set, and names them if the chain does not end."""

    def __init__(self, most: int) -> None:
        self.most = most

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings.getint("REDIRECT_MAX_TIMES"))

    def process_request(self, request: Request) -> None:
        cookies: list[Cookie] = request.meta.get(_KEY, [])
        if not cookies:
            return
        request.headers.pop("Cookie", None)  # a redirect copies that of the request before it
        _jar(cookies).add_cookie_header(request)
        if "Cookie" in request.headers:
            request.meta[_SENT] = True

    def process_response(self, request: Request, response: Response) -> Response:
        if response.headers.getlist("Set-Cookie"):
            jar = _jar(request.meta.get(_KEY, []))
            jar.extract_cookies(response, request)
            # Plain values: requests that wait are written to disk.
            request.meta[_KEY] = list(jar.jar)
        ends = request.meta.get("redirect_times", 0) >= self.most
        if ends and response.status in _REDIRECTS and request.meta.get(_KEY):
            raise RefusedError(COOKIE_WALL)
        return response


def needed_cookies(response: Response) -> bool:
    """Return whether cookies were sent back on the way to this response.

    The URLs on the way are then those of a consent page or a login, and not of the article.
    """
    return bool(response.meta.get(_SENT))


def _jar(cookies: list[Cookie]) -> CookieJar:
    jar = CookieJar()
    for cookie in cookies:
        jar.jar.set_cookie(cookie)
    return jar

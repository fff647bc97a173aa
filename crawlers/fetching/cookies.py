"""Cookies that live within one chain of redirects: what a consent page sets, its next redirect wants back.

No cookie lives longer, so a site cannot follow a crawl from one article to the next.
"""

from __future__ import annotations

from http.cookiejar import Cookie
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.cookies import CookieJar

from crawlers.faults import RefusedError
from crawlers.reasons import COOKIE_WALL

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

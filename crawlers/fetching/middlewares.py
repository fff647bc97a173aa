"""What stands between a request and its answer: a known URL is not fetched again, a bad one not asked, pages mended."""

import re
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.utils.response import get_base_url

from articles.models import ArticleURL
from articles.storage import ingest
from articles.storage.incoming import SeenURL
from crawlers.database import in_database
from crawlers.fetching.sites import is_visitable
from crawlers.items import ArticleLink
from crawlers.reasons import RefusedError


class KnownURLError(IgnoreRequest):
    """The URL belongs to an article that is stored."""


class KnownURLMiddleware:
    """Drops requests for articles that are stored, and attaches the URLs that led to them.

    Spiders leave out what was known when they found a link; this sees what became known since, and the
    targets of redirects.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        link: ArticleLink | None = request.meta.get("article_link")
        if link is None or not await in_database(ingest.known_urls, [request.url]):
            return
        if redirects := request.meta.get("redirect_urls"):
            seen = [SeenURL(link.url, link.kind)]
            seen += [SeenURL(url, ArticleURL.Kind.REDIRECT) for url in redirects[1:]]
            await in_database(ingest.attach_urls, seen, known_as=request.url)
        self.crawler.stats.inc_value("articles/known")
        raise KnownURLError(request.url)


class BadAddressMiddleware:
    """Drops requests for what is no address of the web; redirects lead to all sorts of things."""

    def process_request(self, request: Request) -> None:
        if not is_visitable(request.url):
            raise RefusedError("bad address")


class BadBaseMiddleware:
    """Takes the base elements out of a page if the first holds no URL; Scrapy fails at every use of such a page."""

    def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002 - given by name
        if isinstance(response, HtmlResponse):
            try:
                get_base_url(response)
            except ValueError:
                # Another empty element that may stand in a head, so that nothing else changes its place.
                return response.replace(body=re.sub(rb"(?i)<base(?=[\s/])", b"<meta", response.body))
        return response


class RedirectAwareDupeFilter(RFPDupeFilter):
    """Lets a redirect through to a URL that was requested before; links to articles do not come by here.

    Otherwise a source that redirects in a circle would vanish without being counted.
    """

    def request_seen(self, request: Request) -> bool:
        return super().request_seen(request) and "redirect_urls" not in request.meta

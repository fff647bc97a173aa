"""What the spiders share: their newspapers, the way of a link to its page, and the counting."""

import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, ClassVar, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from articles import ingest
from articles.models import Newspaper
from crawlers.database import LOST, in_database
from crawlers.items import ArticleLink, FetchedPage, Source
from crawlers.middlewares import KnownURLError
from crawlers.newspapers import UnknownNewspaperError, find_newspapers
from crawlers.sites import is_front_page, site_of

# URLs looked up with one query.
KNOWN_URLS_BATCH = 500
DATABASE_LOST = "database lost"


class NewspaperSpider(Spider):
    """Visits the sources of newspapers and the articles that they link to.

    Argument `newspapers`: names or ids, separated by commas; without it, all that are to be crawled. What
    happens is counted in the statistics articles/stored, articles/known (links) and
    articles/failed/<reason>.
    """

    sources_field: ClassVar[str]  # of Newspaper

    def __init__(self, newspapers: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.newspapers = [name.strip() for name in newspapers.split(",") if name.strip()]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.count_error, signals.spider_error)
        crawler.signals.connect(spider.count_error, signals.item_error)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        try:
            newspapers = await in_database(find_newspapers, self.newspapers)
        except UnknownNewspaperError as error:
            self.logger.error("%s", error)  # noqa: TRY400 - the message says it all
            raise CloseSpider("unknown newspaper") from error
        except LOST as error:
            self.count_failure("", DATABASE_LOST)
            raise CloseSpider(DATABASE_LOST) from error
        for newspaper in newspapers:
            for request in self._source_requests(newspaper):
                yield request

    def _source_requests(self, newspaper: Newspaper) -> Iterator[Request]:
        try:
            re.compile(newspaper.article_url_pattern)
        except re.error as error:
            self.count_failure(newspaper.article_url_pattern, f"article URL pattern is no regular expression: {error}")
            return
        source = Source(newspaper.name, newspaper.article_url_pattern)
        for url in getattr(newspaper, self.sources_field):
            if site_of(url):
                # Not filtered as a duplicate: a crawl that is taken up again reads its sources again.
                yield self.source_request(source, url, dont_filter=True)
            else:
                self.count_failure(url, "bad address")

    def source_request(self, source: Source, url: str, *, dont_filter: bool = False, **more: Any) -> Request:
        """Return a request for a feed, sitemap or section page; `more` goes to parse_source."""
        return Request(
            url,
            callback=self.parse_source,
            errback=self.request_failed,
            cb_kwargs={"source": source, **more},
            dont_filter=dont_filter,
        )

    @abstractmethod
    def parse_source(self, response: Response, source: Source) -> AsyncIterator[Request]:
        """Yield requests for the articles that a feed, sitemap or section page names."""

    async def article_requests(self, links: Iterable[ArticleLink]) -> AsyncIterator[Request]:
        """Yield a request for each link to an article that is not stored."""
        by_url = {link.url: link for link in links if site_of(link.url)}
        urls = list(by_url)
        for start in range(0, len(urls), KNOWN_URLS_BATCH):
            batch = urls[start : start + KNOWN_URLS_BATCH]
            known = await in_database(ingest.known_urls, batch)
            if known:
                self.count("known", len(known))
            for url in batch:
                if url not in known:
                    meta = {"article_link": by_url[url]}
                    yield Request(url, callback=self.parse_article, errback=self.request_failed, meta=meta)

    def parse_article(self, response: Response) -> Iterator[FetchedPage]:
        """Hand the page on to the pipeline unless it cannot be an article's."""
        link: ArticleLink = response.meta["article_link"]
        redirects: list[str] = response.meta.get("redirect_urls", [])
        if not isinstance(response, HtmlResponse):
            media_type = content_type(response).partition(";")[0] or "unknown type"
            self.count_failure(response.url, f"no HTML page: {media_type}")
        elif redirects and not _may_stand_at(response.url, link):
            self.count_failure(link.url, "redirected to a page that is no article")
        else:
            url = response.url if redirects else link.url
            yield FetchedPage(link, url, tuple(redirects[1:]), content_type(response), response.body)

    def request_failed(self, failure: Any) -> None:  # a Failure to which Scrapy adds the request
        if not isinstance(failure.value, KnownURLError):
            self.count_failure(failure.request.url, _reason(failure.value))

    def count(self, outcome: str, number: int = 1) -> None:
        self.crawler.stats.inc_value(f"articles/{outcome}", number)

    def count_failure(self, url: str, reason: str, number: int = 1) -> None:
        self.logger.warning("%s: %s", url, reason)
        self.count(f"failed/{reason}", number)

    def count_error(self, failure: Failure, response: Response | None) -> None:
        """Count an error in this code; Scrapy logs its traceback."""
        error = failure.value
        reason = DATABASE_LOST if isinstance(error, LOST) else f"error: {type(error).__name__}"
        self.count_failure(response.url if response else "", reason)


def content_type(response: Response) -> str:
    """Return the Content-Type header; empty if there is none."""
    return (response.headers.get("Content-Type") or b"").decode("latin-1")


def _may_stand_at(target: str, link: ArticleLink) -> bool:
    """Return whether a redirect's target can be the article: not the front page, nor a page of another kind."""
    pattern = link.source.article_url_pattern
    if is_front_page(target):
        return False
    return bool(re.search(pattern, target)) or not re.search(pattern, link.url)


def _reason(error: BaseException) -> str:
    if isinstance(error, HttpError):
        return f"HTTP {error.response.status}"
    if isinstance(error, IgnoreRequest):
        return str(error) or type(error).__name__
    return DATABASE_LOST if isinstance(error, LOST) else type(error).__name__

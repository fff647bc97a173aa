"""Sitemaps and sitemap indexes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from articles.models import ArticleURL
from crawlers import frontier
from crawlers.database import in_database
from crawlers.fetching.sites import site_of
from crawlers.items import ArticleLink, Source
from crawlers.listings.sitemaps import read_sitemap
from crawlers.spiders.base import NewspaperSpider


class SitemapSpider(NewspaperSpider):
    """Visits every sitemap that an index lists. An index is always read, a sitemap only if it has changed."""

    name = "sitemap"
    sources_field = "sitemap_urls"

    def __init__(self, newspapers: str = "", **kwargs: Any) -> None:
        super().__init__(newspapers, **kwargs)
        self._named: set[str] = set()  # in indexes; at most SITEMAP_MAX_NUMBER

    def source_request(self, source: Source, url: str, **more: Any) -> Request:
        request = super().source_request(source, url, **more)
        request.meta["download_maxsize"] = self.settings.getint("SITEMAP_MAXSIZE")
        return request

    async def parse_source(self, response: Response, source: Source, level: int = 1) -> AsyncIterator[Request]:
        document = read_sitemap(response.body, response.url, self.settings.getint("SITEMAP_MAXSIZE"))
        if document.kind == "sitemapindex":
            for request in self._named_sitemaps(response, source, document.urls, level):
                yield request
        elif document.kind == "urlset":
            links = [
                ArticleLink(source, url, ArticleURL.Kind.PAGE, document.dates.get(url))
                for url in document.urls
                if re.search(source.article_url_pattern, url)
            ]
            async for request in self.article_requests(source, links):
                yield request
        if document.broken:
            whole = document.kind in {"sitemapindex", "urlset"} and document.urls
            self.count_failure(response.url, "broken sitemap" if whole else "unreadable sitemap")
        elif document.kind == "urlset":
            await in_database(frontier.store_validators, source, [self.validator_of(response)])

    def _named_sitemaps(self, response: Response, source: Source, urls: list[str], level: int) -> Iterator[Request]:
        """Yield requests for the sitemaps that an index lists; count those beyond the limits as failed."""
        for url in urls:
            if not site_of(url):
                self.count_failure(url, "bad address")
        new = list(dict.fromkeys(url for url in urls if site_of(url) and url not in self._named))
        left = self.settings.getint("SITEMAP_MAX_NUMBER") - len(self._named)
        if level > self.settings.getint("SITEMAP_MAX_LEVELS"):
            left = 0
        self._named.update(new[:left])
        for url in new[:left]:
            yield self.source_request(source, url, level=level + 1)
        if left_out := len(new[left:]):
            self.count_failure(response.url, "too many sitemaps", left_out)

"""Sitemaps and sitemap indexes, packed or not (sitemaps.org/protocol.html)."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import lxml.etree
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap

from articles.models import ArticleURL
from crawlers.items import ArticleLink, Source
from crawlers.sites import site_of
from crawlers.spiders.base import NewspaperSpider


class SitemapSpider(NewspaperSpider):
    name = "sitemap"
    sources_field = "sitemap_urls"

    def __init__(self, newspapers: str = "", **kwargs: Any) -> None:
        super().__init__(newspapers, **kwargs)
        self._named: set[str] = set()  # by indexes; at most SITEMAP_MAX_NUMBER

    def source_request(self, source: Source, url: str, *, dont_filter: bool = False, **more: Any) -> Request:
        request = super().source_request(source, url, dont_filter=dont_filter, **more)
        request.meta["download_maxsize"] = self.settings.getint("SITEMAP_MAXSIZE")
        return request

    async def parse_source(self, response: Response, source: Source, level: int = 1) -> AsyncIterator[Request]:
        try:
            kind, urls = self._read(response)
        # Not gzip after all, no XML, an empty document, or larger than SITEMAP_MAXSIZE when unpacked.
        except (OSError, EOFError, ValueError, StopIteration, lxml.etree.XMLSyntaxError):
            kind, urls = "", []
        if kind == "sitemapindex":
            for request in self._named_sitemaps(response, source, urls, level):
                yield request
        elif kind == "urlset":
            links = [
                ArticleLink(source, url, ArticleURL.Kind.PAGE)
                for url in urls
                if re.search(source.article_url_pattern, url)
            ]
            async for request in self.article_requests(links):
                yield request
        else:
            self.count_failure(response.url, "unreadable sitemap")

    def _named_sitemaps(self, response: Response, source: Source, urls: list[str], level: int) -> Iterator[Request]:
        """Yield requests for the sitemaps that an index names; count those beyond the bounds as failed."""
        new = list(dict.fromkeys(url for url in urls if site_of(url) and url not in self._named))
        room = self.settings.getint("SITEMAP_MAX_NUMBER") - len(self._named)
        if level > self.settings.getint("SITEMAP_MAX_LEVELS"):
            room = 0
        self._named.update(new[:room])
        for url in new[:room]:
            yield self.source_request(source, url, level=level + 1)
        if left_out := len(new[room:]):
            self.count_failure(response.url, "too many sitemaps", left_out)

    def _read(self, response: Response) -> tuple[str, list[str]]:
        """Return the sitemap's kind, the name of its root element, and the URLs in it."""
        body = response.body
        if gzip_magic_number(response):
            body = gunzip(body, max_size=self.settings.getint("SITEMAP_MAXSIZE"))
        sitemap = Sitemap(body)
        return sitemap.type, [entry["loc"] for entry in sitemap if entry["loc"]]

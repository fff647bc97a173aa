"""Sitemaps and sitemap indexes, packed or not (sitemaps.org/protocol.html)."""

import re
from collections.abc import AsyncIterator
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

    def source_request(self, source: Source, url: str, *, dont_filter: bool = False, **more: Any) -> Request:
        request = super().source_request(source, url, dont_filter=dont_filter, **more)
        request.meta["download_maxsize"] = self.settings.getint("SITEMAP_MAXSIZE")
        return request

    async def parse_source(self, response: Response, source: Source) -> AsyncIterator[Request]:
        try:
            kind, urls = self._read(response)
        # Not gzip after all, no XML, an empty document, or larger than SITEMAP_MAXSIZE when unpacked.
        except (OSError, EOFError, ValueError, StopIteration, lxml.etree.XMLSyntaxError):
            kind, urls = "", []
        if kind == "sitemapindex":
            for url in urls:
                if site_of(url):
                    yield self.source_request(source, url)
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

    def _read(self, response: Response) -> tuple[str, list[str]]:
        """Return the sitemap's kind, the name of its root element, and the URLs in it."""
        body = response.body
        if gzip_magic_number(response):
            body = gunzip(body, max_size=self.settings.getint("SITEMAP_MAXSIZE"))
        sitemap = Sitemap(body)
        return sitemap.type, [entry["loc"] for entry in sitemap if entry["loc"]]

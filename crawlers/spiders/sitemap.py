"""Sitemaps and sitemap indexes."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any
from uuid import UUID

from scrapy import Request
from scrapy.http import Response

from articles.models import ArticleURL, Newspaper
from articles.normalization.url_patterns import finds
from crawlers.fetching.sites import site_of
from crawlers.items import ArticleLink, Entry, Source, Validator
from crawlers.listings.dates import newest
from crawlers.listings.sitemaps import last_days, read_sitemap
from crawlers.spiders.base import NewspaperSpider


class SitemapSpider(NewspaperSpider):
    """Visits the sitemaps that an index lists, the newest first, then the newest articles of all of them.

    An index is always read, a sitemap only if it has changed. Sitemaps may hold the archive of decades: what is older
    than SITEMAP_DAYS is left out, and one crawl takes no more than SITEMAP_MAX_LINKS new links.
    """

    name = "sitemap"
    sources_field = "sitemap_urls"

    def __init__(self, newspapers: str = "", **kwargs: Any) -> None:
        super().__init__(newspapers, **kwargs)
        self._named: set[str] = set()  # in indexes; at most SITEMAP_MAX_NUMBER
        self._open = 0  # sitemaps that are being read, and newspapers whose sitemaps are being requested
        self._found: dict[UUID, ArticleLink] = {}  # new links, waiting until all sitemaps are read
        self._read: list[tuple[Source, Validator]] = []

    async def _first_requests(self, newspaper: Newspaper) -> AsyncIterator[Request]:
        self._open += 1
        async for request in super()._first_requests(newspaper):
            yield request
        async for request in self.after_source():
            yield request

    def source_request(self, source: Source, url: str, **more: Any) -> Request:
        request = super().source_request(source, url, **more)
        request.meta["download_maxsize"] = self.settings.getint("SITEMAP_MAXSIZE")
        self._open += 1
        # Scrapy's filter would drop one that is both configured and named by an index, without a word.
        return request.replace(dont_filter=True)

    async def parse_source(self, response: Response, source: Source, level: int = 1) -> AsyncIterator[Request]:
        try:
            requests = await self._requests(response, source, level)
        except Exception:  # which is counted: the articles of the other sitemaps are not lost
            async for request in self.after_source():
                yield request
            raise
        for request in requests:
            yield request
        async for request in self.after_source():
            yield request

    async def _requests(self, response: Response, source: Source, level: int) -> list[Request]:
        """Read a sitemap: return requests for the sitemaps that it lists, and remember its articles."""
        requests: list[Request] = []
        document = read_sitemap(response.body, response.url, self.settings.getint("SITEMAP_MAXSIZE"))
        if document.kind == "sitemapindex":
            requests = list(self._named_sitemaps(response, source, document.entries, level))
        elif document.kind == "urlset":
            pattern = source.article_url_pattern
            matching = (entry for entry in document.entries if finds(pattern, entry.url))
            links = (entry.link(source, ArticleURL.Kind.PAGE) for entry in matching)
            self._found |= await self.new_links(source, links, self._first_day())
            bound = self.settings.getint("SITEMAP_MAX_LINKS")
            if bound and len(self._found) > 2 * bound:
                self._keep_newest(bound)
        if document.broken:
            whole = document.kind in {"sitemapindex", "urlset"} and document.entries
            self.count_failure(response.url, "broken sitemap" if whole else "unreadable sitemap")
        elif document.kind == "urlset":
            self._read.append((source, self.validator_of(response)))
        return requests

    def _keep_newest(self, number: int) -> None:
        links = newest(self._found.values(), number)
        self.leave_out(len(self._found) - len(links))
        self._found = {link.key: link for link in links}

    async def after_source(self) -> AsyncIterator[Request]:
        """When all sitemaps are read, yield requests for the newest articles of all of them."""
        self._open -= 1
        if self._open:
            return
        self._keep_newest(self.settings.getint("SITEMAP_MAX_LINKS") or len(self._found))
        found, self._found = self._found, {}
        read, self._read = self._read, []
        async for request in self.take(found):
            yield request
        for source, validator in read:
            await self.store_states(source, [validator])

    def _first_day(self) -> datetime.date | None:
        """Return the first day that links and sitemaps may be of; None if any may."""
        days = self.settings.getint("SITEMAP_DAYS")
        if self.since or not days:
            return self.since
        return datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=days)

    def _named_sitemaps(
        self, response: Response, source: Source, entries: Sequence[Entry], level: int
    ) -> Iterator[Request]:
        """Yield requests for the sitemaps that an index lists; count those beyond the limits as failed."""
        for entry in entries:
            if not site_of(entry.url):
                self.count_failure(entry.url, "bad address")
        days = last_days(entries)
        # Those without a day first: they may be the current ones.
        urls = sorted(
            dict.fromkeys(entry.url for entry in entries if site_of(entry.url) and entry.url not in self._named),
            key=lambda url: days.get(url, datetime.date.max),
            reverse=True,
        )
        first_day = self._first_day()
        new = [url for url in urls if not (first_day and days.get(url, first_day) < first_day)]
        self.count("left_out", len(urls) - len(new))
        left = self.settings.getint("SITEMAP_MAX_NUMBER") - len(self._named)
        if level > self.settings.getint("SITEMAP_MAX_LEVELS"):
            left = 0
        self._named.update(new[:left])
        for url in new[:left]:
            yield self.source_request(source, url, level=level + 1)
        if left_out := len(new[left:]):
            self.count_failure(response.url, "too many sitemaps", left_out)

"""The spiders of what lists articles: RSS, Atom and JSON feeds, sitemaps and their indexes, and section pages."""

import asyncio
import datetime
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any
from uuid import UUID

from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.response import get_base_url

from articles.extraction.extract import ExtractionError
from articles.models import ArticleURL, Newspaper
from articles.normalization.url_patterns import finds
from articles.storage import ingest
from articles.storage.incoming import IncomingArticle
from crawlers.database import in_database
from crawlers.fetching.sites import absolute, content_type, is_front_page, same_site, site_of
from crawlers.items import ArticleLink, Entry, Source, Validator
from crawlers.listings.dates import is_before, newest
from crawlers.listings.sources import last_days, read_feed, read_sitemap
from crawlers.page_articles import teaser_article
from crawlers.spiders.base import NewspaperSpider

TEASERS_AT_ONCE = 100
NEXT_PAGE = "link[rel~=next]::attr(href), a[rel~=next]::attr(href)"


class FeedSpider(NewspaperSpider):
    """Reads feeds, and the pages with older entries that they name (RFC 5005, JSON Feed).

    An unchanged page hides the pages after it, so the states of all are stored only when the last one was read.
    """

    name = "feed"
    sources_field = "feed_urls"
    reads_teasers = True

    async def parse_source(
        self, response: Response, source: Source, read: tuple[Validator, ...] = (), left: int | None = None
    ) -> AsyncIterator[Request]:
        # In a thread: feedparser takes 0.2 ms for an entry.
        feed = await asyncio.to_thread(read_feed, response.body, response.url, content_type(response))
        if not feed.readable:
            self.count_failure(response.url, "unreadable feed")
            return
        bound = self.settings.getint("FEED_MAX_ENTRIES") if left is None else left
        if left_out := len(feed.entries[bound:]):
            self.count_failure(response.url, "too many entries", left_out)
        entries = feed.entries[:bound]
        if empty := sum(not entry.url for entry in entries):
            self.count_failure(response.url, "entry without a link", empty)
        links = [entry.link(source, ArticleURL.Kind.FEED) for entry in entries if entry.url]
        if source.teasers:
            await self._store_teasers(source, links)
        else:
            async for request in self.article_requests(source, links):
                yield request
        read = (*read, self.validator_of(response))
        too_old = all(is_before(link, self.since) for link in links)
        if feed.broken:
            self.count_failure(response.url, "broken feed")
        elif not too_old and self.leads_on(feed.next_url, response.url, read):
            yield self.source_request(source, feed.next_url, read=read, left=bound - len(entries))
        elif not left_out:
            await self.store_states(source, read)

    async def _store_teasers(self, source: Source, links: Sequence[ArticleLink]) -> None:
        """Store the entries themselves. Every link gets an outcome; an entry that cannot be stored is counted again."""
        new = self._within_limit(await self.new_links(source, links, self.since))
        today = datetime.datetime.now(datetime.UTC).date()
        articles: list[IncomingArticle] = []
        for link in new.values():
            try:
                articles.append(teaser_article(link, today))
            except ExtractionError as error:
                self.count_failure(link.url, error.reason)
        for start in range(0, len(articles), TEASERS_AT_ONCE):
            batch = articles[start : start + TEASERS_AT_ONCE]
            for article, stored in zip(batch, await in_database(ingest.store_articles, batch), strict=True):
                if stored.outcome == "rejected":
                    self.count_failure(article.url, f"cannot be stored: {stored.reason}")
                else:
                    self.count("stored" if stored.outcome == "created" else "known")
        self._counted |= new.keys()


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
        return request

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
            whole = document.readable and document.entries
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


class SectionSpider(NewspaperSpider):
    """Follows links of the same site that match the newspaper's pattern, and rel=next to further pages.

    An unchanged page hides the pages after it, so the states of all are stored only when the last one was read.
    """

    name = "section"
    sources_field = "section_urls"

    async def parse_source(
        self, response: Response, source: Source, read: tuple[Validator, ...] = ()
    ) -> AsyncIterator[Request]:
        if not isinstance(response, HtmlResponse):
            self.count_failure(response.url, "section is no HTML page")
            return
        href = response.css(NEXT_PAGE).get(default="").strip()
        next_url = absolute(get_base_url(response), href).partition("#")[0]
        links = [
            ArticleLink(url=url, source=source, kind=ArticleURL.Kind.PAGE)
            for url in article_urls(response, source.article_url_pattern)
            if url not in {response.url, next_url}
        ]
        async for request in self.article_requests(source, links):
            yield request
        read = (*read, self.validator_of(response))
        if self.leads_on(next_url, response.url, read):
            yield self.source_request(source, next_url, read=read)
        else:
            await self.store_states(source, read)


def article_urls(response: HtmlResponse, pattern: str) -> list[str]:
    """Return the URLs of the same site that a page links to and that match the pattern. Raises SlowPatternError."""
    links = [link for link in LinkExtractor().extract_links(response) if finds(pattern, link.url)]
    urls = (link.url.partition("#")[0] for link in links)
    return [url for url in urls if same_site(url, response.url) and not is_front_page(url)]

"""RSS, Atom and JSON feeds."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator, Sequence

from scrapy import Request
from scrapy.http import Response

from articles.extraction.extract import ExtractionError
from articles.models import ArticleURL
from articles.storage import ingest
from articles.storage.incoming import IncomingArticle
from crawlers.database import in_database
from crawlers.fetching.sites import content_type, same_site
from crawlers.items import ArticleLink, Source, Validator
from crawlers.listings.dates import is_before
from crawlers.listings.feeds import read_feed
from crawlers.page_articles import teaser_article
from crawlers.spiders.base import NewspaperSpider

TEASERS_AT_ONCE = 100


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
        if feed.broken:
            self.count_failure(response.url, "broken feed")
        elif self._leads_on(feed.next_url, response.url, links, read):
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

    def _leads_on(self, url: str, page: str, links: Sequence[ArticleLink], read: Sequence[Validator]) -> bool:
        """Return whether the page with older entries is to be read: not if those of this page are too old already."""
        wanted = any(not is_before(link, self.since) for link in links) and not self.full
        new = url not in {page, *(validator.url for validator in read)}
        return wanted and new and same_site(url, page) and len(read) < self.settings.getint("FEED_MAX_PAGES")

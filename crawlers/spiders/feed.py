"""RSS, Atom and JSON feeds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from scrapy import Request
from scrapy.http import Response

from articles.models import ArticleURL
from crawlers import frontier
from crawlers.database import in_database
from crawlers.items import ArticleLink, Source
from crawlers.listings.feeds import read_feed
from crawlers.spiders.base import NewspaperSpider, content_type


class FeedSpider(NewspaperSpider):
    name = "feed"
    sources_field = "feed_urls"

    async def parse_source(self, response: Response, source: Source) -> AsyncIterator[Request]:
        # In a thread: feedparser takes 0.2 ms for an entry.
        feed = await asyncio.to_thread(read_feed, response.body, response.url, content_type(response))
        if not feed.readable:
            self.count_failure(response.url, "unreadable feed")
            return
        bound = self.settings.getint("FEED_MAX_ENTRIES")
        if left_out := len(feed.entries[bound:]):
            self.count_failure(response.url, "too many entries", left_out)
        entries = feed.entries[:bound]
        if empty := sum(not entry.url for entry in entries):
            self.count_failure(response.url, "entry without a link", empty)
        links = [
            ArticleLink(source, entry.url, ArticleURL.Kind.FEED, entry.published) for entry in entries if entry.url
        ]
        async for request in self.article_requests(source, links):
            yield request
        if feed.broken:
            self.count_failure(response.url, "broken feed")
        elif not left_out:
            await in_database(frontier.store_validators, source, [self.validator_of(response)])

"""RSS and Atom feeds."""

import datetime
import io
from collections.abc import AsyncIterator
from typing import Any

import feedparser
from scrapy import Request
from scrapy.http import Response

from articles.fields import UnreadableDayError, parse_day
from articles.models import ArticleURL
from crawlers.items import ArticleLink, Source
from crawlers.sites import site_of
from crawlers.spiders.base import NewspaperSpider, content_type


class FeedSpider(NewspaperSpider):
    name = "feed"
    sources_field = "feed_urls"

    async def parse_source(self, response: Response, source: Source) -> AsyncIterator[Request]:
        headers = {"content-type": content_type(response), "content-location": response.url}
        # A file object: feedparser would fetch or open what a str names.
        feed = feedparser.parse(io.BytesIO(response.body), response_headers=headers)
        links = [_link(entry, source) for entry in feed.entries if site_of(entry.get("link", ""))]
        # Of an empty feed, feedparser gives no version at all.
        if not links and (feed.bozo or not feed.get("version")):
            self.count_failure(response.url, "unreadable feed")
        async for request in self.article_requests(links):
            yield request


def _link(entry: Any, source: Source) -> ArticleLink:
    return ArticleLink(source, entry["link"].strip(), ArticleURL.Kind.FEED, _day(entry))


def _day(entry: Any) -> datetime.date | None:
    """Return the day of publication, else of the last change, at the newspaper's place."""
    # Asked for `updated`, feedparser would answer with `published` and a warning.
    name = "published" if "published" in entry else "updated"
    try:
        return parse_day(entry.get(name, ""))
    except UnreadableDayError:
        # feedparser reads more forms, and gives the moment in UTC: of 0000-00-00, one that no calendar has.
        moment = entry.get(f"{name}_parsed")
        try:
            return datetime.date(*moment[:3]) if moment else None
        except ValueError:
            return None

"""From a fetched page to a stored article."""

import asyncio
import datetime
from typing import Self, cast

from asgiref.sync import sync_to_async
from django.db import connections
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from articles.extraction.extract import EXTRACTOR_VERSION, ExtractedArticle, ExtractionError, extract_article
from articles.models import ArticleURL
from articles.storage import ingest
from articles.storage.incoming import IncomingArticle, PageCopy, RejectedArticleError, SeenURL, story_url
from articles.storage.publication_day import dated_details
from crawlers.database import LOST, in_database
from crawlers.fetching.sites import same_site
from crawlers.items import FetchedPage
from crawlers.reasons import reason_of
from crawlers.spiders.base import NewspaperSpider


class ArticlePipeline:
    """Extracts and stores articles. A page without one is counted with its reason, and dropped.

    The ORM runs in asgiref's thread for synchronous code, extraction in another thread, so neither blocks the reactor.
    """

    def __init__(self, spider: NewspaperSpider) -> None:
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(cast("NewspaperSpider", crawler.spider))

    async def process_item(self, item: FetchedPage) -> FetchedPage:
        try:
            article = await asyncio.to_thread(extract_article, item.body, item.url, item.content_type)
            stored = await in_database(ingest.store_article, _incoming(item, article))
        except (ExtractionError, RejectedArticleError) as error:
            await self.spider.refuse(item.link, reason_of(error))
            raise DropItem(str(error), log_level="DEBUG") from error
        except LOST:
            raise
        except Exception as error:
            # A fault of this program: Scrapy logs the traceback, and the spider counts it.
            reason = f"fault in the crawler: {type(error).__name__}"
            await self.spider.write_down(item.link, reason)
            raise
        self.spider.count("stored" if stored.outcome == "created" else "known")
        if stored.outcome == "created" and article.paywalled:
            self.spider.count("paywalled")
        await self.spider.settle(item.link)
        return item

    async def close_spider(self) -> None:
        await sync_to_async(connections.close_all)()


def _incoming(page: FetchedPage, article: ExtractedArticle) -> IncomingArticle:
    """Return the article to store. Raises ExtractionError if neither page nor source gives a possible day."""
    day, details = dated_details(article, page.link.published, datetime.datetime.now(datetime.UTC).date())
    redirected = page.url != page.link.url
    seen = [SeenURL(page.link.url, page.link.kind)] if redirected else []
    seen += [SeenURL(url, ArticleURL.Kind.REDIRECT) for url in page.redirects]
    # A page of another site is another article, which must not count as known because a copy links to it.
    declared = ((article.canonical_url, ArticleURL.Kind.CANONICAL), (article.amp_url, ArticleURL.Kind.AMP))
    seen += [SeenURL(url, kind) for url, kind in declared if url and same_site(url, page.url)]
    return IncomingArticle(
        date=day,
        headline=article.headline,
        url=page.url,
        content=article.text,
        # An article from a feed of alerts belongs to the newspaper that its host names.
        newspaper="" if story_url(page.link.url) != page.link.url else page.link.source.newspaper,
        kind=ArticleURL.Kind.REDIRECT if redirected else page.link.kind,
        other_urls=seen,
        details=details,
        page=PageCopy(page.url, page.content_type, page.body, EXTRACTOR_VERSION, page.link.published),
    )

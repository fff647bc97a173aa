"""From a fetched page to a stored article, and the outcome of its link."""

from typing import Self, cast

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from articles.extraction.extract import ExtractionError
from articles.storage.incoming import RejectedArticleError
from crawlers.article_store import article_store
from crawlers.database import LOST
from crawlers.faults import reason_of
from crawlers.items import FetchedPage
from crawlers.reasons import DATABASE_LOST
from crawlers.soft_404s import SoftErrors
from crawlers.spiders.base import NewspaperSpider


class ArticlePipeline:
    """Has articles extracted and stored. A page without one is counted with its reason, and dropped.

    Nothing of it blocks the reactor: see article_store.py.
    """

    def __init__(self, spider: NewspaperSpider) -> None:
        self.spider = spider
        self.soft_errors = SoftErrors(spider)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(cast("NewspaperSpider", crawler.spider))

    def open_spider(self) -> None:
        article_store.enter(self.spider.settings)

    async def process_item(self, item: FetchedPage) -> FetchedPage:
        try:
            stored = await article_store.store(item, self.soft_errors.reason)
        except (ExtractionError, RejectedArticleError) as error:
            await self.spider.refuse(item.link, reason_of(error))
            raise DropItem(str(error), log_level="DEBUG") from error
        except LOST as error:
            # The link waits. Without an exception that Scrapy does not know: it would write a traceback for each page.
            await self.spider.refuse(item.link, DATABASE_LOST)
            raise DropItem(str(error), log_level="DEBUG") from error
        except Exception as error:
            # A fault of this program: Scrapy logs the traceback, and the spider counts it.
            reason = f"fault in the crawler: {type(error).__name__}"
            await self.spider.write_down(item.link, reason)
            raise
        self.spider.count("stored" if stored.created else "known")
        if stored.created and stored.paywalled:
            self.spider.count("paywalled")
        self.spider.settled(item.link)
        return item

    async def close_spider(self) -> None:
        await article_store.leave()

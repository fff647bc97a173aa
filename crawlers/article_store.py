"""Where the pages of all crawls of a process become stored articles: extracted in other processes, written in batches.

A page's way: the pipeline of its crawl calls `ArticleStore.store`. A worker process extracts and prepares the article
(page_articles.py). It then waits for the writer, which stores all articles that have gathered meanwhile, of any crawl,
in one transaction, and in the same transaction deletes their links from the frontier. So an article is stored if and
only if its link is done. The pipeline waits until then, counts the outcome, and lets its crawl fetch the next page.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Self, TypeAlias, cast

from asgiref.sync import sync_to_async
from django.db import connection, connections, transaction
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.settings import BaseSettings

from articles.extraction.extract import ExtractionError
from articles.processes import Workers
from articles.storage.extraction_rules import rule_for
from articles.storage.incoming import RejectedArticleError
from articles.storage.ingest import Stored, store_prepared
from articles.storage.newspapers import Paper
from articles.storage.preparing import Prepared
from articles.storage.workers import connected
from crawlers import frontier
from crawlers.database import LOST, Batched, in_database
from crawlers.faults import reason_of
from crawlers.fetching.pacing import sites
from crawlers.items import ArticleLink, FetchedPage
from crawlers.page_articles import ReadyArticle, is_alert, ready_article
from crawlers.soft_404s import SoftErrors
from crawlers.spiders.base import NewspaperSpider

Fault: TypeAlias = Callable[[FetchedPage, ReadyArticle], Awaitable[str]]
# For the writer.
Waiting: TypeAlias = tuple[ArticleLink, ReadyArticle]
# Articles that are written in one transaction, at most.
BATCH = 50


class ArticleStore:
    """Extracts and stores the pages of all crawls of this process. `enter` and `leave` it in pairs."""

    def __init__(self) -> None:
        self._users = 0
        self._few = 0  # that a thread has yet to extract
        self._workers: Workers[FetchedPage, ReadyArticle] | None = None
        self._write = Batched(self._written, BATCH)
        # Newspapers as the writer last found them, by name: those of sources may be outdated.
        self._papers: dict[str, Paper] = {}

    def enter(self, settings: BaseSettings) -> None:
        """Keep the worker processes until the last user has left; they start after EXTRACTION_FEW articles."""
        self._users += 1
        if self._workers is None:
            self._few = settings.getint("EXTRACTION_FEW")
            count = settings.getint("EXTRACTION_PROCESSES")
            self._workers = Workers(count, ready_article, connected, connection.settings_dict["NAME"])

    async def leave(self) -> None:
        """End the processes, and close the connection to the database, if nobody else uses them."""
        self._users -= 1
        if self._users:
            return
        workers, self._workers = self._workers, None
        if workers:
            await asyncio.to_thread(workers.__exit__, None, None, None)
        await sites.save()
        await sync_to_async(connections.close_all)()

    async def store(self, page: FetchedPage, fault: Fault) -> list[str]:
        """Extract and store the article of a page, and delete its link; when that is committed, return what to count.

        That is whether it is new or was known by its URL, and whether it is paywalled. `fault` returns why what was
        extracted is not an article; empty if it is one.
        Raises ExtractionError if the page has no article, RejectedArticleError if it cannot be stored, and one of LOST;
        the link then still waits. WorkerDiedError if the process that extracted it was killed.
        """
        source = page.link.source
        rule = await in_database(rule_for, page.url) if is_alert(page) else source.rule
        source = replace(source, paper=self._papers.get(source.paper.name, source.paper), rule=rule)
        ready = await self._ready(replace(page, link=replace(page.link, source=source)))
        if reason := await fault(page, ready):
            raise ExtractionError(reason)
        stored = await self._write((page.link, ready))
        if isinstance(stored, Exception):
            raise stored
        if stored.outcome != "created":
            return ["known"]
        return ["stored", "paywalled"] if ready.incoming.details.paywalled else ["stored"]

    async def _ready(self, page: FetchedPage) -> ReadyArticle:
        if self._workers is None or self._few > 0:
            self._few -= 1
            return await asyncio.to_thread(ready_article, page)
        return await asyncio.wrap_future(self._workers.submit(page))

    def _written(self, batch: Sequence[Waiting]) -> list[Stored | Exception]:
        """Store a batch, in the thread for the ORM. If that fails, each article by itself, so that one fails alone."""
        try:
            return list(self._write_together(batch))
        except LOST:
            raise
        except Exception as error:  # noqa: BLE001 - raised again in `store`, for those that caused it
            return [error] if len(batch) == 1 else [self._write_alone(waiting) for waiting in batch]

    def _write_alone(self, waiting: Waiting) -> Stored | Exception:
        try:
            return self._write_together([waiting])[0]
        except Exception as error:  # noqa: BLE001 - raised again in `store`
            return error

    def _write_together(self, batch: Sequence[Waiting]) -> list[Stored]:
        links, articles = zip(*batch, strict=True)

        def again(place: int, paper: Paper) -> Prepared:
            self._papers[paper.name] = paper
            return articles[place].for_paper(paper)

        with transaction.atomic():
            stored = store_prepared([ready.prepared for ready in articles], again)
            frontier.settle(links)
        return stored


article_store = ArticleStore()


class ArticlePipeline:
    """Has articles extracted and stored. A page without one is counted with its reason, and dropped.

    Nothing of it blocks the reactor.
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
            counted = await article_store.store(item, self.soft_errors.reason)
        except (ExtractionError, RejectedArticleError, *LOST) as error:
            await self.spider.refuse(item.link, reason_of(error))
            # If the database is lost, the link waits. Of exceptions that it does not know, Scrapy writes a traceback.
            raise DropItem(str(error), log_level="DEBUG") from error
        except Exception as error:
            # A fault of this program: Scrapy logs the traceback, and the spider counts it.
            reason = f"fault in the crawler: {type(error).__name__}"
            await self.spider.write_down(item.link, reason)
            raise
        for outcome in counted:
            self.spider.count(outcome)
        self.spider.settled(item.link)
        return item

    async def close_spider(self) -> None:
        await article_store.leave()

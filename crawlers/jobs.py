"""Several crawls in one process: one job for each newspaper and spider, resumable, polite to shared hosts."""

import asyncio
import logging
import shutil
from collections import Counter, defaultdict
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings

from articles.models import Newspaper
from crawlers.sites import site_of
from crawlers.spiders.base import NewspaperSpider
from crawlers.spiders.feed import FeedSpider
from crawlers.spiders.section import SectionSpider
from crawlers.spiders.sitemap import SitemapSpider

# In the order in which they visit a newspaper: a feed also names the URLs that a listing does not.
SPIDERS: dict[str, type[NewspaperSpider]] = {
    spider.name: spider for spider in (FeedSpider, SitemapSpider, SectionSpider)
}
# In the state folder of a crawl that stopped in order.
_RESUMABLE = "resumable"

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Job:
    """One newspaper visited by one spider, and what came of it: counts by outcome, `failed/<reason>` too."""

    newspaper: Newspaper
    spider: type[NewspaperSpider]
    state: Path
    counts: Counter[str] = field(default_factory=Counter)
    broke_off: bool = False

    @property
    def hosts(self) -> set[str]:
        urls = getattr(self.newspaper, self.spider.sources_field)
        return {urlsplit(url).hostname or "" for url in urls if site_of(url)}


def plan_jobs(newspapers: list[Newspaper], spiders: list[type[NewspaperSpider]], states: Path) -> list[Job]:
    """Return a job for each newspaper and spider that it has sources for."""
    return [
        Job(newspaper, spider, states / str(newspaper.pk) / spider.name)
        for newspaper in newspapers
        for spider in spiders
        if getattr(newspaper, spider.sources_field)
    ]


class JobProcess(AsyncCrawlerProcess):
    """Runs jobs side by side, but those that visit a common host one after the other.

    Scrapy's limit of requests to a domain holds within one crawl only. The first interrupt stops in
    order: what is under way is finished, the rest is kept for the next time.
    """

    def __init__(self, settings: Settings, jobs: list[Job]) -> None:
        super().__init__(settings)
        self.jobs = jobs
        self.interrupted = False
        self._hosts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._finished = asyncio.Event()

    async def join(self) -> None:
        """Run the jobs. Scrapy stops the reactor when this is done."""
        try:
            await asyncio.gather(*map(self._run_apart, self.jobs))
        finally:
            self._finished.set()

    async def stop(self) -> None:
        # Also called when all is done, and once more by a second interrupt, which must not wait.
        if self.interrupted or self._finished.is_set():
            return
        self.interrupted = True
        await super().stop()
        await self._finished.wait()

    async def _run_apart(self, job: Job) -> None:
        """Run a job so that an error in it ends no other."""
        try:
            await self._run_in_turn(job)
        except Exception:
            logger.exception("%s: %s broke off", job.newspaper, job.spider.name)
            job.broke_off = True

    async def _run_in_turn(self, job: Job) -> None:
        async with AsyncExitStack() as turns:
            for host in sorted(job.hosts):  # in one order, so that no two jobs wait for each other
                await turns.enter_async_context(self._hosts[host])
            if not self.interrupted:
                await self._run(job)

    async def _run(self, job: Job) -> None:
        logger.info("%s: %s", job.newspaper, job.spider.name)
        prepare_state(job.state)
        settings = self.settings.copy()
        # One host a job: a request that is sent is the only one that waits for the check whether it is known.
        settings.setdict({"JOBDIR": str(job.state), "CONCURRENT_REQUESTS": 1}, priority="cmdline")
        crawler = Crawler(job.spider, settings)
        task = self.crawl(crawler, newspapers=str(job.newspaper.pk))
        await asyncio.wait([task])
        if error := task.exception():
            settle_state(job.state, resumable=False)
            raise error
        job.counts.update(_article_counts(crawler))
        settle_state(job.state, resumable=crawler.stats.get_value("finish_reason") == "shutdown")


def _article_counts(crawler: Crawler) -> dict[str, int]:
    return {
        name.removeprefix("articles/"): value
        for name, value in crawler.stats.get_stats().items()
        if name.startswith("articles/")
    }


def prepare_state(folder: Path) -> None:
    """Keep the state of a crawl that stopped in order, once; forget any other.

    Scrapy writes its queue when it stops, but the URLs it has seen as it goes: after a kill, the URLs that
    waited in the queue would pass for visited. Begun anew, nothing is lost, and nothing that was stored is
    fetched again.
    """
    resumable = folder / _RESUMABLE
    if resumable.exists():
        resumable.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)


def settle_state(folder: Path, *, resumable: bool) -> None:
    """Mark the state of a crawl as one to go on from, or forget it, so that the next crawl sees what is new."""
    if resumable:
        (folder / _RESUMABLE).touch()
    else:
        shutil.rmtree(folder, ignore_errors=True)

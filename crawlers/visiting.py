"""Several visits in one process: a recorded one of each newspaper by each spider, polite to shared hosts."""

import asyncio
import logging
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import Settings

from articles.models import Newspaper
from crawlers import visits
from crawlers.article_store import article_store
from crawlers.database import in_database, unless_lost
from crawlers.fetching.pacing import sites
from crawlers.fetching.sites import shared_site, site_of
from crawlers.models import Visit
from crawlers.spiders.base import NewspaperSpider
from crawlers.spiders.listings import FeedSpider, SectionSpider, SitemapSpider
from crawlers.spiders.revision import RevisionSpider

# In the order in which they visit a newspaper: a feed also lists URLs that other listings lack, and what the listings
# say of changes makes articles due to be fetched again.
SPIDERS: dict[str, type[NewspaperSpider]] = {
    spider.name: spider for spider in (FeedSpider, SitemapSpider, SectionSpider, RevisionSpider)
}
# Visits at the same time: a list of URLs may name thousands of sites.
MAX_AT_ONCE = 50
_UNRECORDED = "the visit was not recorded"
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class VisitPlan:
    """A visit to one newspaper by one spider, with its counts by outcome, including `failed/<reason>`.

    `folder` holds the queue during the visit; the queue of a large sitemap would fill the memory.
    """

    newspaper: Newspaper
    spider: type[NewspaperSpider]
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    broke_off: bool = False

    @property
    def turns(self) -> set[str]:
        """What no other visit may use at the same time: the sites, and the newspaper's links."""
        sites_used = {shared_site(url) for url in self.spider.addresses(self.newspaper) if site_of(url)}
        return sites_used | {f"newspaper {self.newspaper.pk}"}


def plan_visits(
    newspapers: list[Newspaper], spiders: list[type[NewspaperSpider]], folder: Path, settings: Settings
) -> list[VisitPlan]:
    """Return a visit for each newspaper and each spider that has something to do there."""
    return [
        VisitPlan(newspaper, spider, folder / str(newspaper.pk) / spider.name)
        for newspaper in newspapers
        for spider in spiders
        if spider.has_work(newspaper, settings)
    ]


class VisitingProcess(AsyncCrawlerProcess):
    """Makes visits in parallel, except that those with a common site take turns.

    They would only wait for each other, crawlers/fetching/pacing.py. The first interrupt stops gracefully and
    finishes the current pages. Links that wait are in the database, see crawlers/frontier.py.
    """

    def __init__(self, settings: Settings, plans: list[VisitPlan], *, on_visit_done: Callable[[], None]) -> None:
        super().__init__(settings)
        self.plans = plans
        self._on_visit_done = on_visit_done
        self.interrupted = False
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._finished = asyncio.Event()
        self._places = asyncio.Semaphore(MAX_AT_ONCE)
        # Links by newspaper that count against CRAWL_LIMIT.
        self._taken: Counter[int] = Counter()

    async def join(self) -> None:
        """Make the visits; Scrapy then stops the reactor."""
        article_store.enter(self.settings)
        try:
            await asyncio.gather(*map(self._run_apart, self.plans))
        finally:
            await article_store.leave()
            self._finished.set()

    async def stop(self) -> None:
        # Also called at the end, and again by a second interrupt, which must not wait.
        if self.interrupted or self._finished.is_set():
            return
        self.interrupted = True
        sites.stop_waiting()
        await super().stop()
        await self._finished.wait()

    async def _run_apart(self, plan: VisitPlan) -> None:
        """Make a visit in its turn, so that an error in it does not end the others."""
        try:
            async with AsyncExitStack() as turns:
                for turn in sorted(plan.turns):  # always in the same order, so that no two visits wait for each other
                    await turns.enter_async_context(self._turns[turn])
                async with self._places:
                    if not self.interrupted:
                        await self._run(plan)
        except Exception:
            logger.exception("%s: %s broke off", plan.newspaper, plan.spider.name)
            plan.broke_off = True
        self._on_visit_done()

    async def _run(self, plan: VisitPlan) -> None:
        logger.info("%s: %s", plan.newspaper, plan.spider.name)
        # Scrapy cannot resume from the queue of a crawl that was killed.
        shutil.rmtree(plan.folder, ignore_errors=True)
        settings = self.settings.copy()
        # One request at a time, so that each is checked against what the one before it stored. And one page at a
        # time from request to storage, so that a kill costs one fetch at most.
        one_at_a_time = {"CONCURRENT_REQUESTS": 1, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1}
        settings.setdict({"JOBDIR": str(plan.folder), **one_at_a_time}, priority="cmdline")
        crawler = Crawler(plan.spider, settings)
        visit = await in_database(visits.begin_visit, plan.newspaper.pk, plan.spider.name)
        state = Visit.State.STOPPED_UNEXPECTEDLY
        try:
            number = plan.newspaper.pk
            await self._watch(self.crawl(crawler, newspapers=str(number), taken=self._taken[number]), crawler, visit)
            stopped = crawler.stats.get_value("finish_reason") == "shutdown"
            state = Visit.State.INTERRUPTED if stopped else Visit.State.FINISHED
        finally:
            self._taken[plan.newspaper.pk] = getattr(crawler.spider, "taken", 0)
            plan.counts.update(_counts(crawler))
            await unless_lost(_UNRECORDED, visits.end_visit, visit, state, plan.counts, _examples(crawler))
            shutil.rmtree(plan.folder, ignore_errors=True)

    async def _watch(self, task: asyncio.Task[None], crawler: Crawler, visit: Visit) -> None:
        """Record the counts of a crawl while it runs; raise what it raises."""
        while True:
            await asyncio.wait([task], timeout=visits.BEAT)
            if task.done():
                return task.result()
            await unless_lost(_UNRECORDED, visits.record_counts, visit, _counts(crawler), _examples(crawler))


def _counts(crawler: Crawler) -> dict[str, int]:
    stats = crawler.stats.get_stats() if crawler.stats else {}
    return {name.removeprefix("articles/"): value for name, value in stats.items() if name.startswith("articles/")}


def _examples(crawler: Crawler) -> dict[str, str]:
    """Return an example URL for each reason of failure."""
    return dict(getattr(crawler.spider, "examples", {}))

"""Visits what no source lists: pages of stored articles again, for the versions that follow, and links that wait."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from django.utils import timezone
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError

from articles.models import ArticleRevision, Newspaper
from articles.storage import revisions
from articles.storage.revisions import SeenAgain, Version
from crawlers import rechecks
from crawlers.database import in_database
from crawlers.faults import reason_of
from crawlers.fetching.downloads import declared
from crawlers.fetching.sites import content_type, is_front_page, is_visitable
from crawlers.items import Validator
from crawlers.reasons import UNCHANGED
from crawlers.rechecks import DueArticle
from crawlers.spiders.base import NewspaperSpider

GONE = frozenset({404, 410})


class RevisionSpider(NewspaperSpider):
    """Visits the articles of newspapers that are due; see crawlers/rechecks.py. It needs no sources.

    The statistics articles/rechecked, articles/changed and articles/gone hold its counts.
    """

    name = "revision"

    @classmethod
    def addresses(cls, newspaper: Newspaper) -> list[str]:
        host = [f"http://{newspaper.host}/"] if newspaper.host else []
        return [*host, *newspaper.feed_urls, *newspaper.sitemap_urls, *newspaper.section_urls]

    @classmethod
    def has_work(cls, newspaper: Newspaper, settings: BaseSettings) -> bool:
        return not newspaper.teasers and rechecks.days_of(newspaper, settings.getint("REVISION_DAYS")) > 0

    async def _first_requests(self, newspaper: Newspaper) -> AsyncIterator[Request]:
        days = rechecks.days_of(newspaper, self.settings.getint("REVISION_DAYS"))
        last = 0
        while due := await in_database(rechecks.due_articles, newspaper.pk, days, last):
            for article in due:
                if is_visitable(article.url):
                    yield Request(
                        article.url,
                        callback=self.parse_again,
                        errback=self.again_failed,
                        headers=article.headers,
                        cb_kwargs={"due": article},
                        dont_filter=True,
                    )
            last = due[-1].article_id

    async def parse_again(self, response: Response, due: DueArticle) -> None:
        """Compare a page with the newest version of its article, and store what is new."""
        seen = SeenAgain(timezone.now(), due.updated_at, response.url, content_type(response), response.body)
        if response.meta.get("redirect_urls") and is_front_page(response.url):
            await self._gone(due, seen, "the page redirects to the front page")
        elif response.status != 200 or not isinstance(response, HtmlResponse) or not response.body:
            self.count_failure(due.url, "cut off" if response.status == 206 else "no HTML page")
            await in_database(rechecks.record_failure, due.article_id, seen.seen_at)
        else:
            before = await in_database(revisions.newest_version, due.article_id)
            finding = await asyncio.to_thread(revisions.compare_page, before, seen)
            await self._store(before, seen, finding, declared(response, due.url))

    async def again_failed(self, failure: Any) -> None:  # a Failure to which Scrapy adds the request
        due: DueArticle = failure.request.cb_kwargs["due"]
        now = timezone.now()
        status = failure.value.response.status if isinstance(failure.value, HttpError) else 0
        if status == UNCHANGED:
            self.count("rechecked")
            await in_database(rechecks.record_check, due.article_id, now, due, changed=False)
        elif status in GONE:
            await self._gone(due, SeenAgain(now, due.updated_at, due.url), f"HTTP {status}")
        else:
            self.count_failure(due.url, reason_of(failure.value))
            await in_database(rechecks.record_failure, due.article_id, now)

    async def _gone(self, due: DueArticle, seen: SeenAgain, note: str) -> None:
        before = await in_database(revisions.newest_version, due.article_id)
        await self._store(before, seen, revisions.gone(before, note), Validator(due.url))

    async def _store(self, before: Version, seen: SeenAgain, finding: ArticleRevision | None, state: Validator) -> None:
        self.count("rechecked")
        is_stored = finding is not None and await in_database(revisions.store_revision, before, seen, finding)
        if finding and is_stored:
            self.count("gone" if finding.kind == ArticleRevision.Kind.GONE else "changed")
        await in_database(rechecks.record_check, before.article_id, seen.seen_at, state, changed=bool(finding))


class WaitingSpider(NewspaperSpider):
    """Visits the links of a newspaper that wait: those of a list of URLs, see crawlers/listings/lists.py."""

    name = "list"

    @classmethod
    def addresses(cls, newspaper: Newspaper) -> list[str]:
        return [f"http://{newspaper.host}/"] if newspaper.host else []

    @classmethod
    def has_work(cls, newspaper: Newspaper, settings: BaseSettings) -> bool:  # noqa: ARG003 - for other spiders
        return True

    async def _first_requests(self, newspaper: Newspaper) -> AsyncIterator[Request]:
        async for request in self._waiting_requests(await self._source_of(newspaper)):
            yield request

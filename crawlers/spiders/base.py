"""The base of the spiders: from a newspaper's sources to its articles, and the counts."""

import asyncio
import datetime
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, Self
from uuid import UUID

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from articles.extraction.kept_pages import RawPage
from articles.extraction.page_series import next_page, page_number
from articles.models import Newspaper
from articles.normalization.url_patterns import SlowPatternError, check_pattern
from articles.storage.extraction_rules import rule_of
from articles.storage.incoming import story_url
from articles.storage.newspapers import Paper, UnknownNewspaperError
from crawlers import frontier, rechecks
from crawlers.database import LOST, in_database, unless_lost
from crawlers.faults import reason_of
from crawlers.fetching.downloads import declared, fetch, page_fault
from crawlers.fetching.middlewares import KnownURLError, needed_cookies
from crawlers.fetching.sites import content_type, is_visitable, same_site
from crawlers.items import ArticleLink, FetchedPage, Source, Validator
from crawlers.listings.dates import is_before, newest_first
from crawlers.reasons import DATABASE_LOST, SLOW_PATTERN, UNCHANGED, feed_serves, find_reason
from crawlers.visits import newspapers_to_crawl

_UNSAVED = "the outcome of a link was not saved; the link is visited again"
_PERMANENT_REDIRECTS = {301, 308}


class NewspaperSpider(Spider):
    """Visits the sources of newspapers and the articles that they link to.

    The argument `newspapers` holds names or ids, separated by commas; without it, all that are to be crawled. The
    statistics articles/stored, articles/known (links), articles/refused_earlier, articles/unchanged (sources),
    articles/left_out (links and sitemaps), articles/paywalled and articles/failed/<reason> hold the counts; `examples`
    has a URL for each reason.
    """

    sources_field: ClassVar[str]  # of Newspaper
    # Yields requests for the articles that a feed, sitemap or section page lists. A spider without sources has none.
    parse_source: Callable[..., AsyncIterator[Request]]
    reads_teasers: ClassVar[bool] = False  # whether it has work in newspapers whose pages are never fetched

    @classmethod
    def addresses(cls, newspaper: Newspaper) -> list[str]:
        """Return the URLs whose hosts a visit of the newspaper asks."""
        return list(getattr(newspaper, cls.sources_field))

    @classmethod
    def has_work(cls, newspaper: Newspaper, settings: BaseSettings) -> bool:  # noqa: ARG003 - for other spiders
        return bool(getattr(newspaper, cls.sources_field)) and (cls.reads_teasers or not newspaper.teasers)

    def __init__(self, newspapers: str = "", taken: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.taken = taken  # links that count against CRAWL_LIMIT, those of earlier spiders too
        self.cut_short = False  # whether links were left out because they were too many
        self.newspapers = [name.strip() for name in newspapers.split(",") if name.strip()]
        self.examples: dict[str, str] = {}
        self._counted: set[UUID] = set()  # keys of links: of those with an outcome, and of those requested
        self._requested: set[UUID] = set()
        self._validators: dict[int, dict[str, Validator]] = {}  # by the newspaper's id and the source's URL

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.count_error, signals.spider_error)
        crawler.signals.connect(spider.count_error, signals.item_error)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        try:
            for newspaper in await in_database(newspapers_to_crawl, self.newspapers):
                async for request in self._first_requests(newspaper):
                    yield request
        except UnknownNewspaperError as error:
            self.logger.error("%s", error)  # noqa: TRY400 - the message says it all
            raise CloseSpider("unknown newspaper") from error
        except LOST as error:
            self.count_failure("", DATABASE_LOST)
            raise CloseSpider(DATABASE_LOST) from error

    async def _first_requests(self, newspaper: Newspaper) -> AsyncIterator[Request]:
        """Yield requests for links that wait since an earlier crawl, then for the newspaper's sources."""
        pattern = newspaper.article_url_pattern
        try:
            check_pattern(pattern)
        except re.error as error:
            self.count_failure(pattern, f"article URL pattern is no regular expression: {error}")
            return
        except SlowPatternError:
            self.count_failure(pattern, SLOW_PATTERN)
            return
        source = await self._source_of(newspaper)
        async for request in self._waiting_requests(source):
            yield request
        self._validators[newspaper.pk] = await in_database(frontier.stored_validators, source)
        for url in dict.fromkeys(getattr(newspaper, self.sources_field)):
            if is_visitable(url):
                yield self.source_request(source, url)
            else:
                self.count_failure(url, "bad address")

    def leads_on(self, url: str, page: str, read: Sequence[Validator]) -> bool:
        """Return whether a source goes on at this URL, which a page of it names, and may: `read` are those so far."""
        new = url not in {page, *(validator.url for validator in read)}
        most = self.settings.getint(f"{self.name.upper()}_MAX_PAGES")
        return new and not self.full and same_site(url, page) and len(read) < most

    async def _source_of(self, newspaper: Newspaper) -> Source:
        rule = await in_database(rule_of, newspaper)
        await in_database(frontier.try_new_rule, newspaper, days=self.settings.getfloat("REFUSED_DAYS"))
        return Source(
            newspaper.pk,
            newspaper.article_url_pattern,
            Paper.of(newspaper),
            rule,
            rechecks.days_of(newspaper, self.settings.getint("REVISION_DAYS")) > 0,
            newspaper.teasers,
        )

    async def _waiting_requests(self, source: Source) -> AsyncIterator[Request]:
        """Yield requests for links that wait since an earlier crawl."""
        if source.teasers:
            return
        last = 0
        while batch := await in_database(frontier.waiting_links, source, last):
            waiting = {link.key: link for _, link in batch if not is_before(link, self.since)}
            for request in self._article_requests(self._within_limit(waiting)):
                yield request
            last = batch[-1][0]

    # -- Sources ------------------------------------------------------------------------------------------

    def source_request(self, source: Source, url: str, **more: Any) -> Request:
        """Return a request for a feed, sitemap or section page; `more` goes to parse_source.

        It asks whether the source has changed since all its links were saved.
        """
        # Another crawl may have left out what was published since an earlier day.
        known = self._validators[source.newspaper_id].get(url) if self.since is None else None
        return Request(
            url,
            callback=self.parse_source,
            errback=self.source_failed,
            headers=known.headers if known else {},
            cb_kwargs={"source": source, **more},
            meta={"source_url": url},
            # Scrapy's filter would drop one that is named twice, or a redirect to it, without a word.
            dont_filter=True,
        )

    async def source_failed(self, failure: Any) -> AsyncIterator[Request]:  # Scrapy adds the request to the Failure
        error = failure.value
        if isinstance(error, HttpError) and error.response.status == UNCHANGED:
            self.count("unchanged")
            # The pages before this one were read; this one and those after it have not changed.
            given = failure.request.cb_kwargs
            await self.store_states(given["source"], given.get("read", ()))
        else:
            self.count_failure(failure.request.meta["source_url"], reason_of(error))
        async for request in self.after_source():
            yield request

    async def after_source(self) -> AsyncIterator[Request]:
        """Yield what remains to be requested after a source that was not read."""
        return
        yield

    def validator_of(self, response: Response) -> Validator:
        """Return the state that the response declares; empty after a redirect that may lead elsewhere next time."""
        if not set(response.meta.get("redirect_reasons", [])) <= _PERMANENT_REDIRECTS:
            return Validator(response.meta["source_url"])
        return declared(response, response.meta["source_url"])

    async def store_states(self, source: Source, validators: Sequence[Validator]) -> None:
        """Store the states of sources whose links are all saved; not if this crawl left out what another one takes."""
        if self.since is None and not self.cut_short:
            await in_database(frontier.store_validators, source, validators)

    @property
    def since(self) -> datetime.date | None:
        """The first day of publication that was asked for."""
        day = self.settings.get("CRAWL_SINCE")
        return datetime.date.fromisoformat(day) if day else None

    @property
    def full(self) -> bool:
        """Whether as many links as were asked for are taken."""
        limit = self.settings.getint("CRAWL_LIMIT")
        return bool(limit) and self.taken >= limit

    def _within_limit(self, links: Mapping[UUID, ArticleLink]) -> dict[UUID, ArticleLink]:
        """Return as many of the first links as may still be taken; count the others as left out."""
        limit = self.settings.getint("CRAWL_LIMIT")
        taken = dict(islice(links.items(), max(limit - self.taken, 0))) if limit else dict(links)
        self.taken += len(taken)
        self.leave_out(len(links) - len(taken))
        return taken

    def leave_out(self, number: int) -> None:
        """Count links that are beyond a bound on their number. Another crawl takes them."""
        self.cut_short |= number > 0
        self.count("left_out", number)

    async def article_requests(self, source: Source, links: Iterable[ArticleLink]) -> AsyncIterator[Request]:
        """Yield a request for each link whose article is neither stored nor refused, the newest first.

        Counts the others. Links before `since`, and those beyond the limit, are left out.
        """
        async for request in self.take(await self.new_links(source, links, self.since)):
            yield request

    async def take(self, new: Mapping[UUID, ArticleLink]) -> AsyncIterator[Request]:
        """Save new links and yield a request for each, as far as the limit allows."""
        taken = list(self._within_limit(new).items())
        for start in range(0, len(taken), frontier.BATCH):
            batch = dict(taken[start : start + frontier.BATCH])
            await in_database(frontier.save_links, batch)
            for request in self._article_requests(batch):
                yield request

    async def new_links(
        self, source: Source, links: Iterable[ArticleLink], since: datetime.date | None
    ) -> dict[UUID, ArticleLink]:
        """Return the links since a day whose articles are neither stored nor refused, by their keys, the newest first.

        Counts the others.
        """
        visitable: list[ArticleLink] = []
        old = 0
        for link in links:
            if not is_visitable(link.url):
                self.count_failure(link.url, "bad address")
            elif is_before(link, since):
                old += 1
            else:
                visitable.append(link)
        self.count("left_out", old)
        visitable = newest_first(visitable)
        new: dict[UUID, ArticleLink] = {}
        for start in range(0, len(visitable), frontier.BATCH):
            batch = visitable[start : start + frontier.BATCH]
            links_sorted = await in_database(frontier.sort_links, source, batch)
            self._count_once("known", links_sorted.known)
            if source.keeps_versions:
                changed = {link.key: link.changed_at for link in batch if link.changed_at}
                known = {key: at for key, at in changed.items() if key in links_sorted.known}
                await in_database(rechecks.note_listed, source.newspaper_id, known)
            self._count_once("refused_earlier", links_sorted.refused)
            for key, link in links_sorted.new.items():
                if key not in self._requested:
                    new.setdefault(key, link)
        return new

    # -- Articles -----------------------------------------------------------------------------------------

    def _article_requests(self, links: Mapping[UUID, ArticleLink]) -> Iterator[Request]:
        """Yield a request for each link that had none yet.

        Scrapy's filter is off: it joins some URLs that the store keeps apart, and one of them would wait forever.
        """
        for key, link in links.items():
            if key not in self._requested:
                self._requested.add(key)
                # A redirect that contains its target is skipped: Google does not let crawlers follow its redirects.
                yield Request(
                    story_url(link.url),
                    callback=self.parse_article,
                    errback=self.article_failed,
                    meta={"article_link": link},
                    dont_filter=True,
                )

    async def parse_article(self, response: Response) -> AsyncIterator[FetchedPage]:
        """Pass the page to the pipeline, with the further pages of its article, unless it cannot be the article's."""
        link: ArticleLink = response.meta["article_link"]
        redirects: list[str] = response.meta.get("redirect_urls", [])
        if reason := page_fault(response, link):
            async for page in self._without_page(link, reason):
                yield page
        else:
            url = response.url if redirects else story_url(link.url)
            between = () if needed_cookies(response) else tuple(redirects[1:])
            page = FetchedPage(link, url, between, content_type(response), response.body)
            whole = await self._with_following(page)
            if isinstance(whole, str):
                await self.refuse(link, whole)
            else:
                yield whole

    async def article_failed(
        self, failure: Any
    ) -> AsyncIterator[FetchedPage]:  # Scrapy adds the request to the Failure
        link: ArticleLink = failure.request.meta["article_link"]
        if isinstance(failure.value, KnownURLError):
            await self.settle(link)
        else:
            async for page in self._without_page(link, reason_of(failure.value)):
                yield page

    async def _without_page(self, link: ArticleLink, reason: str) -> AsyncIterator[FetchedPage]:
        """Refuse a link whose page failed; if its feed carries the text, pass that to the pipeline instead."""
        if link.feed_entry and feed_serves(reason):
            yield FetchedPage(link, story_url(link.url), (), "", b"", missing=reason)
        else:
            await self.refuse(link, reason)

    async def settle(self, link: ArticleLink) -> None:
        """Delete a link whose article turned out to be stored."""
        self.settled(link)
        await unless_lost(_UNSAVED, frontier.settle, [link])

    def settled(self, link: ArticleLink) -> None:
        """Note that a link has its outcome, which its caller has counted and saved."""
        self._counted.add(link.key)

    async def refuse(self, link: ArticleLink, reason: str) -> None:
        """Count a link that failed, and save whether it waits or is refused."""
        self.count_failure(link.url, reason)
        await self.write_down(link, reason)

    async def write_down(self, link: ArticleLink, reason: str) -> None:
        """Save whether a link that failed waits for the next crawl or is refused."""
        self._counted.add(link.key)
        days = self.settings.getfloat("REFUSED_DAYS")
        if reason == DATABASE_LOST or find_reason(reason).untried:
            return  # it waits, as was saved before
        if find_reason(reason).passing:
            max_tries = self.settings.getint("MAX_TRIES")
            await unless_lost(_UNSAVED, frontier.postpone, link, reason, max_tries=max_tries, days=days)
        else:
            await unless_lost(_UNSAVED, frontier.refuse, link, reason, days=days)

    # -- Counting -----------------------------------------------------------------------------------------

    def count(self, outcome: str, number: int = 1) -> None:
        if number:
            self.crawler.stats.inc_value(f"articles/{outcome}", number)

    def _count_once(self, outcome: str, keys: set[UUID]) -> None:
        """Count the links that were not counted yet: many pages list the same ones."""
        self.count(outcome, len(keys - self._counted))
        self._counted |= keys

    def count_failure(self, url: str, reason: str, number: int = 1) -> None:
        self.logger.warning("%s: %s", url, reason)
        self.examples.setdefault(reason, url)
        self.count(f"failed/{reason}", number)

    def count_error(self, failure: Failure, response: Response | None) -> None:
        """Count an error in this program; Scrapy logs its traceback."""
        error = failure.value
        reason = DATABASE_LOST if isinstance(error, LOST) else f"fault in the crawler: {type(error).__name__}"
        if isinstance(error, SlowPatternError):
            reason = SLOW_PATTERN
        self.count_failure(getattr(response, "url", ""), reason)

    # -- Articles on several pages. A page that cannot be read is kept as an empty one: so the article says that it is
    #    missing. If the reason is temporary, the link waits for the next crawl.

    async def _with_following(self, page: FetchedPage) -> FetchedPage | str:
        """Return an article with its further pages, or the temporary reason why one of them cannot be read."""
        most = self.settings.getint("ARTICLE_MAX_PAGES")
        pages = [RawPage(page.body, page.url, page.content_type)]
        while most > 1 and (found := await asyncio.to_thread(next_page, *pages[-1], page.url, len(pages))):
            if found.whole and (whole := _raw(await fetch(self, found.whole))):
                pages.append(whole)
                break
            response = await fetch(self, found.url) if len(pages) < most else ""
            if isinstance(response, str) and find_reason(response).passing:
                return response
            read = _raw(response)
            # A redirect may lead back to the first page, or to a login.
            redirected = isinstance(response, Response) and bool(response.meta.get("redirect_urls"))
            if read and redirected and page_number(read.url, page.url) != len(pages) + 1:
                read = None
            pages.append(read or RawPage(b"", found.url, ""))
        return replace(page, following=tuple(pages[1:]))


def _raw(response: Response | str) -> RawPage | None:
    """Return a page as it was fetched; None if there is none."""
    if not isinstance(response, HtmlResponse) or not response.body:
        return None
    return RawPage(response.body, response.url, content_type(response))

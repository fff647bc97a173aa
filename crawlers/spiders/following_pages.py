"""Articles on several pages: the part of a spider that fetches the further ones before the article is passed on."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response

from articles.extraction.kept_pages import RawPage
from articles.extraction.page_series import next_page, page_number
from crawlers.faults import reason_of
from crawlers.fetching.sites import content_type
from crawlers.items import ArticleLink, FetchedPage
from crawlers.reasons import find_reason


class PagedArticles(Spider):
    """Follows an article from page to page. What it yields is the article with all its pages, or its next request.

    A page that cannot be read is kept as an empty one, so that the article says that it is missing. If the reason is
    temporary, the link waits for the next crawl.
    """

    @abstractmethod
    async def refuse(self, link: ArticleLink, reason: str) -> None:
        """Count a link that failed, and save whether it waits or is refused."""

    async def with_following(self, page: FetchedPage) -> FetchedPage | Request:
        """Return a request for the next page of an article, or the article if there is none."""
        most, number = self.settings.getint("ARTICLE_MAX_PAGES"), len(page.following) + 1
        last = page.following[-1] if page.following else RawPage(page.body, page.url, page.content_type)
        found = await asyncio.to_thread(next_page, last.body, last.url, last.content_type, page.url, number)
        if found is None or most < 2:
            return page
        if number >= most:
            return _with(page, RawPage(b"", found.url, ""))
        return self._following_request(page, found.whole or found.url, instead=found.url if found.whole else "")

    def _following_request(self, page: FetchedPage, url: str, *, instead: str = "") -> Request:
        """Return a request for a further page; `instead` is the next page, if `url` has the whole text."""
        return Request(
            url,
            callback=self.parse_following,
            errback=self.following_failed,
            cb_kwargs={"page": page, "instead": instead},
            dont_filter=True,
        )

    async def parse_following(self, response: Response, page: FetchedPage, instead: str) -> AsyncIterator[Any]:
        """Add a page to the article, and go on to the one after it; after the whole text, there is none."""
        number = len(page.following) + 2
        # A redirect may lead back to the first page, or to a login.
        is_page = (
            bool(instead) or not response.meta.get("redirect_urls") or page_number(response.url, page.url) == number
        )
        if not isinstance(response, HtmlResponse) or not response.body or not is_page:
            yield self._without(page, response.url, instead)
            return
        page = _with(page, RawPage(response.body, response.url, content_type(response)))
        yield page if instead else await self.with_following(page)

    async def following_failed(self, failure: Any) -> AsyncIterator[Any]:  # Scrapy adds the request to the Failure
        """Go on without the page, or let the link wait for the next crawl."""
        page, instead = failure.request.cb_kwargs["page"], failure.request.cb_kwargs["instead"]
        reason = reason_of(failure.value)
        if find_reason(reason).passing and not instead:
            await self.refuse(page.link, reason)
        else:
            yield self._without(page, failure.request.url, instead)

    def _without(self, page: FetchedPage, url: str, instead: str) -> FetchedPage | Request:
        """Return what follows a page that cannot be read: the next page, if that one had the whole text."""
        return self._following_request(page, instead) if instead else _with(page, RawPage(b"", url, ""))


def _with(page: FetchedPage, following: RawPage) -> FetchedPage:
    return replace(page, following=(*page.following, following))

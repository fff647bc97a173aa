"""What tries a newspaper: reads its sources and fetches ten of their articles, as a crawl would, and stores nothing."""

import datetime
import time
from collections.abc import Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Any
from uuid import UUID

from scrapy.http import HtmlResponse, Response

from articles.extraction.extract import ExtractionError
from articles.extraction.rules import ExtractionRule
from articles.models import ArticleURL
from articles.normalization.url_patterns import finds
from articles.storage.incoming import IncomingArticle, RejectedArticleError, check_article, story_url
from articles.storage.newspapers import Paper
from crawlers.discovery.found import FIELDS, SourceKind
from crawlers.faults import reason_of
from crawlers.fetching.bare_spiders import BareSpider
from crawlers.fetching.downloads import page_fault
from crawlers.fetching.elsewhere import NO_ANSWER
from crawlers.fetching.sites import content_type, is_visitable
from crawlers.items import ArticleLink, Entry, FetchedPage, Source
from crawlers.listings.dates import newest_first
from crawlers.listings.sources import read_feed, read_newest
from crawlers.page_articles import extracted_article, incoming_article, teaser_article
from crawlers.spiders.listings import article_urls

ARTICLES = 10
# Seconds in which it begins no further request.
_PATIENCE = 75
_SHOWN_CHARACTERS = 20_000


class TrialSpider(BareSpider):
    """Reads the sources one after the other, then articles of each in turn, the newest first."""

    name = "trial"
    draft: dict[str, Any]
    rule: ExtractionRule

    async def look(self) -> None:
        self.until = time.monotonic() + _PATIENCE
        self.source = Source(
            0, self.draft["article_url_pattern"], Paper(self.draft["name"]), self.rule, teasers=self.draft["teasers"]
        )
        self.found.update(sources=[], articles=[])
        kinds: list[SourceKind] = ["feed"] if self.draft["teasers"] else list(FIELDS)
        lists = [newest_first(await self._links(kind, url)) for kind in kinds for url in self.draft[FIELDS[kind]]]
        in_turn: dict[UUID, ArticleLink] = {}  # the first of each list, then the second of each, and so on
        for link in filter(None, chain.from_iterable(zip_longest(*lists))):
            in_turn.setdefault(link.key, link)
        for link in list(in_turn.values())[:ARTICLES]:
            self.found["articles"].append({"url": link.url, **await self._article(link)})

    async def ask(self, url: str, **meta: Any) -> Response | str:
        return NO_ANSWER if time.monotonic() > self.until else await super().ask(url, **meta)

    # -- Sources ------------------------------------------------------------------------------------------

    async def _links(self, kind: SourceKind, url: str) -> list[ArticleLink]:
        """Return the links of a source, and record their number, or why there are none."""
        bound = {"download_maxsize": self.settings.getint("SITEMAP_MAXSIZE")} if kind == "sitemap" else {}
        response = await self.ask(url, **bound) if is_visitable(url) else "bad address"
        links: list[ArticleLink] | str = response if isinstance(response, str) else await self._listed(kind, response)
        reason = links if isinstance(links, str) else ""
        found = [] if isinstance(links, str) else [link for link in links if is_visitable(link.url)]
        self.found["sources"].append({"kind": kind, "url": url, "links": len(found), "reason": reason})
        return found

    async def _listed(self, kind: str, response: Response) -> list[ArticleLink] | str:
        if kind == "feed":
            feed = read_feed(response.body, response.url, content_type(response))
            return self._of(feed.entries, ArticleURL.Kind.FEED) if feed.readable else "unreadable feed"
        if kind == "section":
            if not isinstance(response, HtmlResponse):
                return "section is no HTML page"
            urls = article_urls(response, self.source.article_url_pattern)
            return self._of([Entry(url) for url in urls if url != response.url], ArticleURL.Kind.PAGE)
        most = self.settings.getint("SITEMAP_MAXSIZE")
        document, _ = await read_newest(response, partial(self.ask, download_maxsize=most), most)
        pattern = self.source.article_url_pattern
        matching = [entry for entry in document.entries if finds(pattern, entry.url)]
        return self._of(matching, ArticleURL.Kind.PAGE) if document.readable else "unreadable sitemap"

    def _of(self, entries: Sequence[Entry], kind: ArticleURL.Kind) -> list[ArticleLink]:
        return [entry.link(self.source, kind) for entry in entries]

    # -- Articles -----------------------------------------------------------------------------------------

    async def _article(self, link: ArticleLink) -> dict[str, Any]:
        """Return the article of a link as it would be stored, or the reason why it would not be."""
        try:
            incoming = await self._incoming(link)
            if isinstance(incoming, str):
                return {"reason": incoming}
            check_article(incoming)
        except (ExtractionError, RejectedArticleError) as error:
            return {"reason": reason_of(error)}
        details = incoming.details
        return {
            "headline": incoming.headline,
            "day": incoming.date.isoformat(),
            "text": incoming.content[:_SHOWN_CHARACTERS],
            "words": len(incoming.content.split()),
            "byline": details.byline,
            "language": details.language,
            "paywalled": details.paywalled,
            "date_doubt": details.date_doubt,
            "text_doubt": details.text_doubt,
        }

    async def _incoming(self, link: ArticleLink) -> IncomingArticle | str:
        """Return the article of a link, or the reason why its page cannot be read. Raises ExtractionError."""
        if self.draft["teasers"]:
            return teaser_article(link, datetime.datetime.now(datetime.UTC).date())
        page = _page(await self.ask(story_url(link.url)), link)
        if isinstance(page, str):
            return page
        return incoming_article(page, extracted_article(page))


def _page(response: Response | str, link: ArticleLink) -> FetchedPage | str:
    """Return the page of a link, one without a body if its feed carries the article; or why there is none."""
    reason = response if isinstance(response, str) else page_fault(response, link)
    if isinstance(response, str) or reason:
        return FetchedPage(link, link.url, (), "", b"", missing=reason) if link.feed_entry else reason
    redirects = tuple(response.meta.get("redirect_urls", [])[1:])
    return FetchedPage(link, response.url, redirects, content_type(response), response.body)

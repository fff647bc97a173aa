"""The spider of discovery, in a process of its own: asks a site where its articles are listed, and looks there.

It obeys robots.txt, pauses between two requests, and asks few of them: what the home page and robots.txt name, usual
addresses only if those name nothing, and a few sections. Nothing is stored.
"""

import asyncio
import datetime
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin, urlsplit

from scrapy.http import HtmlResponse, Response

from crawlers.discovery import hints
from crawlers.discovery.found import MAX_SAMPLES, FoundNewspaper, FoundSource, SourceKind
from crawlers.discovery.hints import HomePage, Link, looks_like_article
from crawlers.fetching.bare_spiders import BareSpider
from crawlers.fetching.sites import content_type, same_site
from crawlers.items import Entry
from crawlers.listings.sources import MAX_NAMED, read_feed, read_newest
from crawlers.reasons import find_reason

# A source whose newest article is so much older than the newest of the site is an abandoned one.
FRESH_DAYS = 90
# A section page lists at least so many articles.
LEAST_LINKED = 3
MAX_FEEDS = 8
MAX_SITEMAPS = 4
MAX_SECTIONS = 5
MAX_SITEMAP_BYTES = 20 * 1024 * 1024
MAX_ARTICLES = 2_000  # of which the form of their URLs is learnt


class Explorer(BareSpider):
    """Puts what it finds into `found`, again after each step, so that nothing is lost when the time is over."""

    name = "explorer"
    url: str
    patience: float  # seconds

    async def look(self) -> None:
        self.until = time.monotonic() + self.patience
        self.page, self.home = self.url, HomePage()
        self.sources: list[FoundSource] = []
        self.articles: list[str] = []
        try:
            if reason := await self._go_home():
                self.found.update(reason=reason)
            else:
                await self._explore()
        except TimeoutError:
            if self.home.links or self.sources:
                self._report("The site answers slowly: not everything was looked at.")
            else:
                self.found.update(reason="no answer in time")

    async def ask(self, url: str, **meta: Any) -> Response | str:
        """Return the response to a request, or the reason why there is none. Raises TimeoutError when time is over."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        async with asyncio.timeout(left):
            return await super().ask(url, download_maxsize=MAX_SITEMAP_BYTES, **meta)

    async def _go_home(self) -> str:
        """Ask for the home page; return why it cannot be read. A feed's or sitemap's address leads to the site's."""
        response = await self.ask(self.url)
        if isinstance(response, str):
            return response
        self.page = urljoin(response.url, urlsplit(response.url).path or "/")
        if not isinstance(response, HtmlResponse):
            for kind in ("feed", "sitemap"):
                if await self._keep_if_good(FoundSource(kind, response.url, "", "the address that you gave"), response):
                    break
            self.page = urljoin(response.url, "/")
            response = await self.ask(self.page)
        if isinstance(response, HtmlResponse):
            self.home = _home_page(response)
            return ""
        return "" if self.sources else "no HTML page"

    async def _explore(self) -> None:
        self._report()
        feeds = [link for link in self.home.feeds if not hints.OF_COMMENTS.search(f"{link.text} {link.url}")]
        await self._look_at("feed", feeds[:MAX_FEEDS], "the home page")
        if not self._has("feed"):
            await self._guess("feed", hints.GUESSED_FEEDS)
        robots = await self.ask(urljoin(self.page, "/robots.txt"), dont_obey_robotstxt=True)
        text = "" if isinstance(robots, str) else robots.body.decode(errors="replace")
        named = sorted(hints.robots_sitemaps(text, self.page), key=lambda url: "news" not in url.lower())
        await self._look_at("sitemap", [Link(url, "") for url in named[:MAX_SITEMAPS]], "robots.txt")
        if not self._has("sitemap"):
            await self._guess("sitemap", hints.GUESSED_SITEMAPS)
        links = hints.sections(self.home.links, self._pattern())
        await self._look_at("section", links[:MAX_SECTIONS], "the home page")

    async def _look_at(self, kind: SourceKind, links: Sequence[Link], found_in: str) -> None:
        """Look at sources that the site names; one that cannot be read is reported with its problem."""
        for link in links:
            if any(source.url == link.url for source in self.sources):
                continue
            source = FoundSource(kind, link.url, link.text, found_in)
            response = await self.ask(link.url)
            if isinstance(response, str):
                self.sources.append(replace(source, problem=f"{find_reason(response).meaning} ({response})"))
            else:
                self.sources.append(await self._filled(source, response))
            self._report()

    async def _guess(self, kind: SourceKind, paths: Sequence[str]) -> None:
        """Ask for usual addresses until one is a source."""
        for path in paths:
            response = await self.ask(urljoin(self.page, path))
            if isinstance(response, str):
                continue
            if await self._keep_if_good(FoundSource(kind, response.url, "", "a usual address"), response):
                self._report()
                return

    async def _keep_if_good(self, source: FoundSource, response: Response) -> bool:
        filled = await self._filled(source, response)
        if not filled.problem:
            self.sources.append(filled)
        return not filled.problem

    async def _filled(self, source: FoundSource, response: Response) -> FoundSource:
        """Return a source with what its response would bring; its articles are remembered."""
        if source.kind == "section":
            page = _home_page(response) if isinstance(response, HtmlResponse) else HomePage()
            pattern = self._pattern()
            articles = [link for link in page.links if hints.is_article(link.url, pattern)]
            if len(articles) < LEAST_LINKED:
                return replace(source, problem="It links to no articles.")
            return _with(source, [Entry(article.url, headline=article.text) for article in articles])
        if source.kind == "sitemap":
            document, named = await read_newest(response, self.ask, MAX_SITEMAP_BYTES)
            self.articles += [entry.url for entry in document.entries if entry.published]
            if not document.readable or not (document.entries or named):
                return replace(source, problem="It is empty." if document.readable else "This is not a sitemap.")
            return _with(source, document.entries, at_least=named > MAX_NAMED)
        feed = await asyncio.to_thread(read_feed, response.body, response.url, content_type(response))
        entries = [entry for entry in feed.entries if entry.url]
        self.articles += [entry.url for entry in entries]
        source = replace(source, title=feed.title or source.title)
        if not entries:
            return replace(source, problem="It is empty." if feed.readable else "This is not a feed.")
        return _with(source, entries, at_least=bool(feed.next_url))

    def _has(self, kind: SourceKind) -> bool:
        return any(source.kind == kind and not source.problem for source in self.sources)

    def _pattern(self) -> str:
        """Return a pattern that the articles found so far have, and the other links of the home page do not have."""
        links = [link.url for link in self.home.links]
        articles = [url for url in self.articles if same_site(url, self.page)]
        articles = articles or [url for url in links if looks_like_article(url)]
        return hints.propose_pattern(articles[:MAX_ARTICLES], [url for url in links if not looks_like_article(url)])

    def _report(self, *notes: str) -> None:
        host = (urlsplit(self.page).hostname or "").removeprefix("www.")
        found = FoundNewspaper(
            url=self.page,
            host=host,
            name=self.home.name or host,
            language=self.home.language,
            article_url_pattern=self._pattern(),
            sources=recommended(self.sources),
            notes=notes,
        )
        self.found.update(found.as_json())


def _home_page(response: Response) -> HomePage:
    try:
        return hints.read_home_page(response.body, response.url, content_type(response))
    except ValueError:
        return HomePage()


# -- What a source would bring, from its response; and which of them a crawl should read. Pure. ----------------------


def recommended(sources: Iterable[FoundSource]) -> tuple[FoundSource, ...]:
    """Return the sources, the best first, with those marked that a crawl should read.

    These are the feeds and sitemaps that are not abandoned; if there are none, the section pages.
    """
    sources = list(sources)
    newest = max((source.newest for source in sources if source.newest), default=None)
    fresh = newest - datetime.timedelta(days=FRESH_DAYS) if newest else datetime.date.min
    good = [source for source in sources if not source.problem and (source.newest is None or source.newest >= fresh)]
    listings = [source for source in good if source.kind != "section"]
    chosen = {(source.kind, source.url) for source in listings or good}
    marked = [replace(source, recommended=(source.kind, source.url) in chosen) for source in sources]
    kinds = ("feed", "sitemap", "section")
    return tuple(
        sorted(marked, key=lambda source: (not source.recommended, bool(source.problem), kinds.index(source.kind)))
    )


def _with(source: FoundSource, entries: Sequence[Entry], *, at_least: bool = False) -> FoundSource:
    """Return a source with the number, the newest day and samples of the entries that it lists."""
    listed = [
        (entry.published.day if entry.published else entry.changed, entry.headline or entry.url) for entry in entries
    ]
    newest_first = sorted(listed, key=lambda entry: entry[0] or datetime.date.min, reverse=True)
    samples = tuple(dict.fromkeys(text for _, text in newest_first))[:MAX_SAMPLES]
    newest = max((day for day, _ in listed if day), default=None)
    return replace(source, entries=len(listed), newest=newest, samples=samples, at_least=at_least)

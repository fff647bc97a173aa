"""What a source would bring, from its response; and which of the sources a crawl should read. Pure."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from crawlers.discovery.found import MAX_SAMPLES, FoundSource
from crawlers.discovery.hints import HomePage, Link, looks_like_article
from crawlers.listings.feeds import Feed
from crawlers.listings.sitemaps import Document, SitemapEntry, last_days

# A source whose newest article is so much older than the newest of the site is an abandoned one.
FRESH_DAYS = 90
# A section page lists at least so many articles.
LEAST_LINKED = 3
_NO_ARTICLES = re.compile(
    r"categor|\btags?\b|post_tag|author|image|video|page-sitemap|sitemap-pages?|misc", re.IGNORECASE
)


def feed_source(feed: Feed, link: Link, found_in: str) -> FoundSource:
    """Return what a feed would bring."""
    entries = [entry for entry in feed.entries if entry.url]
    source = FoundSource("feed", link.url, feed.title or link.text, found_in)
    if not feed.readable:
        return replace(source, problem="This is not a feed.")
    listed = [(entry.published.day if entry.published else None, entry.title or entry.url) for entry in entries]
    return _with(source, listed, at_least=bool(feed.next_url)) if entries else replace(source, problem="It is empty.")


def sitemap_source(document: Document, link: Link, found_in: str) -> FoundSource:
    """Return what a sitemap would bring; of an index, nothing yet."""
    source = FoundSource("sitemap", link.url, link.text, found_in)
    if document.kind not in {"urlset", "sitemapindex"}:
        return replace(source, problem="This is not a sitemap.")
    if not document.entries:
        return replace(source, problem="It is empty.")
    return source if document.kind == "sitemapindex" else with_entries(source, document.entries, at_least=False)


def with_entries(source: FoundSource, entries: Sequence[SitemapEntry], *, at_least: bool) -> FoundSource:
    """Return a sitemap with the entries that it brings."""
    listed = [
        (entry.published.day if entry.published else entry.changed, entry.title or entry.url) for entry in entries
    ]
    return _with(source, listed, at_least=at_least)


def section_source(page: HomePage, link: Link, found_in: str, pattern: str) -> FoundSource:
    """Return what a section page would bring: the links that match the pattern, or look like articles."""
    source = FoundSource("section", link.url, link.text, found_in)
    articles = [linked for linked in page.links if _is_article(linked.url, pattern)]
    if len(articles) < LEAST_LINKED:
        return replace(source, problem="It links to no articles.")
    return _with(source, [(None, article.text or article.url) for article in articles], at_least=False)


def newest_named(index: Document, number: int) -> list[str]:
    """Return the URLs of the newest sitemaps of an index that can list articles; those without a day first."""
    days = last_days(index.entries)
    urls = list(dict.fromkeys(entry.url for entry in index.entries))
    articles = [url for url in urls if not _NO_ARTICLES.search(url)] or urls
    articles.sort(key=lambda url: days.get(url, datetime.date.max), reverse=True)
    # A news sitemap has the headlines of the last two days.
    return sorted(articles, key=lambda url: "news" not in url.lower())[:number]


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


def _is_article(url: str, pattern: str) -> bool:
    return bool(re.search(pattern, url)) if pattern else looks_like_article(url)


def _with(source: FoundSource, listed: Sequence[tuple[datetime.date | None, str]], *, at_least: bool) -> FoundSource:
    """Return a source with the number, the newest day and samples of what it lists."""
    newest_first = sorted(listed, key=lambda entry: entry[0] or datetime.date.min, reverse=True)
    samples = tuple(dict.fromkeys(text for _, text in newest_first))[:MAX_SAMPLES]
    newest = max((day for day, _ in listed if day), default=None)
    return replace(source, entries=len(listed), newest=newest, samples=samples, at_least=at_least)

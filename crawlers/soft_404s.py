"""Pages that come with status 200 where an article is missing: a notice, a login, the site's page for missing ones.

Only pages without a day of publication of their own are looked at: an article that a feed dates must not be one of
those. A site is asked once in a crawl for a page that cannot exist, and what it answers is no article.
"""

import asyncio
import re
import secrets
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from scrapy import Spider
from scrapy.http import HtmlResponse

from articles.extraction.extract import ExtractionError, extract_article
from articles.extraction.notices import is_notice
from articles.models import Article
from articles.normalization.parameters import names_a_story
from articles.normalization.text import normalize_text
from articles.normalization.titles import normalize_title
from articles.normalization.urls import page_form
from articles.storage.known_articles import others_with_text
from crawlers.database import in_database
from crawlers.fetching.downloads import fetch
from crawlers.fetching.sites import site_of
from crawlers.items import FetchedPage
from crawlers.page_articles import ReadyArticle

SOFT_404, ONE_PAGE = "page for missing articles", "one page under many URLs"
# A day that the page declares belongs to an article.
_DECLARED = {Article.DateSource.JSON_LD, Article.DateSource.META, Article.DateSource.RULE}
_LISTED = {Article.DateSource.FEED, Article.DateSource.SITEMAP}
# A longer text is more than a notice.
_MOST_WORDS = 60
# A page for missing articles may name the URL that was asked for, and the latest stories.
_SAME_SHARE = 0.8
_EXTENSION = re.compile(r"\.[a-z]{2,5}\Z", re.IGNORECASE)


class SoftErrors:
    """What a crawl knows of such pages."""

    def __init__(self, spider: Spider) -> None:
        self.spider = spider
        self._missing: dict[str, asyncio.Future[frozenset[str]]] = {}  # the words of the page, by site
        self._pages: dict[tuple[str, object], str] = {}  # of headline and text, the first page with them

    async def reason(self, page: FetchedPage, ready: ReadyArticle) -> str:
        """Return why a page is no article; empty if it can be one."""
        incoming, prepared = ready.incoming, ready.prepared
        if page.missing or incoming.details.date_source in _DECLARED:
            return ""
        if is_notice(incoming.headline, incoming.content):
            return SOFT_404
        words = _words(incoming.headline, incoming.content)
        if (site := site_of(page.url)) not in self._missing:
            self._missing[site] = asyncio.ensure_future(self._asked(impossible_url(page.url)))
        missing = await self._missing[site]
        if missing and len(words & missing) >= _SAME_SHARE * len(words | missing):
            return SOFT_404
        if not _may_be_one_page(page, ready):
            return ""
        here = page_form(page.link.url)
        first = self._pages.setdefault((prepared.normalized_title, prepared.text_digest), here)
        if first != here or await in_database(others_with_text, page.link.source.newspaper_id, prepared):
            return ONE_PAGE
        return ""

    async def _asked(self, url: str) -> frozenset[str]:
        """Return the words of the page that a site shows for missing ones; empty if it says that they are missing."""
        response = await fetch(self.spider, url)
        if not isinstance(response, HtmlResponse):
            return frozenset()
        try:
            article = await asyncio.to_thread(extract_article, response.body, response.url)
        except ExtractionError:
            return frozenset()
        return _words(article.headline, article.text)


def impossible_url(url: str) -> str:
    """Return a URL like this one under which no site has a page: its number or its last part is random."""
    parts = urlsplit(url)
    word = secrets.token_hex(12)
    if parts.query and not names_a_story(parts.path):
        query = urlencode([(name, word) for name, _ in parse_qsl(parts.query, keep_blank_values=True)])
        return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))
    folder, _, last = parts.path.rstrip("/").rpartition("/")
    extension = _EXTENSION.search(last)
    name = f"no-such-page-{word}{extension[0] if extension else ''}"
    return urlunsplit((parts.scheme, parts.netloc, f"{folder}/{name}", "", ""))


def _may_be_one_page(page: FetchedPage, ready: ReadyArticle) -> bool:
    """Return whether a page that comes under several URLs is no article, rather than an article with copies.

    It has no day at all of its own, and its source promised another headline or, if it gave none, the text is short.
    """
    incoming, promised = ready.incoming, page.link.headline
    if incoming.details.date_source not in _LISTED:
        return False
    if promised:
        return normalize_title(promised) != normalize_title(incoming.headline)
    return len(incoming.content.split()) <= _MOST_WORDS


def _words(headline: str, text: str) -> frozenset[str]:
    return frozenset(normalize_text(f"{headline} {text}").split())

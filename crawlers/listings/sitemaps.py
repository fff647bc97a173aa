"""Reads sitemaps and sitemap indexes, compressed or not (sitemaps.org/protocol.html)."""

from __future__ import annotations

import codecs
import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import lxml.etree
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap

from crawlers.fetching.downloads import GZIP, is_cut_off
from crawlers.fetching.sites import absolute
from crawlers.items import Entry
from crawlers.listings.dates import changed_day, changed_moment, headline, language_code, listed_date, periods
from crawlers.listings.feeds import read_feed

_FEED = re.compile(rb"<(?:\w+:)?(?:rss|feed|rdf)[\s>]")
# Some servers compress files that are compressed already.
MAX_PACKINGS = 3
# See developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap.
NEWS = {
    "published": "{*}news/{*}publication_date",
    "title": "{*}news/{*}title",
    "language": "{*}news/{*}publication/{*}language",
}


@dataclass(frozen=True, slots=True)
class Document:
    """A sitemap as read: the name of its root element, and its entries. A broken one may have had more."""

    kind: str
    entries: list[Entry]
    broken: bool = False


class NewsSitemap(Sitemap):
    """A sitemap whose entries have what a news sitemap says of an article, under the names of `NEWS`.

    The other elements of an entry that have a namespace of their own, such as images and videos, are ignored.
    """

    def _process_sitemap_element(self, elem: lxml.etree._Element) -> dict[str, Any] | None:
        news = {name: (elem.findtext(path) or "").strip() for name, path in NEWS.items()}
        entry = super()._process_sitemap_element(elem)  # empties the element
        return entry and entry | news


def read_sitemap(body: bytes, url: str, max_size: int) -> Document:
    """Return the entries of a sitemap, compressed or not; those before the break if it is broken."""
    broken = is_cut_off(body, max_size)
    try:
        for _ in range(MAX_PACKINGS):
            if body.startswith(GZIP):
                body = gunzip(body, max_size=max_size)
        if other := _of_another_format(body, url):
            return Document("urlset", other, broken=broken)
        sitemap = NewsSitemap(body.lstrip(codecs.BOM_UTF8 + b" \t\r\n"))
        entries = [_entry(url, entry) for entry in sitemap if entry["loc"]]
    # Not gzip after all, not XML, an empty document, or larger than max_size when uncompressed.
    except (OSError, EOFError, ValueError, StopIteration, lxml.etree.XMLSyntaxError):
        return Document("", [], broken=True)
    known = sitemap.type in {"sitemapindex", "urlset"}
    is_empty = not entries and body.rstrip().endswith(b"/>")  # as in <urlset/>
    ended = is_empty or f"{sitemap.type}>".encode() in body[-400:].replace(b"\0", b"")
    return Document(sitemap.type, entries, broken=broken or not known or not ended)


def _of_another_format(body: bytes, url: str) -> list[Entry]:
    """Return the entries of a sitemap that is a text file of URLs or a feed, as the protocol allows; else none."""
    beginning = body[:1_000].lstrip(codecs.BOM_UTF8 + b" \t\r\n").lower()
    if beginning.startswith((b"http://", b"https://")):
        return [Entry(absolute(url, line.strip())) for line in body.decode(errors="replace").split()]
    if not _FEED.search(beginning):
        return []
    return [
        Entry(entry.url, entry.published and replace(entry.published, in_sitemap=True), entry.headline, entry.language)
        for entry in read_feed(body, url, "application/xml").entries
        if entry.url
    ]


def last_days(entries: Sequence[Entry]) -> dict[str, datetime.date]:
    """Return the last day of which each sitemap of an index can list articles, if it is known.

    It is the day of its last change, or the end of the month or year that it is named by if that is earlier: an archive
    may be written again every night.
    """
    days = periods([entry.url for entry in entries])
    for entry in entries:
        if entry.changed:
            days[entry.url] = min(entry.changed, days.get(entry.url, entry.changed))
    return days


def _entry(base: str, entry: dict[str, Any]) -> Entry:
    return Entry(
        url=absolute(base, entry["loc"]),
        changed=changed_day(entry.get("lastmod", "")),
        changed_at=changed_moment(entry.get("lastmod", "")),
        published=listed_date(entry["published"], in_sitemap=True),
        headline=headline(entry["title"]),
        language=language_code(entry["language"]),
    )

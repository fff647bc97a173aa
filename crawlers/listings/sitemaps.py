"""Reads sitemaps and sitemap indexes, compressed or not (sitemaps.org/protocol.html)."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import lxml.etree
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap

from articles.normalization.times import possible_time
from articles.normalization.values import UnreadableDayError, parse_day
from articles.storage.incoming import ListedDate
from crawlers.fetching.downloads import GZIP, is_cut_off

# Some servers compress files that are compressed already.
MAX_PACKINGS = 3
# See developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap.
PUBLICATION_DATE = "publication_date"


@dataclass(frozen=True, slots=True)
class Document:
    """A sitemap as read: the name of its root element, its URLs, and the dates of some.

    A broken one may have had more.
    """

    kind: str
    urls: list[str]
    dates: Mapping[str, ListedDate] = field(default_factory=dict)
    broken: bool = False


class NewsSitemap(Sitemap):
    """A sitemap whose entries have the publication date of a news sitemap, as `PUBLICATION_DATE`.

    Not lastmod, which says when the page was changed.
    """

    def _process_sitemap_element(self, elem: lxml.etree._Element) -> dict[str, Any] | None:
        date = elem.findtext(f"{{*}}news/{{*}}{PUBLICATION_DATE}")
        entry = super()._process_sitemap_element(elem)  # empties the element
        return entry and entry | {PUBLICATION_DATE: (date or "").strip()}


def read_sitemap(body: bytes, url: str, max_size: int) -> Document:
    """Return the URLs of a sitemap, compressed or not; those before the break if it is broken."""
    broken = is_cut_off(body, max_size)
    try:
        for _ in range(MAX_PACKINGS):
            if body.startswith(GZIP):
                body = gunzip(body, max_size=max_size)
        sitemap = NewsSitemap(body.lstrip(codecs.BOM_UTF8 + b" \t\r\n"))
        entries = [(_absolute(url, entry["loc"]), entry.get(PUBLICATION_DATE, "")) for entry in sitemap if entry["loc"]]
    # Not gzip after all, not XML, an empty document, or larger than max_size when uncompressed.
    except (OSError, EOFError, ValueError, StopIteration, lxml.etree.XMLSyntaxError):
        return Document("", [], broken=True)
    urls = [url for url, _ in entries]
    dates = {url: date for url, text in entries if (date := _listed_date(text))}
    known = sitemap.type in {"sitemapindex", "urlset"}
    tail = body[-400:].replace(b"\0", b"")
    ended = f"{sitemap.type}>".encode() in tail
    return Document(sitemap.type, urls, dates, broken=broken or not known or not (ended or _is_empty(body, urls)))


def _is_empty(body: bytes, urls: list[str]) -> bool:
    """Return whether a document has an empty root, as in <urlset/>."""
    return not urls and body.rstrip().endswith(b"/>")


def _listed_date(text: str) -> ListedDate | None:
    try:
        day = parse_day(text)
    except UnreadableDayError:
        return None
    return ListedDate(day, possible_time(text, day), in_sitemap=True)


def _absolute(base: str, url: str) -> str:
    try:
        return urljoin(base, url)
    except ValueError:  # such as http://[undefined]/
        return url

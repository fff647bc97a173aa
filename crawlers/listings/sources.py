"""Reads feeds and sitemaps, as far as they can be read.

Feeds are RSS, Atom and JSON, with the articles that they carry whole: that is content:encoded, the content of Atom and
JSON feeds, and long descriptions. Sitemaps and their indexes may be compressed (sitemaps.org/protocol.html).
"""

import codecs
import datetime
import io
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import feedparser
import lxml.etree
from scrapy.http import Response
from scrapy.utils.gz import gunzip
from scrapy.utils.sitemap import Sitemap

from articles.extraction.kept_pages import FeedEntry
from articles.normalization.text import letters, plain_text
from crawlers.fetching.downloads import GZIP, is_cut_off
from crawlers.fetching.sites import absolute, is_visitable
from crawlers.items import Entry
from crawlers.listings.dates import changed_day, changed_moment, headline, language_code, listed_date, periods, summary

_BEFORE_XML = codecs.BOM_UTF8 + b" \t\r\n"
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


@dataclass(frozen=True, slots=True)
class Feed:
    """The readable part of a feed. A broken feed has entries, but breaks off before its end.

    `next_url` is the absolute URL of the page with older entries, empty if none is named (RFC 5005; next_url of a JSON
    feed).
    """

    entries: list[Entry]
    readable: bool = True
    broken: bool = False
    title: str = ""
    next_url: str = ""


def read_feed(body: bytes, url: str, media_type: str) -> Feed:
    """Return the entries of a feed, as far as they can be read despite broken XML or a wrong charset."""
    if body.lstrip(_BEFORE_XML).startswith(b"{"):
        return _json_feed(body, url)
    body, media_type = _marked(body, media_type)
    # A file object, because feedparser would fetch or open a str that names a URL or a file.
    feed = feedparser.parse(io.BytesIO(body), response_headers={"content-type": media_type, "content-location": url})
    # For an empty body, feedparser's result has no version.
    if not feed.entries and (feed.bozo or not feed.get("version")):
        return Feed([], readable=False)
    ended = re.search(rb"</\s*(?:\w+:)?(?:rss|feed|rdf)\s*>", body[-400:].replace(b"\0", b"").lower())
    language = language_code(str(feed.feed.get("language") or ""))
    links = {str(link.get("rel")).lower(): str(link.get("href") or "") for link in feed.feed.get("links") or ()}
    return Feed(
        [_entry(entry, url, language) for entry in feed.entries],
        broken=bool(feed.bozo) and not ended,
        title=headline(str(feed.feed.get("title") or "")),
        # The next page, or the archive before (RFC 5005, 3 and 4).
        next_url=absolute(url, links.get("next") or links.get("prev-archive") or ""),
    )


def _marked(body: bytes, media_type: str) -> tuple[bytes, str]:
    """Return the feed in a form whose encoding feedparser recognises, and its media type."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # feedparser does not believe the byte order mark of UTF-16 if the declaration is missing or disagrees.
        return _DECLARATION.sub("", body.decode("utf-16", "replace")).encode(), "application/xml; charset=utf-8"
    # XML begins at its first tag; blanks that a careless template puts before it would hide its declaration.
    return body.lstrip(_BEFORE_XML), media_type


def _entry(entry: Any, url: str, language: str) -> Entry:
    """Return an entry as feedparser read it. If it has no link, an id that is a web address is one."""
    link = str(entry.get("link") or "").strip() or _web_address(entry.get("id"))
    # For a missing `updated`, feedparser would return `published` with a warning.
    names = [name for name in ("published", "updated", "created") if name in entry]
    dates = (listed_date(str(entry[name]), entry.get(f"{name}_parsed")) for name in names)
    title, text = (str(entry.get(name) or "") for name in ("title", "summary"))
    changed_at = changed_moment(str(entry["updated"])) if "updated" in entry else None
    date = next(filter(None, dates), None)
    html = max(_contents(entry), key=len, default="")
    author = str((entry.get("author_detail") or {}).get("name") or entry.get("author") or "")
    carried = FeedEntry(html, plain_text(title), plain_text(author)).packed()
    return Entry(absolute(url, link), date, headline(title), language, None, changed_at, summary(text), carried)


def _json_feed(body: bytes, url: str) -> Feed:
    """Return the entries of a JSON feed, see jsonfeed.org/version/1.1."""
    try:
        feed = json.loads(body)
        items = feed["items"]
        title, declared, older = (_text(feed, name) for name in ("title", "language", "next_url"))
        entries = [_json_entry(item, url, language_code(declared)) for item in items if isinstance(item, dict)]
    except (ValueError, RecursionError, LookupError, TypeError):
        return Feed([], readable=False)
    if items and not entries:
        return Feed([], readable=False)
    return Feed(entries, title=headline(title), next_url=absolute(url, older))


def _json_entry(item: dict[str, Any], url: str, language: str) -> Entry:
    link = _text(item, "url") or _web_address(item.get("id")) or _text(item, "external_url")
    dates = (listed_date(_text(item, name)) for name in ("date_published", "date_modified"))
    text = _text(item, "summary") or _text(item, "content_text") or _text(item, "content_html")
    title = headline(_text(item, "title"))
    changed_at = changed_moment(_text(item, "date_modified"))
    date = next(filter(None, dates), None)
    html = _as_text(item.get("content_html")) or _as_html(_as_text(item.get("content_text")))
    authors = item.get("authors")
    authors = authors if isinstance(authors, list) else [item.get("author")]
    names = (_as_text(author.get("name")) for author in authors if isinstance(author, dict))
    carried = FeedEntry(html, plain_text(_as_text(item.get("title"))), ", ".join(filter(None, names))).packed()
    return Entry(absolute(url, link), date, title, language, None, changed_at, summary(text), carried)


def _text(values: dict[str, Any], name: str) -> str:
    return _as_text(values.get(name)).strip()


def _web_address(identifier: Any) -> str:
    """Return an id if it is a web address; else an empty text."""
    text = str(identifier or "").strip()
    return text if text.lower().startswith(("http://", "https://")) else ""


# A description is a teaser, unless it is as long as an article.
MIN_DESCRIPTION_LETTERS = 1_000


def _contents(entry: Any) -> Iterator[str]:
    """Yield the texts that an entry carries of its article, as HTML; none if there is only a teaser."""
    for part in entry.get("content") or ():
        text = str(part.get("value") or "")
        yield _as_html(text) if part.get("type") == "text/plain" else text
    description = str(entry.get("summary") or "")
    if letters(plain_text(description)) >= MIN_DESCRIPTION_LETTERS:
        yield description


def _as_html(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# -- Sitemaps -----------------------------------------------------------------------------------------------------

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

    @property
    def readable(self) -> bool:
        """Whether it is a sitemap, or an index of sitemaps."""
        return self.kind in {"sitemapindex", "urlset"}


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
        sitemap = NewsSitemap(body.lstrip(_BEFORE_XML))
        entries = [_sitemap_entry(url, entry) for entry in sitemap if entry["loc"]]
    # Not gzip after all, not XML, an empty document, or larger than max_size when uncompressed.
    except (OSError, EOFError, ValueError, StopIteration, lxml.etree.XMLSyntaxError):
        return Document("", [], broken=True)
    known = sitemap.type in {"sitemapindex", "urlset"}
    is_empty = not entries and body.rstrip().endswith(b"/>")  # as in <urlset/>
    ended = is_empty or f"{sitemap.type}>".encode() in body[-400:].replace(b"\0", b"")
    return Document(sitemap.type, entries, broken=broken or not known or not ended)


def _of_another_format(body: bytes, url: str) -> list[Entry]:
    """Return the entries of a sitemap that is a text file of URLs or a feed, as the protocol allows; else none."""
    beginning = body[:1_000].lstrip(_BEFORE_XML).lower()
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


MAX_NAMED = 2  # sitemaps of an index that are read by those who only look
_NO_ARTICLES = re.compile(
    r"categor|\btags?\b|post_tag|author|image|video|page-sitemap|sitemap-pages?|misc", re.IGNORECASE
)


def _newest_named(index: Document) -> list[str]:
    """Return the URLs of the sitemaps of an index that can list articles: those without a day, then the newest."""
    days = last_days(index.entries)
    urls = list(dict.fromkeys(entry.url for entry in index.entries))
    articles = [url for url in urls if not _NO_ARTICLES.search(url)] or urls
    articles.sort(key=lambda url: days.get(url, datetime.date.max), reverse=True)
    # A news sitemap has the headlines of the last two days.
    return sorted(articles, key=lambda url: "news" not in url.lower())


async def read_newest(
    response: Response, ask: Callable[[str], Awaitable[Response | str]], max_size: int
) -> tuple[Document, int]:
    """Return a sitemap; of an index, the entries of the newest MAX_NAMED sitemaps, and how many it names.

    `ask` returns the response to a request, or why there is none.
    """
    document = read_sitemap(response.body, response.url, max_size)
    if document.kind != "sitemapindex":
        return document, 0
    entries: list[Entry] = []
    for url in _newest_named(document)[:MAX_NAMED]:
        part = await ask(url) if is_visitable(url) else ""
        if isinstance(part, Response) and (named := read_sitemap(part.body, part.url, max_size)).kind == "urlset":
            entries += named.entries
    return replace(document, entries=entries), len(document.entries)


def _sitemap_entry(base: str, entry: dict[str, Any]) -> Entry:
    return Entry(
        url=absolute(base, entry["loc"]),
        changed=changed_day(entry.get("lastmod", "")),
        changed_at=changed_moment(entry.get("lastmod", "")),
        published=listed_date(entry["published"], in_sitemap=True),
        headline=headline(entry["title"]),
        language=language_code(entry["language"]),
    )

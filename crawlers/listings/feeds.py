"""Reads RSS, Atom and JSON feeds, as far as they can be read."""

from __future__ import annotations

import codecs
import datetime
import io
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import feedparser

from articles.normalization.times import possible_time
from articles.normalization.values import UnreadableDayError, parse_day
from articles.storage.incoming import ListedDate

_BEFORE_XML = codecs.BOM_UTF8 + b" \t\r\n"
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a feed: an absolute URL, which may be invalid or empty, and its date, or None."""

    url: str
    published: ListedDate | None


@dataclass(frozen=True, slots=True)
class Feed:
    """The readable part of a feed. A broken feed has entries, but breaks off before its end."""

    entries: list[Entry]
    readable: bool = True
    broken: bool = False


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
    tail = body[-400:].replace(b"\0", b"").lower()
    ended = re.search(rb"</\s*(?:\w+:)?(?:rss|feed|rdf)\s*>", tail)
    return Feed([_entry(entry, url) for entry in feed.entries], broken=bool(feed.bozo) and not ended)


def _marked(body: bytes, media_type: str) -> tuple[bytes, str]:
    """Return the feed in a form whose encoding feedparser recognises, and its media type."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # feedparser does not believe the byte order mark of UTF-16 if the declaration is missing or disagrees.
        text = _DECLARATION.sub("", body.decode("utf-16", "replace"))
        return text.encode(), "application/xml; charset=utf-8"
    # XML begins at its first tag; blanks that a careless template puts before it would hide its declaration.
    return body.lstrip(_BEFORE_XML), media_type


def _entry(entry: Any, url: str) -> Entry:
    link = str(entry.get("link") or "").strip()
    try:
        return Entry(urljoin(url, link) if link else "", _published(entry))
    except ValueError:  # such as http://[undefined]/
        return Entry(link, None)


def _json_feed(body: bytes, url: str) -> Feed:
    """Return the entries of a JSON feed, see jsonfeed.org/version/1.1."""
    try:
        items = json.loads(body)["items"]
        links = [(str(item.get("url") or ""), str(item.get("date_published") or "")) for item in items]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return Feed([], readable=False)
    return Feed([_entry({"link": link, "published": day}, url) for link, day in links])


def _published(entry: Any) -> ListedDate | None:
    """Return the date of publication, else of the last change, in the newspaper's time zone."""
    # For a missing `updated`, feedparser would return `published` with a warning.
    name = "published" if "published" in entry else "updated"
    text = entry.get(name, "")
    try:
        day = parse_day(text)
    except UnreadableDayError:
        # feedparser reads more formats, and gives the time in UTC; for 0000-00-00, a day that does not exist.
        moment = entry.get(f"{name}_parsed")
        try:
            day = datetime.date(*(moment or ())[:3])
        except (ValueError, TypeError):
            return None
    return ListedDate(day, possible_time(text, day))

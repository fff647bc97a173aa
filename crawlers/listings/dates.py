"""Reads the dates and texts that feeds, sitemaps and lists of links give, and picks the newest links."""

import datetime
import heapq
import re
from calendar import monthrange
from collections.abc import Iterable
from typing import Any

from articles.extraction.dates import url_day, written_day
from articles.extraction.html import url_parts
from articles.extraction.written_dates import Place, written_days
from articles.normalization.text import plain_text, storable
from articles.normalization.times import MAX_TIME_CHARACTERS, epoch_time, possible_time
from articles.storage.incoming import MAX_HEADLINE_CHARACTERS, ListedDate
from crawlers.items import ArticleLink

# sitemap-2009-05.xml, sitemap_200905.xml, /2009/05/, ?yyyy=2009&mm=05; a day may follow.
_MONTH = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?:[-_/.]|&mm?=|&month=)?(?P<month>0[1-9]|1[0-2]|(?<=[-_/.=])[1-9])"
    r"(?:[-_/.]?\d{2})?(?![\da-z])",
    re.IGNORECASE,
)
# Stricter: the number of an article may be 201012.
_FOLDER = re.compile(r"/(?P<year>(?:19|20)\d\d)/(?P<month>\d{1,2})/")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBER = re.compile(r"\d+")
# www.w3.org/TR/NOTE-datetime allows a month alone.
_W3C_MONTH = re.compile(r"(\d{4})-(\d{2})")


def listed_date(text: str, parsed: Any = None, *, in_sitemap: bool = False) -> ListedDate | None:
    """Return the date in a text, in the newspaper's time zone; None if it cannot be read.

    `parsed` is what feedparser made of it, a time in UTC; for 0000-00-00, a day that does not exist.
    """
    text = " ".join(text[: MAX_TIME_CHARACTERS + 1].split())
    if not text or len(text) > MAX_TIME_CHARACTERS:
        return None
    # In words of any language, if the order of day and month is certain.
    certain = (found.day for found in written_days(text, Place()) if found.other is None)
    epoch = epoch_time(text)
    day = epoch.date() if epoch else written_day(text) or next(certain, None) or _day_of(parsed)
    if day is None:
        return None
    return ListedDate(day, possible_time(text, day), in_sitemap)


def _day_of(parsed: Any) -> datetime.date | None:
    try:
        return datetime.date(*(parsed or ())[:3])
    except (ValueError, TypeError):
        return None


def changed_day(text: str) -> datetime.date | None:
    """Return the day of a sitemap's lastmod, the last one if it names a month alone; None if it cannot be read."""
    if month := _W3C_MONTH.fullmatch(text.strip()):
        return _end_of(int(month[1]), int(month[2]))
    found = listed_date(text)
    return found.day if found else None


def changed_moment(text: str) -> datetime.datetime | None:
    """Return the moment of a change that a feed or sitemap gives; None without a time, or without its time zone."""
    found = listed_date(text)
    return found.time.at if found and found.time and found.time.offset is not None else None


def last_day(url: str) -> datetime.date | None:
    """Return the day in a URL's path, or the last day of the month in it; None if it names neither."""
    return url_day(url) or _end_of_month(_FOLDER.search(url_parts(url).path))


def periods(urls: list[str]) -> dict[str, datetime.date]:
    """Return the last day that each of the sitemaps of an index can be about, by their names.

    A year counts only if all sitemaps of that form are named by years: sitemap-2009.xml may be the 2009th.
    """
    forms: dict[str, list[str]] = {}
    for url in urls:
        forms.setdefault(_NUMBER.sub("0", _name(url)), []).append(url)
    found = {}
    for form in forms.values():
        by_years = all(_YEAR.search(_name(url)) for url in form)
        for url in form:
            year = _YEAR.search(_name(url)) if by_years else None
            day = _end_of_month(_MONTH.search(_name(url))) or (_end_of(int(year[0]), 12) if year else None)
            if day:
                found[url] = day
    return found


def _name(url: str) -> str:
    """Return the path and query of a URL; empty if it is not valid."""
    parts = url_parts(url)
    return f"{parts.path}?{parts.query}"


def _end_of_month(month: re.Match[str] | None) -> datetime.date | None:
    return _end_of(int(month["year"]), int(month["month"])) if month else None


def _end_of(year: int, month: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, monthrange(year, month)[1])
    except ValueError:  # includes a month that does not exist
        return None


_LONG_AGO = datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)


def is_before(link: ArticleLink, since: datetime.date | None) -> bool:
    """Return whether a link's article certainly appeared before this day: by its date, its last change, or its URL.

    A link that says nothing of its day is never before it.
    """
    if since is None:
        return False
    day = link.published.day if link.published else link.changed or last_day(link.url)
    return day is not None and day < since


def newest_first(links: Iterable[ArticleLink]) -> list[ArticleLink]:
    """Return the links by their dates, the newest first; those without a date last, in the order given."""
    return sorted(links, key=_moment, reverse=True)


def newest(links: Iterable[ArticleLink], number: int) -> list[ArticleLink]:
    """Return so many of newest_first."""
    return heapq.nlargest(number, links, key=_moment)


def _moment(link: ArticleLink) -> datetime.datetime:
    """Return the time of publication or, if it is not known, the beginning of the day."""
    listed = link.published
    if listed and listed.time:
        return listed.time.at
    day = listed.day if listed else link.changed
    return datetime.datetime.combine(day, datetime.time(), datetime.UTC) if day else _LONG_AGO


MAX_SUMMARY_CHARACTERS = 20_000
_LANGUAGE = re.compile(r"\s*([a-z]{2,3})(?=$|[-_\s])", re.IGNORECASE)


def headline(markup: str) -> str:
    """Return a headline as plain text of one line."""
    return storable(plain_text(markup[: 2 * MAX_HEADLINE_CHARACTERS]))[:MAX_HEADLINE_CHARACTERS]


def summary(markup: str) -> str:
    """Return a description as plain text of one line."""
    return storable(plain_text(markup[: 2 * MAX_SUMMARY_CHARACTERS]))[:MAX_SUMMARY_CHARACTERS]


def language_code(declared: str) -> str:
    """Return the ISO 639 code of a declared language, such as en of en-GB; empty if it is none."""
    code = _LANGUAGE.match(declared)
    return code[1].lower() if code else ""

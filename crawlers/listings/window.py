"""Which of the listed links a crawl takes: the newest ones, and none that is too old. Pure."""

from __future__ import annotations

import datetime
import heapq
from collections.abc import Iterable

from crawlers.items import ArticleLink
from crawlers.listings.dates import last_day

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

"""Looks for the sources of a newspaper. Pages that ask load no Scrapy."""

from __future__ import annotations

from collections.abc import Sequence

from crawlers.discovery.found import FoundNewspaper
from crawlers.fetching.elsewhere import ask_spider
from crawlers.fetching.sites import is_visitable
from crawlers.reasons import find_reason

# Seconds, for which a thread of the pages waits.
LONGEST = 20
GRACE = 5
PAUSE = 0.3  # seconds between two requests


class NothingFoundError(ValueError):
    """A site that cannot be explored; the message says for people why, and what helps."""


def discover(
    url: str, *, seconds: float = LONGEST, pause: float = PAUSE, private: Sequence[str] | None = None
) -> FoundNewspaper:
    """Return the newspaper whose home page, feed or sitemap has this URL, with its sources. Raises NothingFoundError.

    A URL without a scheme is one of https. It takes up to `seconds`, and some more to start; what was not looked at by
    then is left out, with a note. `pause` is the time between two requests, in seconds. `private` are networks that may
    be asked though they are private; by default those of CRAWL_PRIVATE_ADDRESSES.
    """
    url = url.strip()
    url = url if "://" in url else f"https://{url}"
    if not is_visitable(url):
        raise NothingFoundError(f"{url[:200]} is not a web address. Enter the address of the newspaper's home page.")
    spider = "crawlers.discovery.exploring.Explorer"
    found = ask_spider(spider, seconds + GRACE, networks=private, pause=pause, url=url, patience=seconds)
    if reason := found.get("reason"):
        entry = find_reason(reason)
        raise NothingFoundError(f"{entry.meaning} ({reason}) {entry.remedy}".rstrip())
    return FoundNewspaper.of_json(found)

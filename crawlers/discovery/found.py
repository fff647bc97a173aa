"""Looks for the sources of a newspaper, and says what each would bring. Pages that ask load no Scrapy."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from articles.loading import when_used
from crawlers.fetching.elsewhere import ask_spider
from crawlers.fetching.sites import is_visitable
from crawlers.reasons import find_reason

pydantic = when_used("pydantic")
SourceKind = Literal["feed", "sitemap", "section"]
# The fields of Newspaper that hold the sources of each kind.
FIELDS: dict[SourceKind, str] = {"feed": "feed_urls", "sitemap": "sitemap_urls", "section": "section_urls"}
# Those that a trial needs.
TRIED = ("name", "host", "article_url_pattern", "teasers", *FIELDS.values())
MAX_SAMPLES = 5


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A source, where it was found, and what it would bring.

    `entries` counts the articles that it lists; of a sitemap index, those of the sitemaps that were read, and
    `at_least` says that it lists more. `newest` is the day of the newest; `samples` are up to MAX_SAMPLES headlines, or
    URLs if it gives no headlines, the newest first. `problem` says for people why it brings nothing; empty if it does.
    `recommended` is whether a crawl should read it.
    """

    kind: SourceKind
    url: str
    title: str
    found_in: str
    entries: int = 0
    at_least: bool = False
    newest: datetime.date | None = None
    samples: tuple[str, ...] = ()
    problem: str = ""
    recommended: bool = False


@dataclass(frozen=True, slots=True)
class FoundNewspaper:
    """A newspaper as found from its home page: proposals for its fields, and its sources, the best first.

    `url` is the home page after redirects. `article_url_pattern` is empty if no pattern fits. `notes` are sentences for
    people about what could not be read, or was not for want of time.
    """

    url: str
    host: str
    name: str
    language: str = ""
    article_url_pattern: str = ""
    sources: tuple[FoundSource, ...] = ()
    notes: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """Return the fields of the newspaper, with the recommended sources."""
        marked = [source for source in self.sources if source.recommended]
        urls = {field: [source.url for source in marked if source.kind == kind] for kind, field in FIELDS.items()}
        return {"name": self.name, "host": self.host, "article_url_pattern": self.article_url_pattern, **urls}

    def as_json(self) -> dict[str, Any]:
        """Return it as an object of JSON, with days as texts."""
        found: dict[str, Any] = pydantic.TypeAdapter(FoundNewspaper).dump_python(self, mode="json")
        return found

    @classmethod
    def of_json(cls, found: dict[str, Any]) -> Self:
        """Return what as_json made objects of."""
        read: Self = pydantic.TypeAdapter(cls).validate_python(found)
        return read


# Seconds, for which a thread of the pages waits.
LONGEST = 20
GRACE = 5
PAUSE = 0.3  # seconds between two requests


class NothingFoundError(ValueError):
    """A site that cannot be explored; the message says for people why, and what helps."""


def discover(url: str, *, pause: float = PAUSE, private: Sequence[str] | None = None) -> FoundNewspaper:
    """Return the newspaper whose home page, feed or sitemap has this URL, with its sources. Raises NothingFoundError.

    A URL without a scheme is one of https. It takes up to LONGEST, and some more to start; what was not looked at by
    then is left out, with a note. `pause` is the time between two requests, in seconds. `private` are networks that may
    be asked though they are private; by default those of CRAWL_PRIVATE_ADDRESSES.
    """
    url = url.strip()
    url = url if "://" in url else f"https://{url}"
    if not is_visitable(url):
        raise NothingFoundError(f"{url[:200]} is not a web address. Enter the address of the newspaper's home page.")
    spider = "crawlers.discovery.exploring.Explorer"
    found = ask_spider(spider, LONGEST + GRACE, networks=private, pause=pause, url=url, patience=LONGEST)
    if reason := found.get("reason"):
        entry = find_reason(reason)
        raise NothingFoundError(f"{entry.meaning} ({reason}) {entry.remedy}".rstrip())
    return FoundNewspaper.of_json(found)

"""Articles on their way into the store, and the limits of what can be stored."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import UUID

from articles.fields import FIRST_PRINTED, FOUND, LIMITS, MAX_DAYS_AHEAD, FoundDetails
from articles.models import Article, ArticleURL
from articles.normalization.logins import without_login
from articles.normalization.times import Precision, PublicationTime
from articles.normalization.urls import host_of, unwrap_url, url_key

if TYPE_CHECKING:  # slow to import, and only needed by those who extract
    from articles.extraction.extract import ExtractedArticle
    from articles.extraction.kept_pages import RawPage

MAX_HEADLINE_CHARACTERS = LIMITS["headline"]
MAX_URL_CHARACTERS = LIMITS["url"]
MAX_NEWSPAPER_CHARACTERS = LIMITS["newspaper"]
_OWN_TEXTS = ("content", "headline", "external_id", "newspaper")
# Of the columns of a file that have no field here. A text that is as long as an article is still kept.
MAX_EXTRA_COLUMNS = 200
MAX_EXTRA_NAME_CHARACTERS = 200
MAX_EXTRA_CHARACTERS = 1_000_000


class RejectedArticleError(ValueError):
    """An article that cannot be stored; the message names the value, the bound and the remedy."""


class _WithURL:
    """What has a URL: a user name and password are taken out of it here, so that none is ever stored or shown."""

    __slots__ = ()
    url: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", without_login(self.url))


@dataclass(frozen=True, slots=True)
class SeenURL(_WithURL):
    """A URL under which an article was seen, without a user name and password, and how."""

    url: str
    kind: ArticleURL.Kind


@dataclass(frozen=True, slots=True)
class SeenHeadline(_WithURL):
    """A headline under which an article came, and the day and the URL that it came with."""

    headline: str
    day: datetime.date
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Details(FoundDetails):
    """What is stored along with an article's text; `date_source` is a value of Article.DateSource, empty if unknown."""

    date_source: str = ""
    published_at: datetime.datetime | None = None
    published_offset: int | None = None
    published_precision: Precision = Precision.DAY

    @property
    def published_day(self) -> datetime.date | None:
        """The day of the time of publication, by the source's clock; None without a time."""
        if self.published_at is None:
            return None
        return PublicationTime(self.published_at, self.published_offset, self.published_precision).local.date()

    def with_time(self, time: PublicationTime | None) -> Details:
        """Return the same details with this time of publication; None: only the day is known."""
        if time is None:
            return replace(self, published_at=None, published_offset=None, published_precision=Precision.DAY)
        return replace(self, published_at=time.at, published_offset=time.offset, published_precision=time.precision)


@dataclass(frozen=True, slots=True)
class ListedDate:
    """The day that a feed or sitemap gave for a link, and the time on that day if it gave one."""

    day: datetime.date
    time: PublicationTime | None = None
    in_sitemap: bool = False

    @property
    def source(self) -> Article.DateSource:
        """Where the date was read."""
        return Article.DateSource.SITEMAP if self.in_sitemap else Article.DateSource.FEED


@dataclass(frozen=True, slots=True)
class PageCopy(_WithURL):
    """The page that an article was extracted from, as it was fetched, and the version of the extraction.

    `published` is the date that the feed or sitemap gave it, if any did; `rule` the number of the newspaper's own rule
    that extracted it. `following` are the further pages of an article that spans several, and `feed_entry` is what its
    feed carries, packed. `fetched` is when it was fetched, now if it is None.
    """

    url: str
    content_type: str
    body: bytes = field(repr=False)
    extractor_version: int
    published: ListedDate | None = None
    rule: int | None = None
    following: Sequence[RawPage] = ()
    feed_entry: bytes = field(default=b"", repr=False)
    fetched: datetime.datetime | None = None


@dataclass(frozen=True, slots=True)
class IncomingArticle(_WithURL):
    """An article on its way into the store. `newspaper` is a name; empty: the newspaper of the URL's host.

    `headlines` are those under which it came again, and `extra_columns` is a JSON object, empty if there are none. If
    it is `restored`, it is stored as it is: its URLs are complete, and what is empty is not looked for in its text.
    """

    date: datetime.date
    headline: str
    url: str
    content: str
    newspaper: str = ""
    external_id: str = ""
    kind: ArticleURL.Kind = ArticleURL.Kind.PAGE
    other_urls: Sequence[SeenURL] = ()
    details: Details = Details()
    page: PageCopy | None = None
    headlines: Sequence[SeenHeadline] = ()
    extra_columns: str = ""
    restored: bool = False


def extracted_details(article: ExtractedArticle) -> Details:
    """Return what was extracted from a page apart from headline, text and day."""
    found = {field.name: getattr(article, field.name) for field in FOUND}
    found["text_doubt"] = article.text_doubt[: LIMITS["text_doubt"]]
    return Details(date_source=article.date_source or "", **found).with_time(article.time)


def check_article(incoming: IncomingArticle) -> None:
    """Raise RejectedArticleError if the article cannot be stored as it is."""
    if fault := url_fault(incoming.url):
        raise RejectedArticleError(fault)
    if not incoming.content.strip():
        raise RejectedArticleError("content is empty; every article needs a text")
    details = incoming.details
    bounds = (
        *(("id" if name == "external_id" else name, getattr(incoming, name), LIMITS[name]) for name in _OWN_TEXTS),
        *((field.name, getattr(details, field.name), field.limit) for field in FOUND if field.limit),
        ("extra_columns", incoming.extra_columns, MAX_EXTRA_CHARACTERS),
        *(("headline", seen.headline, MAX_HEADLINE_CHARACTERS) for seen in incoming.headlines),
    )
    for name, value, limit in bounds:
        if fault := text_fault(name, value, limit):
            raise RejectedArticleError(fault)
    for name, day in (("date", incoming.date), ("published_at", incoming.details.published_day)):
        if day and (fault := _day_fault(name, day)):
            raise RejectedArticleError(fault)


def _day_fault(name: str, day: datetime.date) -> str:
    """Return why an article cannot be of this day; empty if it can."""
    if day < FIRST_PRINTED:
        return f"{name} {day} is before {FIRST_PRINTED}, the year of the first newspaper; correct the date"
    last_day = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=MAX_DAYS_AHEAD)
    if day > last_day:
        return f"{name} {day} is after {last_day}, {MAX_DAYS_AHEAD} days from today (UTC); correct the date"
    return ""


def url_fault(url: str) -> str:
    """Return why a URL cannot be an article's; empty if it can."""
    if not url.strip():
        return "url is missing; every article needs its URL"
    if fault := text_fault("url", url, MAX_URL_CHARACTERS):
        return fault
    host = host_of(url)
    if not host:
        return f"url {without_login(url)[:100]!r} has no host; it must begin with http:// or https://"
    if len(host) > MAX_NEWSPAPER_CHARACTERS:
        return f"url has a host of {len(host):,} characters; the limit is {MAX_NEWSPAPER_CHARACTERS:,}"
    return ""


def story_url(url: str) -> str:
    """Return the URL of the article behind this one: the target if it is a redirect that names it, else itself."""
    target = unwrap_url(url)
    return target if target == url or not url_fault(target) else url


def keys_of(url: str) -> set[UUID]:
    """Return the keys by which a URL may be stored: its own, and that of the URL of the article behind it."""
    return {url_key(url), url_key(story_url(url))}


def text_fault(name: str, value: str, limit: int) -> str:
    """Return why a text cannot be stored under this name; empty if it can."""
    if len(value) > limit:
        return f"{name} has {len(value):,} characters; the limit is {limit:,}"
    if "\0" in value:
        return f"{name} contains a NUL byte at character {value.index(chr(0)) + 1}; remove it"
    try:
        value.encode()
    except UnicodeEncodeError:
        # JSON can carry half of a UTF-16 pair; PostgreSQL cannot store it.
        return f"{name} contains half a surrogate pair, which is not valid text; encode it as UTF-8"
    return ""

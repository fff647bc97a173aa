"""The items that pass from a source to the store: what a source lists, a link to an article, then its page."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from uuid import UUID

from articles.extraction.kept_pages import RawPage
from articles.extraction.rules import NO_RULE, ExtractionRule
from articles.models import ArticleURL
from articles.normalization.logins import without_login
from articles.normalization.urls import page_key
from articles.storage.incoming import ListedDate
from articles.storage.newspapers import Paper


@dataclass(frozen=True, slots=True)
class Source:
    """The newspaper that a feed, sitemap or section page belongs to, as far as spiders need it.

    `paper` is what articles are prepared with; the writer checks whether it still holds. `rule` is its own extraction
    rule as it was when the crawl began. `keeps_versions` is whether stored articles are fetched again; `teasers` is
    whether its pages are never fetched.
    """

    newspaper_id: int
    article_url_pattern: str
    paper: Paper
    rule: ExtractionRule = NO_RULE
    keeps_versions: bool = False
    teasers: bool = False

    @property
    def kept_parameters(self) -> tuple[str, ...]:
        """The names of URL parameters that distinguish its stories."""
        return self.paper.kept_url_parameters


@dataclass(frozen=True, slots=True)
class Entry:
    """What a feed, sitemap or list names: an absolute URL, which may be invalid or empty, and what is said of it there.

    The day of publication is not later than that of the last change, `changed`; `changed_at` is the time of that
    change. Headline and summary are plain texts of one line. `feed_entry` is what its feed carries of the article,
    packed (see articles/extraction/kept_pages.py).
    """

    url: str
    published: ListedDate | None = None
    headline: str = ""
    language: str = ""
    changed: datetime.date | None = None
    changed_at: datetime.datetime | None = None
    summary: str = ""
    feed_entry: bytes = field(default=b"", repr=False)

    def link(self, source: Source, kind: ArticleURL.Kind) -> ArticleLink:
        """Return it as a link of this source, which keeps a summary only where that is stored as a teaser."""
        said = {name: getattr(self, name) for name in Entry.__slots__}
        if not source.teasers:
            said["summary"] = ""
        return ArticleLink(**said, source=source, kind=kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleLink(Entry):
    """A link to an article: an entry of a source, and the kind of its URL.

    Neither its summary nor its change is saved. A saved link keeps the key it was saved under, because the rules for
    keys may change.
    """

    source: Source
    kind: ArticleURL.Kind
    written_key: UUID | None = None

    def __post_init__(self) -> None:
        # A user name can imitate another host, and a password is nobody's business.
        object.__setattr__(self, "url", without_login(self.url))

    @property
    def key(self) -> UUID:
        """The same for all URLs of one page: a tracker, a session or the last slash makes no difference."""
        return self.written_key or page_key(self.url, self.source.kept_parameters)


@dataclass(frozen=True, slots=True)
class Validator:
    """The state that a source or a page declared in its response; see SourceValidator."""

    url: str
    etag: str = ""
    last_modified: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What asks for it only if it is no longer in this state."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The page that a link led to. `redirects` are the URLs between the first and the last.

    `following` are the further pages of an article that spans several. If the page could not be read, `missing` is the
    reason and `body` is empty: then its feed carries the article. `fetched` is when, now if it is None.
    """

    link: ArticleLink
    url: str
    redirects: tuple[str, ...]
    content_type: str
    body: bytes = field(repr=False)
    following: tuple[RawPage, ...] = field(default=(), repr=False)
    missing: str = ""
    fetched: datetime.datetime | None = None

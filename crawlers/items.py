"""What travels from a source to the store: a link to an article, then the page behind it."""

import datetime
from dataclasses import dataclass, field
from uuid import UUID

from articles.models import ArticleURL
from articles.normalization.urls import url_key


@dataclass(frozen=True, slots=True)
class Source:
    """A feed, sitemap or section page's newspaper, as much of it as its pages need."""

    newspaper_id: int
    newspaper: str
    article_url_pattern: str


@dataclass(frozen=True, slots=True)
class ArticleLink:
    """A link to an article, the kind of URL that it is, and the day that its source gives it.

    One that was written down keeps the key that it had then: the rules by which keys are made may change.
    """

    source: Source
    url: str
    kind: ArticleURL.Kind
    published: datetime.date | None = None
    written_key: UUID | None = None

    @property
    def key(self) -> UUID:
        """What two spellings of one URL have in common."""
        return self.written_key or url_key(self.url)


@dataclass(frozen=True, slots=True)
class Validator:
    """What a source's answer said of its state; see SourceValidator."""

    url: str
    etag: str
    last_modified: str


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The page that a link led to. `redirects` are the URLs on the way, without the first and the last."""

    link: ArticleLink
    url: str
    redirects: tuple[str, ...]
    content_type: str
    body: bytes = field(repr=False)

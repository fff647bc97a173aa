"""What travels from a source to the store: a link to an article, then the page behind it."""

import datetime
from dataclasses import dataclass, field

from articles.models import ArticleURL


@dataclass(frozen=True, slots=True)
class Source:
    """A feed, sitemap or section page's newspaper, as much of it as its pages need."""

    newspaper: str
    article_url_pattern: str


@dataclass(frozen=True, slots=True)
class ArticleLink:
    """A link to an article, the kind of URL that it is, and the day that its source gives it."""

    source: Source
    url: str
    kind: ArticleURL.Kind
    published: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The page that a link led to. `redirects` are the URLs on the way, without the first and the last."""

    link: ArticleLink
    url: str
    redirects: tuple[str, ...]
    content_type: str
    body: bytes = field(repr=False)

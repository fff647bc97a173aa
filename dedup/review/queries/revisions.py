"""The later versions of an article, for its page and for the pages of its pairs."""

from __future__ import annotations

import copy
import datetime
from dataclasses import dataclass

from articles.models import Article, ArticleRevision

Kind = ArticleRevision.Kind


@dataclass(frozen=True)
class ListedRevision:
    """A revision in a list. `version` counts the texts, of which the article itself is number 1."""

    number: int
    version: int
    kind: str
    seen_at: datetime.datetime
    updated_at: datetime.datetime | None
    note: str
    new_headline: str  # empty if it is the headline of the version before


@dataclass(frozen=True)
class ArticleVersions:
    """An article of a pair, and its revisions, the oldest first."""

    name: str
    article: Article
    revisions: list[ListedRevision]

    @property
    def texts(self) -> int:
        """How many later texts there are."""
        return self.revisions[-1].version - 1

    @property
    def gone(self) -> ListedRevision | None:
        """The last revision if it says that the article is gone."""
        return self.revisions[-1] if self.revisions[-1].kind == Kind.GONE else None


@dataclass(frozen=True)
class Revision:
    """A revision with a text, and the version before it, both in the shape of the article.

    `previous` and `following` are the neighbours with a text; without a previous one, `before` is the article itself.
    """

    listed: ListedRevision
    before: Article
    after: Article
    previous: ListedRevision | None
    following: ListedRevision | None


def listed_revisions(article: Article) -> list[ListedRevision]:
    """Return the revisions of an article, the oldest first."""
    listed = []
    headline, version = article.headline, 1
    for each in article.revisions.order_by("number").defer("content", "body"):
        has_text = each.kind != Kind.GONE
        version += each.kind == Kind.CHANGED
        new_headline = each.headline if has_text and each.headline != headline else ""
        headline = each.headline if has_text else headline
        listed.append(
            ListedRevision(each.number, version, each.kind, each.seen_at, each.updated_at, each.note, new_headline)
        )
    return listed


def versions_of(left: Article, right: Article) -> list[ArticleVersions]:
    """Return the revisions of those of two articles that have any."""
    both = (("First article", left), ("Second article", right))
    of = [ArticleVersions(name, article, listed_revisions(article)) for name, article in both]
    return [each for each in of if each.revisions]


def revision(article: Article, number: int) -> Revision | None:
    """Return the revision of this number; None if there is none, or one without a text."""
    texts = [each for each in listed_revisions(article) if each.kind != Kind.GONE]
    place = next((place for place, each in enumerate(texts) if each.number == number), None)
    if place is None:
        return None
    previous, following = texts[place - 1] if place else None, texts[place + 1] if place + 1 < len(texts) else None
    return Revision(
        listed=texts[place],
        before=_as_article(article, previous.number) if previous else article,
        after=_as_article(article, number),
        previous=previous,
        following=following,
    )


def _as_article(article: Article, number: int) -> Article:
    """Return the article with the text of a revision, and without the marks of its own text."""
    stored = article.revisions.defer("body").get(number=number)
    shown = copy.copy(article)
    shown.headline, shown.content, shown.boilerplate = stored.headline, stored.content, []
    return shown

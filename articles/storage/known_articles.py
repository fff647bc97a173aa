"""Which stored article an incoming one is: the one with the same URL, or with a URL that either of them declares.

Or one that it is attached to, if its newspaper wants that: see SameArticles.
"""

import datetime
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import LiteralString, Self
from uuid import UUID

from django.db.models.functions import MD5
from psycopg.sql import SQL, Identifier

from articles.grouping import by_key
from articles.models import Article, ArticleURL, Newspaper
from articles.normalization.text import TEASER_CHARACTERS, is_same_teaser, teaser_of
from articles.normalization.titles import is_telling, tells_apart
from articles.normalization.urls import comparable_url, page_form
from articles.querysets import fetched
from articles.storage.fingerprints import md5
from articles.storage.incoming import keys_of
from articles.storage.preparing import Prepared, PreparedURL
from articles.storage.url_parameters import may_be_two_stories

# A URL that more articles declare is the URL of none of them.
MAX_DECLARING = 25
# A shorter headline, such as "Letters", heads many stories. Scripts without blanks have few words.
_LEAST_WORDS, _LEAST_CHARACTERS = 3, 12

# Of articles_articleurl, whose keys are unique, and by the index declared_url_key of articles_declaredurl.
_ARTICLES_SQL: LiteralString = """
SELECT named.key, article.id, article.newspaper_id, article.date, article.headline, article.normalized_title,
       article.text_digest, article.published_at, article.extractor_version, article.withheld
FROM {table} AS named JOIN articles_article AS article ON article.id = named.article_id
WHERE named.key = ANY(%(keys)s)
ORDER BY named.id
"""


@dataclass(slots=True)
class StoredArticle:
    """What the writer needs to know of a stored article, or of one that it is about to store (`pk` 0)."""

    pk: int
    newspaper_id: int
    date: datetime.date
    headline: str
    normalized_title: str
    text_digest: UUID | None
    published_at: datetime.datetime | None
    extractor_version: int
    withheld: bool = False  # nothing is added to it then
    teaser: str = ""  # only of those in SameArticles

    @classmethod
    def of(cls, new: Prepared, newspaper_id: int) -> Self:
        """Return it for an article that is about to be stored."""
        came = {field.name: getattr(new, field.name) for field in fields(cls) if field.name in Prepared._fields}
        return cls(pk=0, newspaper_id=newspaper_id, **came)


@dataclass(slots=True)
class Addresses:
    """Whose URLs are: the article that each key belongs to, and those whose pages declare it."""

    owners: dict[UUID, StoredArticle]
    declaring: dict[UUID, list[StoredArticle]]

    @classmethod
    def of(cls, batch: Iterable[Prepared]) -> Self:
        """Return whose the URLs of these articles are in the store."""
        batch = list(batch)
        declared = {key for prepared in batch for key in prepared.declared}
        owned = {key for prepared in batch for key in (*prepared.own_keys, *prepared.urls)}
        named = declared.union(*(prepared.own_keys for prepared in batch))
        return cls(owners_of(owned | declared), by_key(_articles("articles_declaredurl", named)))

    def known(self, new: Prepared, newspaper_id: int) -> StoredArticle | None:
        """Return the stored article that this one is; None if it is new.

        A URL that it only names, such as a canonical link, and one that another page declares, counts only within the
        newspaper and for the same headline or text. A site that names one page as the canonical URL of every article
        must not lose them all, nor a newspaper its wire copy because it points to the agency.
        """
        for key in new.own_keys:
            if key in self.owners:
                return self.owners[key]
        named = [self.owners[key] for key in (*new.urls, *new.declared) if key in self.owners]
        for key in (*new.own_keys, *new.declared):
            named += self.declaring.get(key, ()) if key not in self.owners else ()
        inside = (other for other in named if other.newspaper_id == newspaper_id)
        return next((other for other in inside if other.withheld or _is_one_story(new, other)), None)

    def declare(self, prepared: Prepared, article: StoredArticle) -> Iterator[tuple[UUID, PreparedURL]]:
        """Yield those of the URLs which its page declares that nobody owns, and remember them."""
        for key, url in prepared.declared.items():
            others = self.declaring.setdefault(key, [])
            is_first = not any(other is article or other.pk == article.pk > 0 for other in others)
            if key not in self.owners and is_first and len(others) < MAX_DECLARING:
                others.append(article)
                yield key, url


# By the indexes article_url_normalized and article_title. A withheld article has neither form nor headline.
_SAME_SQL: LiteralString = """
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest(%(newspapers)s::bigint[], %(forms)s::text[], %(days)s::date[], %(titles)s::text[])
        AS wanted (newspaper_id, form, day, title)
), found AS (
    SELECT wanted.form, article.id FROM wanted
    JOIN articles_articleurl AS known
        ON md5(known.normalized_url) = md5(wanted.form) AND known.normalized_url = wanted.form
    JOIN articles_article AS article ON article.id = known.article_id AND article.newspaper_id = wanted.newspaper_id
    UNION
    SELECT NULL, article.id FROM wanted
    JOIN articles_article AS article ON article.newspaper_id = wanted.newspaper_id AND article.date = wanted.day
        AND md5(article.normalized_title) = md5(wanted.title) AND article.normalized_title = wanted.title
)
SELECT found.form, article.id, article.newspaper_id, article.date, article.headline, article.normalized_title,
       article.text_digest, article.published_at, article.extractor_version, article.withheld,
       CASE WHEN length(article.normalized_text) <= %(characters)s THEN article.normalized_text ELSE '' END
FROM found JOIN articles_article AS article USING (id)
ORDER BY article.id
"""
# Not a front page, which many articles may name.
_NAMES_A_PAGE = re.compile("//[^/]+/.")


@dataclass(slots=True)
class SameArticles:
    """The articles that the policies of newspapers may attach an arriving one to, the oldest first.

    By newspaper and form of a URL; and by newspaper, day and normalised headline.
    """

    articles: dict[tuple[object, ...], list[StoredArticle]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, batch: Iterable[tuple[Prepared, Newspaper]]) -> Self:
        """Return those in the store, by one query; by none if no newspaper of the batch has such a policy."""
        same = cls()
        wanted = [
            (paper.pk, _own_form(new), new.date, new.normalized_title if is_telling(new.normalized_title) else None)
            for new, paper in batch
            if paper.attach and not new.is_known
        ]
        if not wanted:
            return same
        newspapers, forms, days, titles = map(list, zip(*wanted, strict=True))
        columns = {"newspapers": newspapers, "forms": forms, "days": days, "titles": titles}
        for form, *values, text in fetched(_SAME_SQL, {**columns, "characters": TEASER_CHARACTERS}):
            same.add(StoredArticle(*(*values, teaser_of(text))), () if form is None else [form])
        return same

    def find(self, new: Prepared, newspaper: Newspaper) -> tuple[StoredArticle, str] | None:
        """Return the article that this one is attached to by its newspaper's policy, and by what; None if to none.

        A URL of which parameters are dropped says nothing if the headlines are of two stories: these may number them,
        which is then learnt.
        """
        decorated = new.urls[new.own_keys[0]].decorated
        for other in self.articles.get((newspaper.pk, _own_form(new)), ())[:1]:
            if not (decorated and may_be_two_stories(new.normalized_title, other.normalized_title)):
                return other, Newspaper.Attach.ADDRESS
        if newspaper.attach == Newspaper.Attach.HEADLINE and is_telling(new.normalized_title):
            for other in self.articles.get((newspaper.pk, new.date, new.normalized_title), ()):
                same = new.text_digest == other.text_digest is not None or is_same_teaser(new.teaser, other.teaser)
                if same and not tells_apart(new.headline, other.headline):
                    return other, Newspaper.Attach.HEADLINE
        return None

    def add(self, article: StoredArticle, forms: Iterable[str]) -> None:
        """Add an article with these forms of URLs, also one that is about to be stored."""
        paper = article.newspaper_id
        for key in ((paper, article.date, article.normalized_title), *((paper, form) for form in forms)):
            self.articles[key].append(article)


def _own_form(new: Prepared) -> str | None:
    """Return the form of the article's own URL; None if it names no page."""
    form = new.urls[new.own_keys[0]].form
    return form if _NAMES_A_PAGE.search(form) else None


def owners_of(keys: Collection[UUID]) -> dict[UUID, StoredArticle]:
    """Return the stored article that each of these URLs belongs to."""
    return dict(_articles("articles_articleurl", keys))


def known_urls(urls: Iterable[str]) -> set[str]:
    """Return those of the URLs that belong to a stored article or redirect to one; they need no fetching."""
    keys = {url: keys_of(url) for url in urls}
    known = known_keys(set().union(*keys.values()))
    return {url for url, either in keys.items() if not known.isdisjoint(either)}


def known_keys(keys: Collection[UUID]) -> set[UUID]:
    """Return those of the keys that are of a URL of a stored article."""
    return set(ArticleURL.objects.filter(key__in=keys).values_list("key", flat=True))


def known_pages(urls: Collection[str], kept: tuple[str, ...] = ()) -> set[str]:
    """Return those of the URLs that lead to the page of a stored article, in any spelling; they need no fetching.

    `kept` are the parameters that count in their newspaper. Uses the indexes on keys and on normal forms.
    """
    known = known_urls(urls)
    digests = {url: md5(comparable_url(url, kept)) for url in urls if url not in known}
    rows = ArticleURL.objects.annotate(digest=MD5("normalized_url")).filter(digest__in=set(digests.values()))
    pages = by_key((digest, page_form(url, kept)) for digest, url in rows.values_list("digest", "url"))
    return known | {url for url, digest in digests.items() if page_form(url, kept) in pages[digest]}


def others_with_text(newspaper_id: int, new: Prepared) -> bool:
    """Return whether the newspaper has another article with this headline and text. Uses the index on digests."""
    same = Article.objects.filter(newspaper=newspaper_id, text_digest=new.text_digest)
    others = same.filter(normalized_title=new.normalized_title).exclude(urls__key__in=new.own_keys)
    return new.text_digest is not None and others.exists()


def _articles(table: LiteralString, keys: Collection[UUID]) -> Iterator[tuple[UUID, StoredArticle]]:
    """Yield these keys of a table of URLs with their articles, the oldest row first."""
    if not keys:
        return
    rows = fetched(SQL(_ARTICLES_SQL).format(table=Identifier(table)), {"keys": list(keys)})
    articles = {pk: StoredArticle(pk, *rest) for _, pk, *rest in rows}
    yield from ((key, articles[pk]) for key, pk, *_ in rows)


def _is_one_story(new: Prepared, other: StoredArticle) -> bool:
    """Return whether headline or text agree, of two articles of which one names a URL of the other."""
    if new.text_digest is not None and new.text_digest == other.text_digest:
        return True
    title = new.normalized_title
    is_telling = len(title.split()) >= _LEAST_WORDS or len(title) >= _LEAST_CHARACTERS
    return is_telling and title == other.normalized_title

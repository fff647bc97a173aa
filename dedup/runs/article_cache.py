"""A process's cache of articles prepared for comparison: an article is in many pairs."""

from __future__ import annotations

import datetime
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from articles.boilerplate.mode import Mode
from articles.models import Article
from articles.querysets import TIME_COLUMNS
from dedup.comparison.prepared import Preparer
from dedup.comparison.recurring import RecurringText
from dedup.judging.articles import JudgedArticle, StoredArticle, prepared
from dedup.kernels.masked_shingles import Hashes
from dedup.runs.headlines import AFFIX_COLUMNS

# An article takes about 40 kB. With more known words than this, the preparer starts over.
_KEPT_ARTICLES = 4_000
_KNOWN_WORDS = 400_000


class _Cached(NamedTuple):
    """An article prepared for comparison at one revision."""

    article: JudgedArticle
    revision: int


class ArticleCache:
    """The prepared articles of a process. Each is prepared once; the least recently used are dropped first.

    `texts`: what recurs in a newspaper around a month, by both and a digest of the articles it is learnt from.
    """

    def __init__(self) -> None:
        self.texts: dict[tuple[int, datetime.date, int], RecurringText] = {}
        self._preparer = Preparer()
        self._articles: OrderedDict[int, _Cached] = OrderedDict()
        self._boilerplate = Mode.KEEP

    def fetch(self, wanted: set[int], boilerplate: Mode) -> dict[int, JudgedArticle]:
        """Return these articles, with or without their boilerplate."""
        if self._boilerplate is not boilerplate:
            self.clear()
            self._boilerplate = boilerplate
        current = dict(Article.objects.filter(pk__in=wanted & self._articles.keys()).values_list("pk", "revision"))
        fresh = {pk for pk, revision in current.items() if self._articles[pk].revision == revision}
        for known in fresh:
            self._articles.move_to_end(known)
        missing = Article.objects.filter(pk__in=wanted - fresh).select_related("newspaper", "headline_form", "shingles")
        columns = (*TIME_COLUMNS, "date", "headline", "content", "boilerplate", "revision", *AFFIX_COLUMNS)
        for article in missing.only(*columns, "headline_form__form", "shingles__revision", "shingles__shingles"):
            self._articles[article.pk] = self._prepared(article)
            self._articles.move_to_end(article.pk)
        found = {each: self._articles[each].article for each in wanted}
        while len(self._articles) > _KEPT_ARTICLES:
            self._articles.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all articles, and what recurs in newspapers."""
        self._articles.clear()
        self.texts.clear()

    def _prepared(self, article: Article) -> _Cached:
        if self._preparer.known_words > _KNOWN_WORDS:
            self._preparer = Preparer()
        return _Cached(prepared(_stored(article), self._preparer, self._boilerplate), article.revision)


def _stored(article: Article) -> StoredArticle:
    form = getattr(article, "headline_form", None)  # the next run makes it of an article stored since the last one
    return StoredArticle(
        article.pk,
        article.newspaper_id,
        article.date,
        article.publication_time,
        article.headline,
        article.newspaper.affixes,
        article.content,
        article.boilerplate,
        _masked(article),
        form.form if form else None,
    )


def _masked(article: Article) -> Hashes | None:
    """Return the stored shingles of an article if they are up to date."""
    known = getattr(article, "shingles", None)
    if known is None or known.revision != article.revision:
        return None
    return np.frombuffer(known.shingles, dtype="<u4")


ARTICLES = ArticleCache()

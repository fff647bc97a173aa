"""A process's cache of articles prepared for comparison: an article is in many pairs."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.models import Article
from articles.normalization.titles import plain_title
from articles.querysets import TIME_COLUMNS
from dedup.comparison.prepared import ArticleText, PreparedArticle, Preparer
from dedup.kernels.masked_shingles import Hashes
from dedup.runs.headlines import AFFIX_COLUMNS

# An article takes about 40 kB. With more known words than this, the preparer starts over.
_KEPT_ARTICLES = 4_000
_KNOWN_WORDS = 400_000


class CachedArticle(NamedTuple):
    """An article prepared for comparison at one revision, with the form of its headline."""

    article: PreparedArticle
    form: str
    revision: int


class ArticleCache:
    """The prepared articles of a process. Each is prepared once; the least recently used are dropped first."""

    def __init__(self) -> None:
        self._preparer = Preparer()
        self._articles: OrderedDict[int, CachedArticle] = OrderedDict()
        self._boilerplate = Mode.KEEP

    def fetch(self, wanted: set[int], boilerplate: Mode) -> dict[int, CachedArticle]:
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
        found = {each: self._articles[each] for each in wanted}
        while len(self._articles) > _KEPT_ARTICLES:
            self._articles.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all articles."""
        self._articles.clear()

    def _prepared(self, article: Article) -> CachedArticle:
        if self._preparer.known_words > _KNOWN_WORDS:
            self._preparer = Preparer()
        headline = plain_title(article.headline, article.newspaper.affixes)
        content = without_boilerplate(article.content, article.boilerplate, self._boilerplate)
        text = ArticleText(
            article.newspaper_id, article.date, headline, content, _masked(article, content), article.publication_time
        )
        known = getattr(article, "headline_form", None)  # the next run makes it of an article stored since the last one
        form = known.form if known else self._preparer.headline_form(headline)
        return CachedArticle(self._preparer.prepare(text), form, article.revision)


def _masked(article: Article, content: str) -> Hashes | None:
    """Return the stored shingles of an article if they are those of this content."""
    known = getattr(article, "shingles", None)
    if known is None or known.revision != article.revision or content != article.content:
        return None
    return np.frombuffer(known.shingles, dtype="<u4")


ARTICLES = ArticleCache()

"""A process's cache of articles prepared for comparison: an article is in many pairs."""

from __future__ import annotations

import datetime
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from articles.boilerplate.mode import Mode
from articles.models import Article, Newspaper
from articles.normalization.times import Precision, PublicationTime
from articles.querysets import TIME_COLUMNS
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.comparison.recurring import RecurringText
from dedup.detection.judging.articles import JudgedArticle, StoredArticle, prepared

_COLUMNS = (
    *("pk", "newspaper", "date", *TIME_COLUMNS, "headline", "content", "boilerplate"),
    *("headline_form__form", "shingles__revision", "shingles__shingles", "revision"),
)
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
        # As plain rows: making objects of the models takes a third of the time.
        rows = list(Article.objects.filter(pk__in=wanted - fresh).values_list(*_COLUMNS))
        affixes = {item_.pk: item_.affixes for item_ in Newspaper.objects.filter(pk__in={row[1] for row in rows})}
        for *columns, revision in rows:
            stored = _stored(columns, affixes, revision)
            self._articles[stored.id] = _Cached(prepared(stored, self._known_words(), boilerplate), revision)
            self._articles.move_to_end(stored.id)
        found = {article: self._articles[article].article for article in wanted}
        while len(self._articles) > _KEPT_ARTICLES:
            self._articles.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all articles, and what recurs in newspapers."""
        self._articles.clear()
        self.texts.clear()

    def _known_words(self) -> Preparer:
        if self._preparer.known_words > _KNOWN_WORDS:
            self._preparer = Preparer()
        return self._preparer


def _stored(columns: Sequence[Any], affixes: Mapping[int, Sequence[str]], revision: int) -> StoredArticle:
    pk, newspaper, date, at, offset, precision, headline, content, marks, form, made_at, shingles = columns
    time = None if at is None else PublicationTime(at, offset, Precision(precision))
    # What is outdated is made again. The next run makes the form of an article that was stored since the last one.
    masked = np.frombuffer(shingles, dtype="<u4") if made_at == revision else None
    return StoredArticle(pk, newspaper, date, time, headline, affixes[newspaper], content, marks, masked, form)


ARTICLES = ArticleCache()

"""A process's cache of articles prepared for comparison."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from articles.boilerplate.mode import Mode
from articles.models import Article, Newspaper
from articles.normalization.times import Precision, PublicationTime
from articles.querysets import TIME_COLUMNS
from dedup.detection.comparison.recurring import RecurringText
from dedup.detection.judging.judge import JudgedArticle, PreparedArticles, StoredArticle

_COLUMNS = (
    *("pk", "newspaper", "date", *TIME_COLUMNS, "headline", "content", "boilerplate"),
    *("headline_form__form", "shingles__revision", "shingles__shingles", "revision"),
)


class ArticleCache:
    """The prepared articles of a process, each at one revision.

    `texts`: what recurs in a newspaper around a month, by both and a digest of the articles it is learnt from.
    """

    def __init__(self) -> None:
        self.texts: dict[tuple[int, datetime.date, int], RecurringText] = {}
        self._prepared = PreparedArticles()

    def fetch(self, wanted: set[int], boilerplate: Mode) -> dict[int, JudgedArticle]:
        """Return these articles, with or without their boilerplate."""
        revisions = Article.objects.filter(pk__in=wanted).values_list("pk", "revision")
        known = {pk: self._prepared.find((pk, revision, boilerplate)) for pk, revision in revisions}
        found = {pk: article for pk, article in known.items() if article}
        # As plain rows: making objects of the models takes a third of the time.
        rows = list(Article.objects.filter(pk__in=wanted - found.keys()).values_list(*_COLUMNS))
        newspapers = Newspaper.objects.in_bulk({row[1] for row in rows})
        affixes = {number: newspaper.affixes for number, newspaper in newspapers.items()}
        for *columns, revision in rows:
            stored = _stored(columns, affixes, revision)
            found[stored.id] = self._prepared.prepare((stored.id, revision, boilerplate), stored, boilerplate)
        return found

    def clear(self) -> None:
        """Forget all articles, and what recurs in newspapers."""
        self._prepared.clear()
        self.texts.clear()


def _stored(columns: Sequence[Any], affixes: Mapping[int, Sequence[str]], revision: int) -> StoredArticle:
    pk, newspaper, date, at, offset, precision, headline, content, marks, form, made_at, shingles = columns
    time = None if at is None else PublicationTime(at, offset, Precision(precision))
    # What is outdated is made again. The next run makes the form of an article that was stored since the last one.
    masked = np.frombuffer(shingles, dtype="<u4") if made_at == revision else None
    return StoredArticle(pk, newspaper, date, time, headline, affixes[newspaper], content, marks, masked, form)


ARTICLES = ArticleCache()

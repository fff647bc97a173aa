"""Stored articles, prepared for comparison from their plain columns. Pure."""

from __future__ import annotations

import datetime
import gc
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.normalization.times import PublicationTime
from articles.normalization.titles import plain_title
from dedup.detection.comparison.prepared import ArticleText, PreparedArticle, Preparer
from dedup.detection.kernels.masked_shingles import Hashes

# An article takes about 40 kB.
_KEPT_ARTICLES = 4_000


class StoredArticle(NamedTuple):
    """The columns of an article that its verdicts rest on.

    `affixes` are the names that its newspaper adds to headlines (Newspaper.affixes). `boilerplate`: the marks of the
    content. `masked`: the masked word shingles of the whole content; None: they are not known, or outdated. `form`: the
    form of its headline (Preparer.headline_form); None: it is not known.
    """

    id: int
    newspaper: int
    date: datetime.date
    time: PublicationTime | None
    headline: str
    affixes: Sequence[str]
    content: str
    boilerplate: Sequence[Sequence[int]]
    masked: Hashes | None = None
    form: str | None = None


class JudgedArticle(NamedTuple):
    """An article prepared for comparison, with the form of its headline."""

    article: PreparedArticle
    form: str


class PreparedArticles:
    """Prepared articles, each under a key of the caller's choice, because an article is in many pairs.

    The least recently used are dropped first.
    """

    def __init__(self) -> None:
        self._preparer = Preparer()
        self._articles: OrderedDict[Hashable, JudgedArticle] = OrderedDict()

    def find(self, key: Hashable) -> JudgedArticle | None:
        """Return the article that was prepared under a key; None if there is none any more."""
        article = self._articles.get(key)
        if article is not None:
            self._articles.move_to_end(key)
        return article

    def prepare(self, key: Hashable, stored: StoredArticle, boilerplate: Mode) -> JudgedArticle:
        """Return an article prepared for comparison, with or without its boilerplate, and keep it under a key."""
        headline = plain_title(stored.headline, stored.affixes)
        content = without_boilerplate(stored.content, stored.boilerplate, boilerplate)
        masked = stored.masked if content == stored.content else None
        text = ArticleText(stored.newspaper, stored.date, headline, content, masked, stored.time)
        form = self._preparer.headline_form(headline) if stored.form is None else stored.form
        self._articles[key] = article = JudgedArticle(self._preparer.prepare(text), form)
        if len(self._articles) > _KEPT_ARTICLES:
            self._articles.popitem(last=False)
        return article

    def clear(self) -> None:
        """Forget all articles."""
        self._articles.clear()


@contextmanager
def without_collector() -> Iterator[None]:
    """Disable the garbage collector: it would traverse thousands of prepared articles, which have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""Stored articles, prepared for comparison from their plain columns. Pure."""

from __future__ import annotations

import datetime
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.normalization.times import PublicationTime
from articles.normalization.titles import plain_title
from dedup.detection.comparison.prepared import ArticleText, PreparedArticle, Preparer
from dedup.detection.kernels.masked_shingles import Hashes


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


def prepared(stored: StoredArticle, preparer: Preparer, boilerplate: Mode) -> JudgedArticle:
    """Return an article prepared for comparison, with or without its boilerplate."""
    headline = plain_title(stored.headline, stored.affixes)
    content = without_boilerplate(stored.content, stored.boilerplate, boilerplate)
    masked = stored.masked if content == stored.content else None
    text = ArticleText(stored.newspaper, stored.date, headline, content, masked, stored.time)
    form = preparer.headline_form(headline) if stored.form is None else stored.form
    return JudgedArticle(preparer.prepare(text), form)


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

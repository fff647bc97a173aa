"""What recurs in the newspapers of a month's pairs, learnt from all their articles of some months.

The shingle index has the phrases of every article, so nothing has to be proposed as a pair to be known as a form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from django.db import connection

from dedup.article_sql import article_sql
from dedup.comparison.recurring import RecurringText
from dedup.judging.months import text_days
from dedup.judging.recurring_text import recurring_text, sampled
from dedup.kernels.masked_shingles import ShingleSets
from dedup.kernels.tokens import IntArray, distinct
from dedup.passes.reading import ArticleShingles, read_shingles, read_shingles_of
from dedup.runs.months import MonthTask
from dedup.types import Window

_TEXTS_SQL = article_sql("SELECT {article.text} FROM {articles} AS article WHERE id = ANY (%(ids)s)", "article")


def recurring_texts(
    task: MonthTask, articles: Collection[int], newspapers: Collection[int]
) -> dict[int, RecurringText]:
    """Return what recurs in these newspapers around a month, as far as these articles have it."""
    first_day, last_day = text_days(task.first_day)
    window = Window(task.first_day, last_day, newspaper_ids=tuple(sorted(newspapers)), boilerplate=task.boilerplate)
    asked = distinct(read_shingles_of(articles, window, connection).sets.values)
    every = read_shingles(window, connection, first_day=first_day)
    return {
        newspaper: recurring_text(asked, every.days[rows], _rows_of(every, rows), _texts(every.ids[rows], window))
        for newspaper, rows in _by_newspaper(every)
    }


def _by_newspaper(articles: ArticleShingles) -> Iterator[tuple[int, IntArray]]:
    for newspaper in distinct(articles.newspapers).tolist():
        yield newspaper, np.flatnonzero(articles.newspapers == newspaper)


def _rows_of(articles: ArticleShingles, rows: IntArray) -> ShingleSets:
    values, offsets = articles.sets
    parts = [values[offsets[row] : offsets[row + 1]] for row in rows.tolist()]
    return ShingleSets(np.concatenate(parts), np.cumsum([0, *map(len, parts)], dtype=np.int64))


def _texts(ids: IntArray, window: Window) -> Iterator[str]:
    """Yield the texts of the sampled ones of some articles."""
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS_SQL, {"ids": ids[sampled(len(ids))].tolist(), "boilerplate": window.boilerplate.value})
        for (text,) in cursor:
            yield text

"""What recurs in the newspapers of a month's pairs, learnt from all their articles of some months.

The shingle index has the phrases of every article, so nothing has to be proposed as a pair to be known as a form.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator

import numpy as np
from django.db import connection

from dedup.article_sql import article_sql
from dedup.comparison.recurring import LEAST_LEARNT, RECURRING_TEXT_DAYS, RecurringText, common_words, recurring_phrases
from dedup.kernels.masked_shingles import ShingleSets, words_of
from dedup.kernels.tokens import IntArray, distinct
from dedup.passes.reading import ArticleShingles, read_shingles, read_shingles_of
from dedup.runs.months import MonthTask
from dedup.types import Window

# Common words are learnt from at most this many articles of a newspaper, spread evenly over the days.
_SAMPLED_ARTICLES = 300

_TEXTS_SQL = article_sql("SELECT {article.text} FROM {articles} AS article WHERE id = ANY (%(ids)s)", "article")


def recurring_texts(
    task: MonthTask, articles: Collection[int], newspapers: Collection[int]
) -> dict[int, RecurringText]:
    """Return what recurs in these newspapers around a month, as far as these articles have it."""
    around = datetime.timedelta(days=RECURRING_TEXT_DAYS)
    window = Window(
        task.first_day, task.last_day + around, newspaper_ids=tuple(sorted(newspapers)), boilerplate=task.boilerplate
    )
    asked = distinct(read_shingles_of(articles, window, connection).sets.values)
    every = read_shingles(window, connection, first_day=task.first_day - around)
    return {
        newspaper: RecurringText(
            phrases=recurring_phrases(asked, every.days[rows], _rows_of(every, rows)),
            common=common_words(_vocabularies(every.ids[rows], window)),
            articles=len(rows),
        )
        for newspaper, rows in _by_newspaper(every)
        if len(rows) >= LEAST_LEARNT
    }


def _by_newspaper(articles: ArticleShingles) -> Iterator[tuple[int, IntArray]]:
    for newspaper in distinct(articles.newspapers).tolist():
        yield newspaper, np.flatnonzero(articles.newspapers == newspaper)


def _rows_of(articles: ArticleShingles, rows: IntArray) -> ShingleSets:
    values, offsets = articles.sets
    parts = [values[offsets[row] : offsets[row + 1]] for row in rows.tolist()]
    return ShingleSets(np.concatenate(parts), np.cumsum([0, *map(len, parts)], dtype=np.int64))


def _vocabularies(ids: IntArray, window: Window) -> Iterator[set[str]]:
    spread = np.linspace(0, len(ids) - 1, min(len(ids), _SAMPLED_ARTICLES)).astype(np.int64)
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS_SQL, {"ids": ids[spread].tolist(), "boilerplate": window.boilerplate.value})
        for (text,) in cursor:
            yield set(words_of(text))

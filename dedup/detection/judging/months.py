"""Which days have a say in the verdicts of a month. Pure.

A pair belongs to the month of its later article. A month is named by its first day.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dedup.detection.comparison.recurring import (
    LEAST_LEARNT,
    NO_RECURRING_TEXT,
    RECURRING_TEXT_DAYS,
    SERIES_DAYS,
    RecurringText,
    common_words,
    recurring_phrases,
)
from dedup.detection.kernels.masked_shingles import Hashes, ShingleSets, words_of
from dedup.detection.kernels.tokens import IntArray


class Days(NamedTuple):
    """Days from the first to the last, both included."""

    first: datetime.date
    last: datetime.date

    @property
    def ordinals(self) -> tuple[int, int]:
        """Return both as ordinal numbers."""
        return self.first.toordinal(), self.last.toordinal()


def month_of(day: datetime.date) -> datetime.date:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def days_of(month: datetime.date) -> Days:
    """Return the days of a month."""
    following = month_of(month + datetime.timedelta(days=32))
    return Days(month, following - datetime.timedelta(days=1))


def series_days(month: datetime.date) -> Days:
    """Return the days whose headlines may be in one series with an article of a month's pairs."""
    return _around(month, SERIES_DAYS)


def text_days(month: datetime.date) -> Days:
    """Return the days from whose articles it is learnt what recurs in the texts of a month's newspapers."""
    return _around(month, RECURRING_TEXT_DAYS)


def _around(month: datetime.date, days: int) -> Days:
    around = datetime.timedelta(days=days)
    first, last = days_of(month)
    return Days(first - around, last + around)


# Common words are learnt from at most this many articles of a newspaper, spread evenly over the days.
_SAMPLED_ARTICLES = 300


def sampled(articles: int) -> IntArray:
    """Return which of so many articles of a newspaper common words are learnt from: places in order of day and id."""
    return np.linspace(0, articles - 1, min(articles, _SAMPLED_ARTICLES)).astype(np.int64)


def recurring_text(asked: Hashes | None, days: IntArray, phrases: ShingleSets, texts: Iterable[str]) -> RecurringText:
    """Return what recurs in a newspaper around a month; nothing if it has too few articles.

    `days` are the ordinal numbers of its articles' days, and `phrases` their masked word shingles, article by article.
    Of the phrases, only those asked for (ascending, distinct) are returned, if any are: those of the articles to judge
    are enough, and all are many more. `texts` are the normalised texts of the sampled() articles, in any order; they
    are not read if there are too few articles. All texts are without boilerplate where pairs are compared without it.
    """
    if len(days) < LEAST_LEARNT:
        return NO_RECURRING_TEXT
    return RecurringText(
        phrases=recurring_phrases(asked, days, phrases),
        common=common_words_of(texts),
        articles=len(days),
    )


def common_words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that are common among the sampled() articles of a newspaper, from their normalised texts."""
    return common_words([text if text.isascii() else " ".join(words_of(text)) for text in texts])

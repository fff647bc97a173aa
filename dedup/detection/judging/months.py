"""Which days have a say in the verdicts of a month, and what is learnt from their texts. Pure.

A pair belongs to the month of its later article. A month is named by its first day.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dedup.detection.comparison.recurring import (
    LEAST_LEARNT,
    NO_RECURRING_TEXT,
    RECURRING_TEXT_DAYS,
    SERIES_DAYS,
    RecurringText,
    common_words,
    printings,
    recurring_between,
)
from dedup.detection.kernels.masked_shingles import Hashes, words_of
from dedup.detection.kernels.tokens import IntArray
from dedup.detection.passes.reading import ArticleShingles


class Days(NamedTuple):
    """Days from the first to the last, both included."""

    first: datetime.date
    last: datetime.date

    @property
    def ordinals(self) -> tuple[int, int]:
        """Return both as ordinal numbers."""
        return self.first.toordinal(), self.last.toordinal()

    def around(self, days: int) -> Days:
        """Return these days and so many before and after them."""
        around = datetime.timedelta(days=days)
        return Days(self.first - around, self.last + around)


def month_of(day: datetime.date) -> datetime.date:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def days_of(month: datetime.date) -> Days:
    """Return the days of a month."""
    following = month_of(month + datetime.timedelta(days=32))
    return Days(month, following - datetime.timedelta(days=1))


def series_days(month: datetime.date) -> Days:
    """Return the days whose headlines may be in one series with an article of a month's pairs."""
    return days_of(month).around(SERIES_DAYS)


def text_days(month: datetime.date) -> Days:
    """Return the days from whose articles it is learnt what recurs in the texts of a month's newspapers."""
    return days_of(month).around(RECURRING_TEXT_DAYS)


# Common words are learnt from at most this many articles of a newspaper, spread evenly over the days.
_SAMPLED_ARTICLES = 300


def _sampled(articles: IntArray) -> list[int]:
    """Return the articles, given in order of day and id, that common words are learnt from; none of too few."""
    if len(articles) < LEAST_LEARNT:
        return []
    places = np.linspace(0, len(articles) - 1, min(len(articles), _SAMPLED_ARTICLES)).astype(np.int64)
    found: list[int] = articles[places].tolist()
    return found


class Learning:
    """What recurs in a newspaper around some months is learnt from its phrases, and then of some of its texts.

    `parts` have all its articles around these months, each with a part of its phrases. Of the phrases, those `asked`
    for (ascending, distinct) are found at least, if any are: those of the articles to judge are enough, and all are
    many more. All texts are without boilerplate where pairs are compared without it.
    """

    def __init__(
        self, months: Sequence[datetime.date], parts: Iterable[ArticleShingles], asked: Hashes | None = None
    ) -> None:
        phrases: dict[datetime.date, list[Hashes]] = {month: [] for month in months}
        self._articles: dict[datetime.date, IntArray] = {}
        for part in parts:
            printed = printings(asked, part.days, part.sets)
            for month, found in phrases.items():
                first, last = text_days(month).ordinals
                found.append(recurring_between(printed, first, last))
                begin, end = np.searchsorted(part.days, [first, last + 1])
                self._articles[month] = part.ids[begin:end]
        self._phrases = {month: np.sort(np.concatenate(found)) for month, found in phrases.items()}
        self._samples = {month: _sampled(articles) for month, articles in self._articles.items()}

    @property
    def sampled(self) -> set[int]:
        """The articles whose texts are to be read."""
        return {article for sample in self._samples.values() for article in sample}

    def learnt(self, texts: Mapping[int, str]) -> dict[datetime.date, RecurringText]:
        """Return what recurs around each month, given the normalised texts of the sampled articles."""
        found = dict.fromkeys(self._samples, NO_RECURRING_TEXT)
        for month, sample in self._samples.items():
            if sample:
                sampled = (texts[article] for article in sample)
                words = common_words([text if text.isascii() else " ".join(words_of(text)) for text in sampled])
                found[month] = RecurringText(self._phrases[month], words, len(self._articles[month]))
        return found

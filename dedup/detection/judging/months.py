"""Which days have a say in the verdicts of a month, and what is learnt from their texts. Pure.

A pair belongs to the month of its later article. A month is named by its first day.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dedup.detection.comparison.recurring import (
    LEAST_LEARNT,
    NO_RECURRING_TEXT,
    RECURRING_TEXT_DAYS,
    SERIES_DAYS,
    Printings,
    RecurringText,
    common_words,
    printings,
    recurring_between,
)
from dedup.detection.judging.stories import alike, first_told, lasting, sketches
from dedup.detection.kernels.masked_shingles import Hashes, words_of
from dedup.detection.kernels.tokens import Flags, IntArray
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


# Common words are learnt from at most this many articles of a newspaper: those of the lowest hashes, so that a few more
# articles change few of them.
_SAMPLED_ARTICLES = 300
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_NUMBER = re.compile(r"\d+")


def _numbers_in(text: str) -> int:
    """Return a number for those of a normalised text."""
    return hash(tuple(sorted(_NUMBER.findall(text))))


class Learning:
    """What recurs in a newspaper around some months is learnt from its phrases, and then of some of its texts.

    `parts` have all its articles around these months, each with a part of its phrases. Of the phrases, those `asked`
    for (ascending, distinct) are found at least, if any are: those of the articles to judge are enough, and all are
    many more. All texts are without boilerplate where pairs are compared without it. A story counts once (stories.py).
    """

    def __init__(
        self, months: Sequence[datetime.date], parts: Iterable[ArticleShingles], asked: Hashes | None = None
    ) -> None:
        self._printed: list[Printings] = []
        made = []
        for part in parts:
            self._ids, self._days = part.ids, part.days
            self._printed.append(printings(asked, part.days, part.sets))
            made.append(sketches(part.sets))
        self._sketches = np.minimum.reduce(made)
        self._alike = alike(self._sketches, self._days)
        told_again = np.zeros(len(self._days), dtype=np.bool_)
        told_again[self._alike] = True
        self._again, self._others = np.flatnonzero(told_again), ~told_again
        bounds = [np.add(text_days(month).ordinals, (0, 1)) for month in months]
        self._months = dict(zip(months, np.searchsorted(self._days, bounds), strict=True))

    def _counted(self, month: datetime.date, numbers: Mapping[int, int]) -> Flags:
        """Return which articles count around a month; `numbers` of those that are like others."""
        begin, end = self._months[month]
        within = self._alike[(self._alike[:, 0] >= begin) & (self._alike[:, 1] < end)]
        formal = lasting(self._sketches[begin:end], self._days[begin:end])
        told_once = set((np.flatnonzero(~formal) + begin).tolist())
        counted = first_told(len(self._days), within, {place: numbers[place] for place in numbers.keys() & told_once})
        counted[:begin] = counted[end:] = False
        return counted

    def _sample(self, month: datetime.date) -> IntArray:
        """Return some articles of a month that are like no other."""
        begin, end = self._months[month]
        return self._drawn(np.flatnonzero(self._others[begin:end]) + begin, _SAMPLED_ARTICLES)

    def _drawn(self, places: IntArray, most: int) -> IntArray:
        """Return at most so many of these places, which other places do not decide."""
        hashes = self._ids[places].astype(np.uint64) * _MIXER
        return places[np.sort(np.argsort(hashes, kind="stable")[:most])]

    @property
    def wanted(self) -> set[int]:
        """The articles whose texts are to be read: those that are like others, and a sample of the rest."""
        if len(self._days) < LEAST_LEARNT:
            return set()
        return set(self._ids[np.concatenate([self._again, *map(self._sample, self._months)])].tolist())

    def learnt(self, texts: Mapping[int, str]) -> dict[datetime.date, RecurringText]:
        """Return what recurs around each month, given the normalised texts of the articles that are wanted."""
        found = dict.fromkeys(self._months, NO_RECURRING_TEXT)
        numbers = {place: _numbers_in(texts[int(self._ids[place])]) for place in self._again.tolist()} if texts else {}
        for month in self._months if texts else ():
            counted = self._counted(month, numbers)
            articles, again = int(np.count_nonzero(counted)), self._again[counted[self._again]]
            if articles < LEAST_LEARNT:
                continue
            phrases = [recurring_between(printed, self._days, counted) for printed in self._printed]
            share = round(_SAMPLED_ARTICLES * len(again) / articles)
            kept = [self._drawn(again, share), self._drawn(self._sample(month), _SAMPLED_ARTICLES - share)]
            sampled = (texts[article] for article in self._ids[np.concatenate(kept)].tolist())
            words = common_words([text if text.isascii() else " ".join(words_of(text)) for text in sampled])
            found[month] = RecurringText(np.sort(np.concatenate(phrases)), words, articles)
        return found

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
    LEAST_KNOWN,
    LEAST_LEARNT,
    NO_RECURRING_TEXT,
    Printings,
    RecurringText,
    common_words,
    printings,
    recurring_between,
)
from dedup.detection.judging.stories import alike, first_told, lasting, sketches
from dedup.detection.kernels.masked_shingles import Hashes, words_of
from dedup.detection.kernels.tokens import ODD, Flags, IntArray
from dedup.detection.passes.reading import ArticleShingles


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


# What recurs in a month's newspapers is learnt from the month and so many before it: once it is over, what comes later
# changes no verdict. A newspaper is young if it has less than LEAST_KNOWN articles then, or none before the month: of
# its texts, those of so many months after it count, too.
MONTHS_BEFORE = 2
MONTHS_AFTER = 2


def days_of(month: datetime.date, before: int = 0, after: int = 0) -> Days:
    """Return the days of a month, or from the first of so many months before it to the last of so many after it."""
    first, following = (_shifted(month, shift) for shift in (-before, after + 1))
    return Days(first, following - datetime.timedelta(days=1))


def _shifted(month: datetime.date, months: int) -> datetime.date:
    years, place = divmod(month.month - 1 + months, 12)
    return month.replace(year=month.year + years, month=place + 1)


def series_days(month: datetime.date) -> Days:
    """Return the days whose headlines may be in one series with an article of a month's pairs."""
    return days_of(month, before=MONTHS_BEFORE)


def text_days(month: datetime.date) -> Days:
    """Return the days from whose articles it may be learnt what recurs in the texts of a month's newspapers."""
    return days_of(month, before=MONTHS_BEFORE, after=MONTHS_AFTER)


class Learnt(NamedTuple):
    """From and up to which place a newspaper's articles are those that a month is learnt from; whether it is young."""

    begin: int
    end: int
    young: bool


def learnt_places(month: datetime.date, days: IntArray) -> Learnt:
    """Return which articles of a newspaper a month is learnt from, given the days of all in text_days(), ascending."""
    first, last = text_days(month).ordinals
    bounds = first, month.toordinal(), days_of(month).last.toordinal() + 1, last + 1
    begin, month_begins, month_ends, end = np.searchsorted(days, bounds).tolist()
    young = month_ends - begin < LEAST_KNOWN or begin == month_begins
    return Learnt(begin, end if young else month_ends, young)


# Common words are learnt from at most this many articles of a newspaper: those of the lowest hashes, so that a few more
# articles change few of them.
_SAMPLED_ARTICLES = 300
_NUMBER = re.compile(r"\d+")


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
        self._months = {month: learnt_places(month, self._days) for month in months}

    def _alike_in(self, month: datetime.date) -> IntArray:
        learnt = self._months[month]
        return self._alike[(self._alike[:, 0] >= learnt.begin) & (self._alike[:, 1] < learnt.end)]

    def _counted(self, month: datetime.date, numbers: Mapping[int, int]) -> Flags:
        """Return which articles count for a month; `numbers` of those that are like others."""
        begin, end, _ = self._months[month]
        formal = lasting(self._sketches[begin:end], self._days[begin:end])
        told_once = set((np.flatnonzero(~formal) + begin).tolist())
        of_stories = {place: numbers[place] for place in numbers.keys() & told_once}
        counted = first_told(len(self._days), self._alike_in(month), of_stories)
        counted[:begin] = counted[end:] = False
        return counted

    def _sample(self, month: datetime.date) -> IntArray:
        """Return some articles that a month is learnt from and that are like no other of these."""
        learnt = np.arange(*self._months[month][:2])
        return self._drawn(np.setdiff1d(learnt, self._alike_in(month)), _SAMPLED_ARTICLES)

    def _drawn(self, places: IntArray, most: int) -> IntArray:
        """Return at most so many of these places, which other places do not decide."""
        hashes = self._ids[places].astype(np.uint64) * ODD
        return places[np.sort(np.argsort(hashes, kind="stable")[:most])]

    @property
    def wanted(self) -> set[int]:
        """The articles whose texts are to be read: those that are like others, and a sample of the rest."""
        if len(self._days) < LEAST_LEARNT:
            return set()
        places = [self._alike.ravel(), *map(self._sample, self._months)]
        return set(self._ids[np.concatenate(places)].tolist())

    def learnt(self, texts: Mapping[int, str]) -> dict[datetime.date, RecurringText]:
        """Return what recurs around each month, given the normalised texts of the articles that are wanted."""
        found = dict.fromkeys(self._months, NO_RECURRING_TEXT)
        like_others = np.unique(self._alike).tolist() if texts else []
        written = {place: sorted(_NUMBER.findall(texts[int(self._ids[place])])) for place in like_others}
        numbers = {place: hash(tuple(found)) for place, found in written.items()}
        for month in self._months if texts else ():
            counted, again = self._counted(month, numbers), np.unique(self._alike_in(month))
            articles, again = int(np.count_nonzero(counted)), again[counted[again]]
            if articles < LEAST_LEARNT:
                continue
            phrases = [recurring_between(printed, self._days, counted) for printed in self._printed]
            share = round(_SAMPLED_ARTICLES * len(again) / articles)
            kept = [self._drawn(again, share), self._drawn(self._sample(month), _SAMPLED_ARTICLES - share)]
            sampled = (texts[article] for article in self._ids[np.concatenate(kept)].tolist())
            words = common_words([text if text.isascii() else " ".join(words_of(text)) for text in sampled])
            found[month] = RecurringText(np.sort(np.concatenate(phrases)), words, articles, self._months[month].young)
        return found

"""What a newspaper prints repeatedly: headlines of one form, phrases, and words. Pure."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median_low

import numpy as np

from dedup.comparison.coverage import among
from dedup.kernels.masked_shingles import Hashes, ShingleSets
from dedup.kernels.tokens import IntArray, distinct

# How many days before and after an article its series is searched: a monthly column appears at least twice.
SERIES_DAYS = 60
# What recurs in texts is learnt from the articles of a month and of this many days before and after: a monthly form
# appears at least three times.
RECURRING_TEXT_DAYS = 60
# A phrase recurs if its newspaper prints it on so many days, which span so many days: a story and the versions that
# follow it in the same week are not a form.
RECURRING_DAYS = 3
RECURRING_SPAN = 7
# A word is common if so many of a newspaper's articles have it, as a share and at least as a number.
COMMON_SHARE = 0.02
COMMON_ARTICLES = 2
# With fewer articles, what a newspaper prints repeatedly is known in part. With fewer than LEAST_LEARNT, nothing is
# learnt at all: three prints of one story would look like a form.
LEAST_KNOWN = 30
LEAST_LEARNT = 5
# A series is regular if this share of its gaps is the usual one, give or take a day.
_REGULAR = 0.6
_LEAST_GAPS = 2  # fewer show no rhythm
# Bits of the table that finds the phrases asked for, and of the days next to a phrase's hash.
_TABLE_BITS = 24
_DAY_BITS = 31


@dataclass(frozen=True, slots=True, eq=False)
class RecurringText:
    """What recurs in a newspaper around a month: `phrases` (masked word shingles, ascending) and `common` words.

    `articles`: the number of articles that it is learnt from.
    """

    phrases: Hashes = field(default_factory=lambda: np.empty(0, dtype=np.uint32))
    common: frozenset[str] = frozenset()
    articles: int = 0

    @property
    def known(self) -> bool:
        """Return whether the newspaper has enough articles to show what recurs."""
        return self.articles >= LEAST_KNOWN


NO_RECURRING_TEXT = RecurringText()


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The series that an article may belong to.

    `days`: the number of other days within SERIES_DAYS on which its newspaper printed a headline of the same form.
    `gap`: the usual number of days between them if they are regular, else 0.
    `text`: what recurs in its newspaper around the month, shared by all its articles.
    """

    days: int = 0
    gap: int = 0
    text: RecurringText = NO_RECURRING_TEXT


NO_RECURRENCE = Recurrence()


class HeadlineSeries:
    """The days on which each newspaper printed headlines of each form."""

    def __init__(self, rows: Iterable[tuple[int, datetime.date, str]]) -> None:
        """Read rows of newspaper, day of publication and form (Preparer.headline_form), in any order."""
        days: defaultdict[tuple[int, str], set[datetime.date]] = defaultdict(set)
        for newspaper, date, form in rows:
            if form:
                days[newspaper, form].add(date)
        # Most headlines are printed only once and are dropped here.
        self._days: Mapping[tuple[int, str], list[datetime.date]] = {
            key: sorted(found) for key, found in days.items() if len(found) > 1
        }

    def recurrence_of(
        self, newspaper: int, date: datetime.date, form: str, text: RecurringText | None = None
    ) -> Recurrence:
        """Return the series of an article."""
        printed = self._days.get((newspaper, form), [])
        near = [day for day in printed if abs((day - date).days) <= SERIES_DAYS]
        return Recurrence(len([day for day in near if day != date]), usual_gap(near), text or NO_RECURRING_TEXT)


def usual_gap(days: list[datetime.date]) -> int:
    """Return the median gap between ascending days if most gaps equal it, give or take one day; else 0."""
    gaps = [(later - earlier).days for earlier, later in pairwise(days)]
    if len(gaps) < _LEAST_GAPS:
        return 0
    usual = median_low(gaps)
    regular = len([gap for gap in gaps if abs(gap - usual) <= 1])
    return usual if regular >= _REGULAR * len(gaps) else 0


def recurring_phrases(asked: Hashes | None, days: IntArray, phrases: ShingleSets) -> Hashes:
    """Return those of the phrases asked for, ascending, that recur in articles of one newspaper; None: of all.

    `asked` is ascending. `days` are the articles' days as ordinal numbers, one for each set of `phrases`.
    """
    hashes, printed = phrases.values, np.repeat(days, phrases.sizes)
    if asked is not None:
        # Nearly all other phrases are dropped here, which is ten times faster than to sort them.
        mask = np.uint32((1 << _TABLE_BITS) - 1)
        wanted = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
        wanted[asked & mask] = True
        kept = wanted[hashes & mask]
        hashes, printed = hashes[kept], printed[kept]
    ordered = distinct(hashes.astype(np.uint64) << np.uint64(_DAY_BITS) | printed.astype(np.uint64))
    values, days_of = ordered >> np.uint64(_DAY_BITS), ordered & np.uint64((1 << _DAY_BITS) - 1)
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(values), 1), dtype=np.bool_), values[1:] != values[:-1]]))
    ends = np.append(starts[1:], len(values))[: len(starts)]
    recurs = (ends - starts >= RECURRING_DAYS) & (days_of[ends - 1] - days_of[starts] >= RECURRING_SPAN)
    found = values[starts[recurs]].astype(np.uint32)
    return found if asked is None else found[among(found, asked)]


def common_words(vocabularies: Iterable[Collection[str]]) -> frozenset[str]:
    """Return the words that are common among some articles of a newspaper, given the distinct words of each."""
    counts: Counter[str] = Counter()
    articles = 0
    for words in vocabularies:
        counts.update(words)
        articles += 1
    bound = max(COMMON_ARTICLES, COMMON_SHARE * articles)
    return frozenset(word for word, count in counts.items() if count > bound)

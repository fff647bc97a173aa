"""What a newspaper prints repeatedly: headlines of one form, and sentences of one form. Pure."""

from __future__ import annotations

import datetime
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median_low

from dedup.comparison.prepared import PreparedArticle

# How many days before and after an article its series is searched: a monthly column appears at least twice.
SERIES_DAYS = 60
# A form recurs if its newspaper prints it on this many days: a story and its follow-up make two.
RECURRING_DAYS = 3
# An article with this share of its sentences in another one is a copy, and does not count for recurrence.
_COPY = 0.9
# A series is regular if this share of its gaps is the usual one, give or take a day.
_REGULAR = 0.6
# Articles that a newspaper is assumed to have in addition to the known ones.
_SMOOTHING = 20
_LEAST_GAPS = 2  # fewer show no rhythm


@dataclass(frozen=True, slots=True, eq=False)
class RecurringText:
    """What recurs in a newspaper: the forms of its sentences, and its words.

    `weights`: the weight of each word, low if many articles have it; `unknown`: the weight of all other words.
    """

    forms: frozenset[int] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)
    unknown: float = 1.0


NO_RECURRING_TEXT = RecurringText()


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The series that an article may belong to.

    `days`: the number of other days within SERIES_DAYS on which its newspaper printed a headline of the same form.
    `gap`: the usual number of days between them if they are regular, else 0.
    `text`: what recurs in the texts of its newspaper, shared by all its articles.
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


def recurring_texts(articles: Iterable[PreparedArticle]) -> dict[int, RecurringText]:
    """Return what recurs in each newspaper: forms it printed on RECURRING_DAYS or more days, and its words.

    Computed from the prepared articles of a block. Those of proposed pairs are enough, because the articles of a series
    are proposed as pairs. Copies of an article count once: a reprinted text is not a template.
    """
    days: defaultdict[tuple[int, int], set[datetime.date]] = defaultdict(set)
    owners: dict[tuple[int, int], int] = {}
    words: defaultdict[int, Counter[str]] = defaultdict(Counter)
    counts: Counter[int] = Counter()
    for number, article in enumerate(articles):
        counts[article.newspaper] += 1
        words[article.newspaper].update(article.vocabulary)
        if _is_copy(article, owners):
            continue
        for form, key in zip(article.sentence_forms, article.sentence_keys, strict=True):
            owners[article.newspaper, key] = number
            if form:
                days[article.newspaper, form].add(article.date)
    forms: defaultdict[int, set[int]] = defaultdict(set)
    for (newspaper, form), printed in days.items():
        if len(printed) >= RECURRING_DAYS:
            forms[newspaper].add(form)
    return {
        newspaper: RecurringText(
            forms=frozenset(forms[newspaper]),
            weights={word: _weight(frequency, count) for word, frequency in words[newspaper].items()},
            unknown=_weight(1, count),
        )
        for newspaper, count in counts.items()
    }


def _is_copy(article: PreparedArticle, owners: Mapping[tuple[int, int], int]) -> bool:
    """Return whether one other article of its newspaper has nearly all sentences of an article."""
    found = Counter(owners.get((article.newspaper, key)) for key in article.sentence_keys)
    del found[None]
    return bool(found) and max(found.values()) >= _COPY * len(article.sentence_keys)


def _weight(frequency: int, articles: int) -> float:
    """Return the inverse document frequency (Spärck Jones, 1972), smoothed so that a few articles change little."""
    return math.log1p((articles + _SMOOTHING) / frequency)

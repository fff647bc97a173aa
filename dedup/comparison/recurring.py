"""What a newspaper prints again and again: headlines of one form, and sentences of one form. Pure."""

from __future__ import annotations

import datetime
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median_low

from dedup.comparison.prepared import PreparedArticle

# How far from an article its series is looked for, both ways: a monthly column is met at least twice.
SERIES_DAYS = 60
# A form is recurring when its newspaper prints it on this many days: a story and its follow-up are two.
RECURRING_DAYS = 3
# An article that has this share of the sentences of another one is a copy of it, and makes nothing recur.
_COPY = 0.9
# A series is regular when this share of its gaps is the usual one, give or take a day.
_REGULAR = 0.6
# Articles that a newspaper is taken to have besides those that are known.
_SMOOTHING = 20
_LEAST_GAPS = 2  # of fewer no rhythm can be told


@dataclass(frozen=True, slots=True, eq=False)
class RecurringText:
    """What recurs in a newspaper: the forms of its sentences, and its words.

    `weights`: what a word tells of an article, little where many articles have it; `unknown`: for any other word.
    """

    forms: frozenset[int] = frozenset()
    weights: Mapping[str, float] = field(default_factory=dict)
    unknown: float = 1.0


NO_RECURRING_TEXT = RecurringText()


@dataclass(frozen=True, slots=True)
class Recurrence:
    """What is known of the series an article may belong to.

    `days`: the other days within SERIES_DAYS on which its newspaper printed a headline of the same form.
    `gap`: the usual number of days between them if they are regular, else 0.
    `text`: what recurs in the texts of its newspaper; one serves all its articles.
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
        # Most headlines are printed once, and are forgotten here.
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
    """Return the median gap between ascending days if most gaps are that, give or take one day; else 0."""
    gaps = [(later - earlier).days for earlier, later in pairwise(days)]
    if len(gaps) < _LEAST_GAPS:
        return 0
    usual = median_low(gaps)
    regular = len([gap for gap in gaps if abs(gap - usual) <= 1])
    return usual if regular >= _REGULAR * len(gaps) else 0


def recurring_texts(articles: Iterable[PreparedArticle]) -> dict[int, RecurringText]:
    """Return what recurs in each newspaper: forms it printed on RECURRING_DAYS or more days, and its words.

    Made from the prepared articles of a block: those that some pass proposed are enough, for a series proposes itself.
    Copies of an article count once: a text that is printed again is no template.
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
    """Return whether nearly all sentences of an article stand in one other article of its newspaper."""
    found = Counter(owners.get((article.newspaper, key)) for key in article.sentence_keys)
    del found[None]
    return bool(found) and max(found.values()) >= _COPY * len(article.sentence_keys)


def _weight(frequency: int, articles: int) -> float:
    """Return the inverse document frequency (Spärck Jones, 1972), smoothed: few articles make little difference."""
    return math.log1p((articles + _SMOOTHING) / frequency)

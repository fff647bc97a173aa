"""What a newspaper prints repeatedly: headlines of one form, phrases, and words. Pure.

And how much of one article's phrases another one has, apart from those. A phrase is a masked word shingle
(kernels/masked_shingles.py): four words, with all numbers equal. It needs no capitals and no sentence ends, so it works
in every script.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median_low
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels.masked_shingles import Hashes, ShingleSets, words_in
from dedup.detection.kernels.tokens import Flags, IntArray, begins_in, distinct

# How many days before and after an article its series is searched: a monthly column appears at least twice.
SERIES_DAYS = 60
# A phrase recurs if its newspaper prints it on so many days, which span so many days: a story and the versions that
# follow it in the same week are not a form.
RECURRING_DAYS = 3
RECURRING_SPAN = 7
# With fewer articles, what a newspaper prints repeatedly is known in part. With fewer than LEAST_LEARNT, nothing is
# learnt at all: three prints of one story would look like a form.
LEAST_KNOWN = 30
LEAST_LEARNT = 5
# A series is regular if this share of its gaps is the usual one, give or take a day.
_REGULAR = 0.6
_LEAST_GAPS = 2  # fewer show no rhythm
# Bits of the table that finds the phrases asked for, and of what stands next to a phrase's hash.
_TABLE_BITS = 24
_PLACE_BITS = 31
_PLACES = np.uint64((1 << _PLACE_BITS) - 1)
_HASHES = 1 << 32
# So many phrases are sorted at a time, range by range of their hashes, to bound memory: they take some 100 MB.
_SORTED_AT_ONCE = 4_000_000
# Every phrase with an article that prints it: the hash, and in _PLACE_BITS bits the article's place; ascending.
Printings = npt.NDArray[np.uint64]
# What recurs in so many articles is remembered; an article takes about 2 kB.
_MOST_REMEMBERED = 4_000


@dataclass(frozen=True, slots=True, eq=False)
class RecurringText:
    """What recurs in a newspaper around a month: `phrases` (masked word shingles, ascending) and `common` words.

    `articles`: the number of articles that it is learnt from. `young`: whether articles of later months are among them.
    """

    phrases: Hashes = field(default_factory=lambda: np.empty(0, dtype=np.uint32))
    common: frozenset[str] = frozenset()
    articles: int = 0
    young: bool = False
    _recurs: dict[int, tuple[Hashes, Flags]] = field(default_factory=dict)

    def recurs(self, phrases: Hashes) -> Flags:
        """Return which phrases of an article recur. It is remembered, because an article is in many pairs."""
        known = self._recurs.get(id(phrases))
        if known is None:
            if len(self._recurs) >= _MOST_REMEMBERED:
                self._recurs.clear()
            # With the array, so that no other one has its id.
            known = self._recurs[id(phrases)] = phrases, among(phrases, self.phrases)
        return known[1]

    @property
    def known(self) -> bool:
        """Return whether the newspaper has enough articles to show what recurs."""
        return self.articles >= LEAST_KNOWN

    @classmethod
    def of_stored(cls, phrases: bytes, common: str, articles: int, young: bool) -> RecurringText:
        """Return what is stored as these columns."""
        return cls(np.frombuffer(phrases, dtype="<u4"), frozenset(common.split()), articles, young)

    def stored(self) -> dict[str, Any]:
        """Return it as columns of the same names; `common` has a blank between words."""
        phrases, common = self.phrases.astype("<u4").tobytes(), " ".join(sorted(self.common))
        return {"phrases": phrases, "common": common, "articles": self.articles, "young": self.young}


NO_RECURRING_TEXT = RecurringText()


def recurring_in(phrases: Hashes, texts: tuple[RecurringText, RecurringText]) -> Flags:
    """Return which phrases of an article recur in any of two newspapers."""
    one, other = texts
    return one.recurs(phrases) if one is other else one.recurs(phrases) | other.recurs(phrases)


class Coverage(NamedTuple):
    """Shares of phrases in 0..1. A fresh phrase does not recur in the two newspapers.

    Shares of contained phrases are smoothed (Laplace): with few phrases, they stay near a half, which says nothing.
    The other shares are 0 where there are no phrases.
    """

    contained_smoothed: float  # of the shorter article's phrases: those that the longer one has
    shared: int  # phrases that both have
    recurring_part: float  # of the shorter's: those that recur
    recurring_share: float  # of the shared ones: those that recur
    fresh_contained: float  # of the shorter's fresh ones: those that the longer one has


def coverage(shorter: Hashes, longer: Hashes, recurs: Flags) -> Coverage:
    """Return how much two ascending sets of phrases share, with and without those of the shorter one that recur."""
    shared = among(shorter, longer)
    both, recurring_both = int(np.count_nonzero(shared)), int(np.count_nonzero(shared & recurs))
    fresh_shared, fresh = both - recurring_both, len(shorter) - int(np.count_nonzero(recurs))
    return Coverage(
        contained_smoothed=_smoothed(both, len(shorter)),
        shared=both,
        recurring_part=1 - fresh / len(shorter) if len(shorter) else 0.0,
        recurring_share=recurring_both / both if both else 0.0,
        fresh_contained=_smoothed(fresh_shared, fresh),
    )


def among(some: Hashes, others: Hashes) -> Flags:
    """Return which members of an ascending set are in another one."""
    if not len(others):
        return np.zeros(len(some), dtype=np.bool_)
    # Behind the last one, the last one is looked at, which is smaller.
    return others.take(others.searchsorted(some), mode="clip") == some


def _smoothed(part: int, whole: int) -> float:
    return (part + 1) / (whole + 2)


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
        """Read rows of newspaper, day of publication and form (Preparer.headline_forms), in any order."""
        days: defaultdict[tuple[int, str], set[datetime.date]] = defaultdict(set)
        for newspaper, date, form in rows:
            if form:
                days[newspaper, form].add(date)
        # Most headlines are printed only once and are dropped here.
        self._days: Mapping[tuple[int, str], list[datetime.date]] = {
            key: sorted(found) for key, found in days.items() if len(found) > 1
        }
        self._known: dict[tuple[int, datetime.date, str], tuple[int, int]] = {}

    def recurrence_of(
        self, newspaper: int, date: datetime.date, form: str, text: RecurringText | None = None
    ) -> Recurrence:
        """Return the series of an article."""
        key = newspaper, date, form
        if key not in self._known:
            near = [day for day in self._days.get((newspaper, form), ()) if abs((day - date).days) <= SERIES_DAYS]
            self._known[key] = len(near) - (date in near), usual_gap(near)
        return Recurrence(*self._known[key], text or NO_RECURRING_TEXT)


def usual_gap(days: list[datetime.date]) -> int:
    """Return the median gap between ascending days if most gaps equal it, give or take one day; else 0."""
    gaps = [(later - earlier).days for earlier, later in pairwise(days)]
    if len(gaps) < _LEAST_GAPS:
        return 0
    usual = median_low(gaps)
    regular = len([gap for gap in gaps if abs(gap - usual) <= 1])
    return usual if regular >= _REGULAR * len(gaps) else 0


def printings(asked: Hashes | None, days: IntArray, phrases: ShingleSets) -> Printings:
    """Return which articles of one newspaper print those of the phrases asked for, or more, that recur in any of them.

    `asked` is ascending; None: all. `days` are the articles' days as ordinal numbers, ascending, one for each set of
    `phrases`. Most phrases are printed once, so this is a small part of them, from which recurring_between is quick.
    """
    hashes, places = phrases.values, np.repeat(np.arange(len(days), dtype=np.int32), phrases.sizes)
    if asked is not None:
        # Nearly all other phrases are dropped here, which is ten times faster than to sort them.
        mask = np.uint32((1 << _TABLE_BITS) - 1)
        wanted = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
        wanted[asked & mask] = True
        kept = wanted[hashes & mask]
        hashes, places = hashes[kept], places[kept]
    parts = 1 + len(hashes) // _SORTED_AT_ONCE
    found = [np.empty(0, dtype=np.uint64)]
    for part in range(parts):
        low, high = (_HASHES * bound // parts for bound in (part, part + 1))
        own: slice | Flags = slice(None) if parts == 1 else (hashes >= low) & (hashes <= high - 1)
        ordered = np.sort(hashes[own].astype(np.uint64) << np.uint64(_PLACE_BITS) | places[own].astype(np.uint64))
        ordered = ordered.compress(_often(ordered))
        begins, recurs = _recurring(ordered, days)
        found.append(ordered.compress(np.repeat(recurs, np.diff(np.append(begins, len(ordered))))))
    return np.concatenate(found)


def _often(printed: Printings) -> Flags:
    """Return which are of a phrase that is printed RECURRING_DAYS times at least: few are, and only those can recur."""
    hashes, others = printed >> np.uint64(_PLACE_BITS), RECURRING_DAYS - 1
    same = hashes[others:] == hashes[: max(len(hashes) - others, 0)]
    often = np.zeros(len(hashes), dtype=np.bool_)
    for step in range(RECURRING_DAYS if len(same) else 0):
        often[step : step + len(same)] |= same
    return often


def recurring_between(printed: Printings, days: IntArray, counted: Flags) -> Hashes:
    """Return the phrases, ascending, that recur in the articles that count, by their places; `days` as in printings."""
    kept = printed.compress(counted[printed & _PLACES])
    begins, recurs = _recurring(kept, days)
    return (kept[begins[recurs]] >> np.uint64(_PLACE_BITS)).astype(np.uint32)


def _recurring(printed: Printings, days: IntArray) -> tuple[IntArray, Flags]:
    """Return where each phrase begins, and whether it recurs."""
    begins = np.flatnonzero(begins_in(printed >> np.uint64(_PLACE_BITS)))
    on = days[printed & _PLACES]
    new = begins_in(on)
    new[begins] = True
    seen = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(new)])
    ends = np.append(begins[1:], len(on))[: len(begins)]
    return begins, (seen[ends] - seen[begins] >= RECURRING_DAYS) & (on[ends - 1] - on[begins] >= RECURRING_SPAN)


# A word is common if so many of a newspaper's articles have it, as a share and at least as a number.
COMMON_SHARE = 0.02
COMMON_ARTICLES = 2

_ALL = (1 << 64) - 1
_MIXER = np.uint64(0xD6E8FEB86659FD93)


def common_words(texts: Sequence[str]) -> frozenset[str]:
    """Return the words that are common among some articles of a newspaper, in whose texts blanks separate words.

    Words are counted by hashes, ten times faster than as strings: of 300 articles, by 55 bits. Two of 30,000 different
    words share these with a probability of 10^-8.
    """
    words = words_in(texts)
    for place in np.flatnonzero(words.numbers == 0).tolist():
        words.numbers[place] = hash(words.word(place)) & _ALL
    articles = np.repeat(np.arange(len(texts), dtype=np.uint64), np.diff(words.ends, prepend=0))
    bits = np.uint64(len(texts).bit_length())
    hashes = (words.numbers ^ words.numbers >> np.uint64(32)) * _MIXER >> bits
    found = distinct(hashes << bits | articles) >> bits
    begins = np.flatnonzero(begins_in(found))
    often = np.diff(np.append(begins, len(found))) > max(COMMON_ARTICLES, COMMON_SHARE * len(texts))
    return frozenset(map(words.word, _places(found[begins[often]], hashes)))


def is_rare(word: str, common: frozenset[str]) -> bool:
    """Return whether a word is not common. Common words are normalised: l'eau is common if its parts are."""
    return word not in common and ("'" not in word or not common.issuperset(word.split("'")))


def _places(wanted: npt.NDArray[np.uint64], hashes: npt.NDArray[np.uint64]) -> list[int]:
    """Return the place of a word with each of the wanted hashes, ascending."""
    if not len(wanted):
        return []
    known = np.minimum(np.searchsorted(wanted, hashes), len(wanted) - 1)
    same = np.flatnonzero(wanted[known] == hashes)
    places = np.empty(len(wanted), dtype=np.int64)
    places[known[same]] = same
    return places.tolist()

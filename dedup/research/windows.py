"""All pairs of articles that are at most so many days apart, by number, without listing them. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple


class Place(NamedTuple):
    """An article by its day, as an ordinal, and its position among the articles of that day, from 0."""

    day: int
    offset: int


class PairsOfDays:
    """The pairs of articles at most `window` days apart, numbered from 0 to `total` - 1.

    `counts` has the days that have articles, as ordinals in order, with their numbers of articles. An article of a day
    is paired with all that come after it, up to the end of the window.
    """

    def __init__(self, counts: Sequence[tuple[int, int]], window: int) -> None:
        self._days = [day for day, _ in counts]
        # The articles in order of day: where those of each day start, and where the window of each day ends.
        self._starts = [0, *accumulate(count for _, count in counts)]
        self._ends = [self._starts[bisect_right(self._days, day + window)] for day in self._days]
        sizes = (self._before(day, self._starts[day + 1] - self._starts[day]) for day in range(len(counts)))
        self._numbers = [0, *accumulate(sizes)]

    @property
    def total(self) -> int:
        """The number of pairs."""
        return self._numbers[-1]

    def pair(self, number: int) -> tuple[Place, Place]:
        """Return the two articles of a pair, the earlier one first."""
        day = bisect_right(self._numbers, number) - 1
        left = number - self._numbers[day]
        count = self._starts[day + 1] - self._starts[day]
        offset = bisect_right(range(count), left, key=lambda articles: self._before(day, articles)) - 1
        first = self._starts[day] + offset
        second = first + 1 + left - self._before(day, offset)
        return Place(self._days[day], offset), self._place(second)

    def _before(self, day: int, articles: int) -> int:
        """Return how many pairs begin with the first articles of a day, so many of them."""
        reach = self._ends[day] - 1 - self._starts[day]  # the partners of its first article
        return articles * reach - articles * (articles - 1) // 2

    def _place(self, position: int) -> Place:
        day = bisect_right(self._starts, position) - 1
        return Place(self._days[day], position - self._starts[day])

"""Which pairs a random sample draws: its strata with their names, and the pairs of near days by number. Pure."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

NOT_PROPOSED = "not proposed"


@dataclass(frozen=True, slots=True)
class Stratum:
    """A stratum as it was drawn: `pairs` in the archive, how many were `asked` for, and how many were `drawn`."""

    name: str
    pairs: int
    asked: int
    drawn: int

    @property
    def weight(self) -> float:
        """How many pairs of the archive each drawn one represents."""
        return self.pairs / self.drawn


def name_of(cell: str, bands: Sequence[float], near_days: int, pass_name: str) -> str:
    """Return the name of a stratum in words, by what its pairs share: "0.80-0.90 / duplicate / 0-3 days".

    `bands` are the lower bounds of the bands of scores, rising, without that of the lowest. A cell is the position of
    the score's band from below, -1 for a pair without a score of the chosen pass; the verdict; 1 for the same
    newspaper; and 1 for near days. "-" is a part that this sample does not use.
    """
    band, verdict, same_newspaper, near = cell.split("|")
    parts = []
    if band == "-1":
        parts.append(f"no score of {pass_name}")
    elif band != "-":
        edges = ["0.00", *(f"{bound:.2f}" for bound in bands), "1.00"]
        of_pass = f"{pass_name} " if pass_name else ""
        parts.append(f"{of_pass}{edges[int(band)]}-{edges[int(band) + 1]}")
    if verdict != "-":
        parts.append(verdict or "not compared")
    if same_newspaper != "-":
        parts.append("same newspaper" if same_newspaper == "1" else "two newspapers")
    if near != "-":
        parts.append(f"0-{near_days} days" if near == "1" else f"{near_days + 1}+ days")
    return " / ".join(parts) or "all proposed pairs"


def shared_out(total: int, sizes: Sequence[int]) -> list[int]:
    """Return how many to draw from strata of these sizes: `total` in all, as evenly as their sizes allow.

    A stratum that is smaller than its share is drawn whole, and the others share the rest; what cannot be divided goes
    to the largest ones. If all have fewer than `total` together, each is drawn whole.
    """
    shares = [0] * len(sizes)
    left = min(total, sum(sizes))
    while left:
        open_ones = [place for place, size in enumerate(sizes) if shares[place] < size]
        open_ones.sort(key=lambda place: -sizes[place])
        a_stratum = left // len(open_ones)
        for place in open_ones if a_stratum else open_ones[:left]:
            more = min(max(a_stratum, 1), sizes[place] - shares[place])
            shares[place] += more
            left -= more
    return shares


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
        day_of_second = bisect_right(self._starts, second) - 1
        place = Place(self._days[day_of_second], second - self._starts[day_of_second])
        return Place(self._days[day], offset), place

    def _before(self, day: int, articles: int) -> int:
        """Return how many pairs begin with the first articles of a day, so many of them."""
        reach = self._ends[day] - 1 - self._starts[day]  # the partners of its first article
        return articles * reach - articles * (articles - 1) // 2

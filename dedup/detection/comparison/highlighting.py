"""Marks stretches of a text, also in the segments of a difference: boilerplate, and what a pass found. Pure."""

from __future__ import annotations

import datetime
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from articles.boilerplate.mode import Mode

# Each mark begins with its start and its end in the text; marks of one kind are in order and do not overlap.
Marks = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text; `boilerplate`, `found`: whether it has such a mark."""

    text: str
    boilerplate: bool = False
    found: bool = False


class MarkedText(NamedTuple):
    """A content, its boilerplate, and what a pass found in it; its day, and what the comparison leaves out of it."""

    content: str
    boilerplate: Marks = ()
    found: Marks = ()
    date: datetime.date = datetime.date.min
    mode: Mode = Mode.KEEP


def passages(text: MarkedText) -> Iterator[Passage]:
    """Yield the stretches of a content in order: a new one begins where a mark begins or ends."""
    kinds = text.boilerplate, text.found
    bounds = {0, len(text.content), *(bound for marks in kinds for mark in marks for bound in mark[:2])}
    ordered = sorted(bound for bound in bounds if bound <= len(text.content))
    inside = [_inside(marks, ordered) for marks in kinds]
    for place, (start, end) in enumerate(pairwise(ordered)):
        yield Passage(text.content[start:end], *(marked[place] for marked in inside))


class Cutter:
    """Cuts stretches of a content at its marks."""

    def __init__(self, text: MarkedText) -> None:
        self._passages = list(passages(text))
        self._starts: list[int] = []
        place = 0
        for passage in self._passages:
            self._starts.append(place)
            place += len(passage.text)

    def cut(self, start: int, end: int) -> Iterator[Passage]:
        """Yield the marked and unmarked parts of content[start:end]."""
        place = bisect_right(self._starts, start) - 1
        while start < end:
            passage, begin = self._passages[place], self._starts[place]
            text = passage.text[start - begin : end - begin]
            yield Passage(text, passage.boilerplate, passage.found)
            start += len(text)
            place += 1


def _inside(marks: Marks, bounds: Sequence[int]) -> list[bool]:
    """Return for each bound whether a mark covers the text after it."""
    covered: list[bool] = []
    following = iter(marks)
    mark = next(following, None)
    for bound in bounds:
        while mark is not None and mark[1] <= bound:
            mark = next(following, None)
        covered.append(mark is not None and mark[0] <= bound)
    return covered

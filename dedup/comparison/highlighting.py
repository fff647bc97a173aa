"""Marks stretches of a text, also in the segments of a difference: boilerplate, and what a pass found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from dedup.comparison.differences import Differences, Segment, TextBlock

# Each mark begins with its start and its end in the text; marks of one kind are in order and do not overlap.
Marks = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text; `boilerplate`, `found`: whether it has such a mark."""

    text: str
    boilerplate: bool = False
    found: bool = False


class MarkedText(NamedTuple):
    """A content, its boilerplate, and what a pass found in it."""

    content: str
    boilerplate: Marks
    found: Marks = ()


def passages(text: MarkedText) -> Iterator[Passage]:
    """Yield the stretches of a content in order: a new one begins where a mark begins or ends."""
    content, *kinds = text
    bounds = {0, len(content), *(bound for marks in kinds for mark in marks for bound in mark[:2])}
    ordered = sorted(bound for bound in bounds if bound <= len(content))
    inside = [_inside(marks, ordered) for marks in kinds]
    for place, (start, end) in enumerate(pairwise(ordered)):
        yield Passage(content[start:end], *(each[place] for each in inside))


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


def highlight(text: Differences, left: MarkedText, right: MarkedText) -> Differences:
    """Return the differences of two contents with what is marked in them as separate segments."""
    sides = _Side(left), _Side(right)
    return replace(text, blocks=tuple(_block(block, *sides) for block in text.blocks))


class _Side:
    """One side's content, read from its start segment by segment."""

    def __init__(self, text: MarkedText) -> None:
        self._text = text
        self._place = 0

    def cut(self, segment: Segment) -> Iterator[Segment]:
        """Yield a segment, cut at its marks."""
        content, *kinds = self._text
        start = content.find(segment.text, self._place)
        # Some blanks between segments have been dropped.
        if start < 0 or content[self._place : start].strip():
            yield segment
            return
        self._place = start + len(segment.text)
        inside = [_within(marks, start, self._place) for marks in kinds]
        for each in passages(MarkedText(segment.text, *inside)):
            yield replace(segment, text=each.text, boilerplate=each.boilerplate, found=each.found)


def _within(marks: Marks, start: int, end: int) -> list[tuple[int, int]]:
    return [
        (max(mark[0], start) - start, min(mark[1], end) - start) for mark in marks if mark[0] < end and mark[1] > start
    ]


def _block(block: TextBlock, left: _Side, right: _Side) -> TextBlock:
    lefts = [tuple(left.cut(segment)) for segment in block.left]
    rights = [tuple(right.cut(segment)) for segment in block.right]
    return replace(
        block,
        left=tuple(piece for pieces in lefts for piece in pieces),
        right=tuple(piece for pieces in rights for piece in pieces),
    )

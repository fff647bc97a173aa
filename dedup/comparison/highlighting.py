"""Marks the boilerplate in a text, also in the segments of a difference. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dedup.comparison.differences import Differences, Segment, TextBlock

Marks = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text; `boilerplate`: whether it is marked."""

    text: str
    boilerplate: bool = False


def passages(content: str, marks: Marks) -> Iterator[Passage]:
    """Yield the stretches of a content in order, the marked ones and those between."""
    place = 0
    for start, end, *_ in marks:
        if place < start:
            yield Passage(content[place:start])
        yield Passage(content[start:end], boilerplate=True)
        place = end
    if place < len(content):
        yield Passage(content[place:])


def highlight_boilerplate(text: Differences, left: tuple[str, Marks], right: tuple[str, Marks]) -> Differences:
    """Return the differences of two contents with their marked boilerplate as separate segments."""
    sides = _Side(*left), _Side(*right)
    return replace(text, blocks=tuple(_block(block, *sides) for block in text.blocks))


class _Side:
    """One side's content, read from its start segment by segment."""

    def __init__(self, content: str, marks: Marks) -> None:
        self._content = content
        self._marks = marks
        self._place = 0

    def cut(self, segment: Segment) -> Iterator[Segment]:
        """Yield a segment, cut at its marks."""
        start = self._content.find(segment.text, self._place)
        # Some blanks between segments have been dropped.
        if start < 0 or self._content[self._place : start].strip():
            yield segment
            return
        self._place = start + len(segment.text)
        inside = [
            (max(mark[0] - start, 0), min(mark[1] - start, len(segment.text)), 0)
            for mark in self._marks
            if mark[0] < self._place and mark[1] > start
        ]
        for each in passages(segment.text, inside):
            yield replace(segment, text=each.text, boilerplate=each.boilerplate)


def _block(block: TextBlock, left: _Side, right: _Side) -> TextBlock:
    lefts = [tuple(left.cut(segment)) for segment in block.left]
    rights = [tuple(right.cut(segment)) for segment in block.right]
    return replace(
        block,
        left=tuple(piece for pieces in lefts for piece in pieces),
        right=tuple(piece for pieces in rights for piece in pieces),
    )

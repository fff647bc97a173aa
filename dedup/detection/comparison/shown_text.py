"""A text as it is shown: with the places of the words that are compared in it, and with stretches marked. Pure.

Marked are boilerplate and what a pass found, also in the segments of a difference.
"""

from __future__ import annotations

import datetime
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

import numpy as np

from articles.boilerplate.mode import Mode
from dedup.detection.comparison.located import compared_text, typographic
from dedup.detection.comparison.prepared import MAX_CHARACTERS, ArticleText, Preparer, Span

_QUOTES_AND_DASHES = str.maketrans("‘’‚“”„«»‐‑–—", '\'\'\'"""""----')
_NO_HASHES = np.empty(0, dtype="<u4")

# Each mark begins with its start and its end in the text; marks of one kind are in order and do not overlap.
Marks = Sequence[Sequence[int]]


SegmentKind = Literal["same", "deleted", "inserted", "moved"]


class Moved(NamedTuple):
    """One end of a passage that both texts have in different places; `first`: it is shown before the other end."""

    number: int
    left: bool
    first: bool


class Segment(NamedTuple):
    """A stretch of text: in both, in the left one only ("deleted"), or in the right one only ("inserted").

    `minor`: only spelling, case or punctuation differ, and its words count as shared. `moved`: it is of a passage that
    is elsewhere in the other text; the empty segment of the kind "moved" at the passage's beginning says where.
    `boilerplate`, `found`: it has such a mark.
    """

    kind: SegmentKind
    text: str
    minor: bool = False
    moved: Moved | None = None
    boilerplate: bool = False
    found: bool = False

    def continues(self, other: Segment) -> bool:
        """Whether it differs from another segment in nothing but the text."""
        return self._replace(text=other.text) == other


class MarkedText(NamedTuple):
    """A content, its boilerplate, and what a pass found in it; its day, and what the comparison leaves out of it."""

    content: str
    boilerplate: Marks = ()
    found: Marks = ()
    date: datetime.date = datetime.date.min
    mode: Mode = Mode.KEEP


def passages(text: MarkedText) -> Iterator[Segment]:
    """Yield the stretches of a content in order: a new one begins where a mark begins or ends."""
    kinds = text.boilerplate, text.found
    bounds = {0, len(text.content), *(bound for marks in kinds for mark in marks for bound in mark[:2])}
    ordered = sorted(bound for bound in bounds if bound <= len(text.content))
    inside = [_inside(marks, ordered) for marks in kinds]
    for place, (start, end) in enumerate(pairwise(ordered)):
        boilerplate, found = (marked[place] for marked in inside)
        yield Segment("same", text.content[start:end], boilerplate=boilerplate, found=found)


def _inside(marks: Marks, bounds: Sequence[int]) -> list[bool]:
    """Return for each bound whether a mark covers the text after it."""
    starts = [mark[0] for mark in marks]
    begun = [bisect_right(starts, bound) for bound in bounds]
    return [count > 0 and bound < marks[count - 1][1] for count, bound in zip(begun, bounds, strict=True)]


class ShownText:
    """A content, and its words as the full comparison has them.

    Each word includes what surrounds it, so that all words together are the whole text: what comes after it up
    to the last blank, and what comes before it without a blank, such as a quotation mark. `rest`: the end that is too
    long to be compared.
    """

    def __init__(self, text: MarkedText, preparer: Preparer) -> None:
        compared = compared_text(text.content, text.boilerplate, text.mode)
        self.end = compared.starts[MAX_CHARACTERS] if len(compared.text) > MAX_CHARACTERS else len(text.content)
        self.rest = text.content[self.end :]
        compared = compared.head(MAX_CHARACTERS)
        self.prepared = preparer.prepare(ArticleText(0, text.date, "", compared.text, masked=_NO_HASHES))
        self._text, self._places = typographic(compared)
        self._reading = self._text.translate(_QUOTES_AND_DASHES)
        self._passages = list(passages(text))
        self._passage_starts = [0, *accumulate(len(passage.text) for passage in self._passages)]
        # Where each word begins and ends, and where what belongs to it begins.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._bounds: list[int] = [0]
        self._line_ends: set[int] = set()
        self._place_words()

    def _place_words(self) -> None:
        text, end = self._text, 0
        for at, word in enumerate(self.prepared.shown):
            # Between two words there is nothing that could begin a word.
            start = text.index(word, end)
            if at:
                gap = text[end:start]
                self._bounds.append(start if gap == " " else start - _before(gap))
                if "\n" in gap:
                    self._line_ends.add(at - 1)
            self._starts.append(start)
            end = start + len(word)
            self._ends.append(end)
        self._bounds.append(len(text))

    def ends_line(self, word: int) -> bool:
        """Whether a word is the last one of a line, or of the text."""
        return word in self._line_ends or word == len(self._starts) - 1

    def sentences_in(self, start: int, end: int) -> Sequence[int]:
        """Return where sentences end in words start:end, counted from their beginning."""
        starts = self.prepared.starts
        return [place - start for place in starts[bisect_right(starts, start) : bisect_right(starts, end)]]

    def parts(self, start: int, end: int) -> tuple[Span, Span, Span]:
        """Return where words start:end are, between what is before the first and after the last of them."""
        first, last = self._bounds[start], self._bounds[end]
        begin, stop = self._starts[start], self._ends[end - 1]
        return (first, begin), (begin, stop), (stop, last)

    def read(self, start: int, end: int) -> str:
        """Return words start:end as they read, apart from blanks, line ends and the form of quotation marks."""
        return self.reading(self._bounds[start], self._bounds[end])

    def reading(self, start: int, end: int) -> str:
        """Return the same of a part of the text."""
        return " ".join(self._reading[start:end].split())

    def span(self, start: int, end: int) -> Span:
        """Return the stretch of the content with words start:end."""
        return self.content_span(self._bounds[start], self._bounds[end])

    def content_span(self, start: int, end: int) -> Span:
        """Return the stretch of the content that a part of the text is made from."""
        return self._place(start), self._place(end)

    def _place(self, at: int) -> int:
        if not at:
            return 0
        return self._places[at] if at < len(self._places) else self.end

    def cut(self, start: int, end: int) -> Iterator[Segment]:
        """Yield a stretch of the content, cut at its marks."""
        place = bisect_right(self._passage_starts, start) - 1
        while start < end:
            passage, begin = self._passages[place], self._passage_starts[place]
            text = passage.text[start - begin : end - begin]
            yield passage._replace(text=text)
            start += len(text)
            place += 1


def _before(gap: str) -> int:
    """Return how many characters of what is between two words belong to the second one."""
    if not gap or gap[-1].isspace():
        return 0
    last = len(gap.rsplit(maxsplit=1)[-1])
    return last if last < len(gap) else 0

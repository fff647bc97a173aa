"""The differences between two texts, word by word. Pure: from two strings to segments for display."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dedup.comparison.word_alignment import Stretch, align, comparisons
from dedup.comparison.words import Texts, words_of

# The alignment takes time proportional to words x words: 0.1 s at this bound, on one slow core.
MAX_COMPARISONS = 1_000_000_000
# Equal stretches of at least this many words can be folded.
FOLD_FROM_WORDS = 40
_BARE_BLANKS = re.compile(r"(\s*\n\s*|\s+\Z)")

SegmentKind = Literal["same", "deleted", "inserted"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text: in both, in the left one only ("deleted"), or in the right one only ("inserted")."""

    kind: SegmentKind
    text: str
    # See dedup/comparison/highlighting.py.
    boilerplate: bool = False
    found: bool = False


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Lines of the two texts to show side by side. `folds`: they are all equal, and long enough to fold."""

    left: tuple[Segment, ...]
    right: tuple[Segment, ...]
    merged: tuple[Segment, ...]
    words: int
    folds: bool = False

    @property
    def changed(self) -> bool:
        """Whether the block has a difference."""
        return any(segment.kind != "same" for segment in self.merged)


@dataclass(frozen=True, slots=True)
class Differences:
    """The blocks of two texts in order, and the numbers of equal, deleted and inserted words.

    `too_long`: the texts exceed the bound and are one block without marks; no word counts as equal.
    """

    blocks: tuple[TextBlock, ...]
    same: int = 0
    deleted: int = 0
    inserted: int = 0
    too_long: bool = False

    @property
    def folds(self) -> bool:
        """Whether there is something to fold."""
        return any(block.folds for block in self.blocks)

    @property
    def equal(self) -> bool:
        """Whether no word differs."""
        return not (self.too_long or self.deleted or self.inserted)


def compare_texts(left: str, right: str) -> Differences:
    """Return the differences between two texts, in well under half a second for any length."""
    texts = Texts(words_of(left), words_of(right))
    if comparisons(texts) > MAX_COMPARISONS:
        plain = _plain(left, right)
        return Differences((plain,), deleted=len(texts.left.keys), inserted=len(texts.right.keys), too_long=True)
    stretches = align(texts)
    return Differences(
        blocks=tuple(_blocks(texts, stretches)),
        same=sum(each.left_words for each in stretches if each.same),
        deleted=sum(each.left_words for each in stretches if not each.same),
        inserted=sum(each.right_words for each in stretches if not each.same),
    )


@dataclass(slots=True)
class _Open:
    """The block under construction."""

    left: list[Segment] = field(default_factory=list)
    right: list[Segment] = field(default_factory=list)
    merged: list[Segment] = field(default_factory=list)
    words: int = 0

    def add(self, texts: Texts, stretch: Stretch) -> None:
        left = "".join(texts.left.shown[stretch.left_start : stretch.left_end])
        right = "".join(texts.right.shown[stretch.right_start : stretch.right_end])
        if stretch.same:
            self.left.append(Segment("same", left))
            self.right.append(Segment("same", right))
            self.merged.append(Segment("same", left if left[-1:].isspace() else right))
        else:
            deleted, inserted = list(_marked("deleted", left)), list(_marked("inserted", right))
            self.left += deleted
            self.right += inserted
            self.merged += deleted + inserted
        self.words += max(stretch.left_words, stretch.right_words)

    def close(self, *, folds: bool = False) -> Iterator[TextBlock]:
        if self.words:
            left, right = _without_last_blanks(self.left), _without_last_blanks(self.right)
            yield TextBlock(left, right, _without_last_blanks(self.merged), self.words, folds)
        self.left, self.right, self.merged, self.words = [], [], [], 0


def _without_last_blanks(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Drop the blanks and line ends at a block's end: each block begins on a new line anyway."""
    trimmed = list(segments)
    while trimmed and not trimmed[-1].text.strip():
        trimmed.pop()
    if trimmed:
        trimmed[-1] = Segment(trimmed[-1].kind, trimmed[-1].text.rstrip())
    return tuple(trimmed)


def _marked(kind: SegmentKind, text: str) -> Iterator[Segment]:
    """Mark the words, but not line ends or blanks at the end, which would show as empty strips of colour."""
    for part in _BARE_BLANKS.split(text):
        if part:
            yield Segment("same" if part.isspace() else kind, part)


def _blocks(texts: Texts, stretches: Sequence[Stretch]) -> Iterator[TextBlock]:
    current = _Open()
    for position, stretch in enumerate(stretches):
        first, last = position == 0, position == len(stretches) - 1
        for piece, folds in _pieces(texts, stretch, first=first, last=last):
            if folds:
                yield from current.close()
            current.add(texts, piece)
            if folds or _ends_paragraph(texts, piece):
                yield from current.close(folds=folds)
    yield from current.close()


def _pieces(texts: Texts, stretch: Stretch, *, first: bool, last: bool) -> Iterator[tuple[Stretch, bool]]:
    """Cut an equal stretch into its paragraphs and, if it is long, a middle of whole sentences that folds."""
    if not stretch.same:
        yield stretch, False
        return
    ends = [at + 1 for at in range(stretch.left_words) if texts.left.ends_sentence(stretch.left_start + at)]
    start = 0 if first else next(iter(ends), stretch.left_words)
    end = stretch.left_words if last else next(reversed(ends), 0)
    if end - start < FOLD_FROM_WORDS:
        start = end = stretch.left_words
    yield from ((piece, False) for piece in _paragraphs(texts, stretch.part(0, start)))
    if start < end:
        yield stretch.part(start, end), True
    yield from ((piece, False) for piece in _paragraphs(texts, stretch.part(end, stretch.left_words)))


def _paragraphs(texts: Texts, stretch: Stretch) -> Iterator[Stretch]:
    """Cut an equal stretch wherever both texts begin a new line."""
    begun = 0
    for at in range(1, stretch.left_words):
        left, right = stretch.left_start + at - 1, stretch.right_start + at - 1
        if texts.left.ends_paragraph(left) and texts.right.ends_paragraph(right):
            yield stretch.part(begun, at)
            begun = at
    if begun < stretch.left_words:
        yield stretch.part(begun, stretch.left_words)


def _ends_paragraph(texts: Texts, stretch: Stretch) -> bool:
    """Whether both texts begin a new line after this stretch; a side without words here does not count."""
    sides = (
        (texts.left, stretch.left_start, stretch.left_end),
        (texts.right, stretch.right_start, stretch.right_end),
    )
    return all(side.ends_paragraph(end - 1) for side, start, end in sides if end > start)


def _plain(left: str, right: str) -> TextBlock:
    sides = Segment("deleted", left), Segment("inserted", right)
    return TextBlock((Segment("same", left),), (Segment("same", right),), sides, max(len(left), len(right)))

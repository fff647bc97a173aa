"""The differences between two texts, word by word. Pure: from two contents to segments for display.

The words that count as shared are those of the full comparison (alignment.py): upper and lower case, punctuation and
typography do not count, and near-equal words do. What does not count is marked as well, as `minor`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from dedup.detection.comparison.alignment import MAX_COMPARISONS, comparisons
from dedup.detection.comparison.prepared import MAX_CHARACTERS, Preparer, Span
from dedup.detection.comparison.shown_text import MarkedText, Moved, Segment, SegmentKind, ShownText
from dedup.detection.comparison.stretches import Stretch, align, align_headlines

# Equal stretches of at least this many words can be folded, and so can sentences that only one text has.
FOLD_FROM_WORDS = 40
FOLD_ONE_SIDED_FROM_WORDS = 60
# Where both have other sentences instead, an editor reads them side by side, unless they are longer than this.
FOLD_REPLACED_FROM_WORDS = 150
_BARE_BLANKS = re.compile(r"(\s*\n\s*|\s+\Z)")


@dataclass(slots=True)
class TextBlock:
    """Lines of the two texts to show side by side, and how many words each has in them.

    `shared`: how many of them are in both. `folds`: they are all equal, or in one text only, and long enough to fold.
    """

    left: list[Segment] = field(default_factory=list)
    right: list[Segment] = field(default_factory=list)
    merged: list[Segment] = field(default_factory=list)
    left_words: int = 0
    right_words: int = 0
    shared: int = 0
    folds: bool = False

    def add(self, left: Iterable[Segment], right: Iterable[Segment], merged: Iterable[Segment]) -> None:
        """Add what follows in either text, and in both as one."""
        # Where both are one text, boilerplate of one of them is none of the other.
        bare = (segment._replace(boilerplate=False, found=False) for segment in merged)
        for segments, more in ((self.left, left), (self.right, right), (self.merged, bare)):
            for segment in more:
                if segments and segment.continues(segments[-1]):
                    segments[-1] = segment._replace(text=segments[-1].text + segment.text)
                else:
                    segments.append(segment)

    def count(self, stretch: Stretch) -> None:
        """Count the words of a stretch that is added."""
        self.left_words += stretch.left_words
        self.right_words += stretch.right_words
        if stretch.kind != "different":
            self.shared += max(stretch.left_words, stretch.right_words)

    @property
    def changed(self) -> bool:
        """Whether anything in the block is marked."""
        return any(segment.kind != "same" for segment in self.merged)

    @property
    def differs(self) -> bool:
        """Whether the block has words that are in one text only."""
        return any(segment.kind in ("deleted", "inserted") and not segment.minor for segment in self.merged)

    @property
    def beginning(self) -> str:
        """How a block that folds begins."""
        return "".join(segment.text for segment in self.merged[:4])[:200].strip()


@dataclass(frozen=True, slots=True)
class Differences:
    """The blocks of two texts in order, and the numbers of words that both have, and that only one of them has.

    Of the words in both, `respelt` are near-equal, and `moved` are elsewhere in the other text. `rest` are the ends of
    the two contents that no comparison reads. `too_long`: there are too many alike sentences to compare; the texts are
    one block without marks, and no word counts as shared.
    """

    blocks: tuple[TextBlock, ...]
    same: int = 0
    deleted: int = 0
    inserted: int = 0
    respelt: int = 0
    moved: int = 0
    rest: tuple[str, str] = ("", "")
    too_long: bool = False

    @property
    def left_words(self) -> int:
        """The length of the left text as it is compared."""
        return self.same + self.deleted

    @property
    def right_words(self) -> int:
        """The length of the right text as it is compared."""
        return self.same + self.inserted

    @property
    def folds(self) -> bool:
        """Whether there is something to fold."""
        return any(block.folds for block in self.blocks)

    @property
    def has_minor(self) -> bool:
        """Whether there are differences of spelling, case or punctuation."""
        return any(segment.minor for block in self.blocks for segment in block.merged)

    @property
    def equal(self) -> bool:
        """Whether no word differs."""
        return not (self.too_long or self.deleted or self.inserted or self.respelt or self.moved or any(self.rest))

    @property
    def identical(self) -> bool:
        """Whether nothing at all is marked."""
        return self.equal and not self.has_minor

    @property
    def first_change(self) -> int | None:
        """The position of the first block with words that are in one text only."""
        return next((place for place, block in enumerate(self.blocks) if block.differs), None)

    @property
    def first_shared(self) -> int | None:
        """The position of the first block with words that both have."""
        return next((place for place, block in enumerate(self.blocks) if block.shared), None)


def compare_texts(left: MarkedText, right: MarkedText) -> Differences:
    """Return the differences between two texts, in well under a second for any length."""
    preparer = Preparer()
    texts = ShownText(left, preparer), ShownText(right, preparer)
    # A few characters stand for several words each.
    many = max(len(text.prepared.words) for text in texts) > MAX_CHARACTERS
    if many or comparisons(texts[0].prepared, texts[1].prepared) > MAX_COMPARISONS:
        deleted, inserted = (len(text.prepared.words) for text in texts)
        sides = [list(text.cut(0, text.end)) for text in texts]
        block = TextBlock(sides[0], sides[1], sides[0] + sides[1], deleted, inserted)
        rest = texts[0].rest, texts[1].rest
        return Differences((block,), deleted=deleted, inserted=inserted, rest=rest, too_long=True)
    return _differences(texts, align(texts[0].prepared, texts[1].prepared))


def compare_headlines(left: str, right: str) -> Differences:
    """Return the differences between two headlines."""
    preparer = Preparer()
    texts = ShownText(MarkedText(left), preparer), ShownText(MarkedText(right), preparer)
    return _differences(texts, align_headlines(texts[0].prepared, texts[1].prepared))


def _differences(texts: tuple[ShownText, ShownText], stretches: Sequence[Stretch]) -> Differences:
    shared = [stretch for stretch in stretches if stretch.kind != "different"]
    same = sum(stretch.left_words for stretch in shared)
    left, right = (len(text.prepared.words) for text in texts)
    return Differences(
        blocks=tuple(_Blocks(texts, fold_same=2 * same >= max(left, right), fold_others=same > 0).of(stretches)),
        same=same,
        deleted=left - same,
        inserted=right - same,
        respelt=sum(stretch.left_words for stretch in shared if stretch.kind == "respelt"),
        moved=sum(stretch.left_words for stretch in shared if stretch.moved),
        rest=(texts[0].rest, texts[1].rest),
    )


class _Blocks:
    """Divides the stretches of two texts into blocks."""

    def __init__(self, texts: tuple[ShownText, ShownText], *, fold_same: bool, fold_others: bool) -> None:
        self._texts = texts
        self._fold_same, self._fold_others = fold_same, fold_others
        self._open = TextBlock()
        self._ends: dict[tuple[int, bool], Moved] = {}  # by the number of the passage, and the side

    def of(self, stretches: Sequence[Stretch]) -> Iterator[TextBlock]:
        for side, text in enumerate(self._texts):
            if not text.prepared.words and text.end:
                self._add_range("deleted" if side == 0 else "inserted", side, (0, text.end), minor=True)
        joined = self._joined(stretches)
        for position, stretch in enumerate(joined):
            first, last = position == 0, position == len(joined) - 1
            for piece, folds in self._pieces(stretch, first=first, last=last):
                if folds:
                    yield from self._close()
                self._add(piece)
                # Where both texts begin a new line; a side without words here does not count.
                sides = zip(self._texts, (piece.left, piece.right), strict=True)
                if folds or all(text.ends_line(end - 1) for text, (start, end) in sides if start < end):
                    yield from self._close(folds=folds)
        yield from self._close()

    def _close(self, *, folds: bool = False) -> Iterator[TextBlock]:
        done, self._open = self._open, TextBlock()
        if done.merged:
            done.folds = folds
            yield done

    def _joined(self, stretches: Sequence[Stretch]) -> list[Stretch]:
        """Return the stretches with neighbouring ones that read the same in both texts as one."""
        found: list[Stretch] = []
        plain = False
        for stretch in stretches:
            is_plain = stretch.kind == "same" and not stretch.moved and self._reads_the_same(stretch)
            if plain and is_plain:
                found[-1] = found[-1].extended(stretch)
            else:
                found.append(stretch)
            plain = is_plain
        return found

    def _reads_the_same(self, stretch: Stretch) -> bool:
        left, right = self._texts
        return left.read(*stretch.left) == right.read(*stretch.right)

    def _pieces(self, stretch: Stretch, *, first: bool, last: bool) -> Iterator[tuple[Stretch, bool]]:
        """Cut an equal stretch into its paragraphs and, if it is long, a middle of whole sentences that folds."""
        if stretch.kind != "same":
            replaced = stretch.left_words and stretch.right_words
            least = FOLD_REPLACED_FROM_WORDS if replaced else FOLD_ONE_SIDED_FROM_WORDS
            is_long = max(stretch.left_words, stretch.right_words) >= least
            yield stretch, stretch.whole and self._fold_others and is_long
            return
        if stretch.moved or not self._reads_the_same(stretch):
            yield stretch, False
            return
        starts = self._texts[0].sentences_in(*stretch.left)
        start = 0 if first else next(iter(starts), stretch.left_words)
        end = stretch.left_words if last else next(reversed(starts), 0)
        if not self._fold_same or end - start < FOLD_FROM_WORDS:
            start = end = stretch.left_words
        yield from ((piece, False) for piece in self._paragraphs(stretch.part(0, start)))
        if start < end:
            yield stretch.part(start, end), True
        yield from ((piece, False) for piece in self._paragraphs(stretch.part(end, stretch.left_words)))

    def _paragraphs(self, stretch: Stretch) -> Iterator[Stretch]:
        """Cut an equal stretch wherever both texts begin a new line."""
        begun = 0
        left, right = self._texts
        for at in range(1, stretch.left_words):
            if left.ends_line(stretch.left[0] + at - 1) and right.ends_line(stretch.right[0] + at - 1):
                yield stretch.part(begun, at)
                begun = at
        if begun < stretch.left_words:
            yield stretch.part(begun, stretch.left_words)

    def _add(self, stretch: Stretch) -> None:
        self._open.count(stretch)
        if stretch.left_words and stretch.right_words:
            self._add_both(stretch)
            return
        moved = self._announce(stretch) if stretch.moved else None
        side = 0 if stretch.left_words else 1
        span = self._texts[side].span(*(stretch.left, stretch.right)[side])
        kind: SegmentKind = "same" if stretch.kind == "same" else ("deleted", "inserted")[side]
        self._add_range(kind, side, span, minor=stretch.kind == "respelt", moved=moved)

    def _announce(self, stretch: Stretch) -> Moved:
        """Return the end of a moved passage that a stretch is of; where it begins, say that it is one."""
        left = stretch.left_words > 0
        end = self._ends.get((stretch.moved, left))
        if end is None:
            end = Moved(stretch.moved, left, first=(stretch.moved, not left) not in self._ends)
            self._ends[stretch.moved, left] = end
            beginning = (Segment("moved", "", moved=end),)
            self._open.add(beginning if left else (), () if left else beginning, beginning)
        return end

    def _add_both(self, stretch: Stretch) -> None:
        """Add words of both texts that are side by side."""
        if stretch.kind != "same":
            self._add_replaced(stretch)
        elif self._reads_the_same(stretch):
            left, right = self._texts
            self._add_same(left.span(*stretch.left), right.span(*stretch.right))
        elif stretch.left_words == 1:
            self._add_replaced(stretch)
        else:
            middle = stretch.left_words // 2
            self._add_both(stretch.part(0, middle))
            self._add_both(stretch.part(middle, stretch.left_words))

    def _add_replaced(self, stretch: Stretch) -> None:
        """Add words of both texts, and by itself what is before and after them: a quotation mark, a comma."""
        left, right = self._texts
        if stretch.whole:
            self._add_range("deleted", 0, left.span(*stretch.left))
            self._add_range("inserted", 1, right.span(*stretch.right))
            return
        parts = zip(left.parts(*stretch.left), right.parts(*stretch.right), strict=True)
        for place, (span, other) in enumerate(parts):
            replaced = stretch.kind != "same" and place == 1
            if not replaced and left.reading(*span) == right.reading(*other):
                self._add_same(left.content_span(*span), right.content_span(*other))
            else:
                minor = stretch.kind != "different"
                deleted = self._segments("deleted", 0, left.content_span(*span), minor=minor)
                inserted = self._segments("inserted", 1, right.content_span(*other), minor=minor)
                self._open.add(deleted, inserted, _one_after_the_other(deleted, inserted))

    def _add_same(self, span: Span, other: Span) -> None:
        left, right = (list(text.cut(*cut)) for text, cut in zip(self._texts, (span, other), strict=True))
        self._open.add(left, right, left if left and left[-1].text[-1:].isspace() else right)

    def _add_range(
        self, kind: SegmentKind, side: int, span: Span, *, minor: bool = False, moved: Moved | None = None
    ) -> None:
        segments = self._segments(kind, side, span, minor=minor, moved=moved)
        self._open.add(() if side else segments, segments if side else (), segments)

    def _segments(
        self, kind: SegmentKind, side: int, span: Span, *, minor: bool, moved: Moved | None = None
    ) -> list[Segment]:
        return [
            part._replace(kind=shown, text=words, minor=minor and shown == kind, moved=moved)
            for part in self._texts[side].cut(*span)
            for shown, words in _marked(kind, part.text)
        ]


def _one_after_the_other(deleted: Sequence[Segment], inserted: Sequence[Segment]) -> Sequence[Segment]:
    """Return what replaces something behind it, with the blanks of one side after both."""
    if not deleted or not inserted or not deleted[-1].text.isspace():
        return [*deleted, *inserted]
    added = inserted[:-1] if inserted[-1].text.isspace() else inserted
    return [*deleted[:-1], *added, deleted[-1]]


def _marked(kind: SegmentKind, text: str) -> Iterator[tuple[SegmentKind, str]]:
    """Mark the words, but not line ends or blanks at the end, which would show as empty strips of colour."""
    for part in [text] if kind == "same" else _BARE_BLANKS.split(text):
        if part:
            yield ("same" if part.isspace() else kind), part

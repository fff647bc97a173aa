"""What differs between two texts, word by word. Pure: two strings in, segments to draw out.

Words are compared as written, case included; only blanks, Unicode composition and the typography of
quotation marks and dashes are passed over, because an editor does not ask about those. Scripts that put
no blanks between words (Chinese, Japanese, Thai, Khmer …) are compared sign by sign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rapidfuzz.distance import Levenshtein

# The alignment takes time in proportion to words x words: 0.1 s at this bound, on one slow core.
MAX_COMPARISONS = 1_000_000_000
# Equal stretches from this many words on can be folded away.
FOLD_FROM_WORDS = 40
# How far a deletion or insertion is moved to stand for whole sentences: "[The one. ]The two." for "The [one. The ]two."
MAX_SLIDE_WORDS = 40
# Up to this many equal words between two larger changes are a coincidence ("the", a comma), not common ground.
COINCIDENCE_WORDS = 3

Kind = Literal["same", "deleted", "inserted"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text: in both, in the left one only ("deleted"), or in the right one only ("inserted")."""

    kind: Kind
    text: str
    boilerplate: bool = False  # see dedup/comparison/highlighting.py


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of the two texts that belong beside each other. `folds`: all of it is the same, and long."""

    left: tuple[Segment, ...]
    right: tuple[Segment, ...]
    merged: tuple[Segment, ...]
    words: int
    folds: bool = False

    @property
    def changed(self) -> bool:
        """Whether a word differs here."""
        return any(segment.kind != "same" for segment in self.merged)


@dataclass(frozen=True, slots=True)
class Differences:
    """The blocks of two texts in order, and how many words are the same, deleted and inserted.

    `too_long`: the texts were beyond the bound and stand in one block, unmarked; no word counts as the same.
    """

    blocks: tuple[Block, ...]
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
    """Return what differs between two texts, in well under half a second for any length."""
    texts = _Texts(_words(left), _words(right))
    if _comparisons(texts) > MAX_COMPARISONS:
        plain = _plain(left, right)
        return Differences((plain,), deleted=len(texts.left.keys), inserted=len(texts.right.keys), too_long=True)
    stretches = _slid(texts, _without_coincidences(texts, _align(texts)))
    return Differences(
        blocks=tuple(_blocks(texts, stretches)),
        same=sum(each.left_words for each in stretches if each.same),
        deleted=sum(each.left_words for each in stretches if not each.same),
        inserted=sum(each.right_words for each in stretches if not each.same),
    )


# ---- words -----------------------------------------------------------------------------------------


def _characters(*categories: str) -> str:
    """Return the characters of these Unicode categories in the basic plane, for a regular expression's class."""
    found = (chr(code) for code in range(0x10000) if unicodedata.category(chr(code)).startswith(categories))
    return re.escape("".join(found))


# Scripts without blanks between words: Thai, Lao, Myanmar, Khmer, kana, Han.
_SOLO = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_PUNCTUATION = _characters("P", "S")
_WORD = f"[^\\s{_SOLO}{_PUNCTUATION}]+"
# A sign with its vowels and tones; else a word or a number with what joins its parts; else one other character.
_TOKEN = re.compile(f"(?:[{_SOLO}][{_characters('M')}]*|{_WORD}(?:['’.,]{_WORD})*|\\S)")
_BARE_BLANKS = re.compile(r"(\s*\n\s*|\s+\Z)")
_SENTENCE_ENDS = frozenset(".!?…。！？｡।॥؟۔።։")
_TYPOGRAPHY = str.maketrans("‘’‚“”„«»‐‑–—", '\'\'\'"""""----')


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text: as they are shown, each with the blanks that follow it, and as they are compared.

    Two lists of strings and no object a word: there may be 80,000, and the garbage collector passes over strings.
    """

    shown: list[str]
    keys: list[str]

    def ends_paragraph(self, at: int) -> bool:
        return "\n" in self.shown[at]

    def ends_sentence(self, at: int) -> bool:
        return self.keys[at] in _SENTENCE_ENDS or self.ends_paragraph(at)


@dataclass(frozen=True, slots=True)
class _Texts:
    left: _Words
    right: _Words


def _words(text: str) -> _Words:
    found = _TOKEN.findall(text)
    starts = [match.start() for match in _TOKEN.finditer(text)]
    ends = [*starts[1:], len(text)]
    return _Words(
        shown=[text[start:end] for start, end in zip(starts, ends, strict=True)] if starts else [],
        keys=[word if word.isascii() else unicodedata.normalize("NFC", word.translate(_TYPOGRAPHY)) for word in found],
    )


def _comparisons(texts: _Texts) -> int:
    """Return how many pairs of words the alignment weighs; it passes over an equal beginning and an equal end."""
    left, right = texts.left.keys, texts.right.keys
    shorter = min(len(left), len(right))
    start = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    end = next((at for at in range(shorter - start) if left[-1 - at] != right[-1 - at]), shorter - start)
    return (len(left) - start - end) * (len(right) - start - end)


# ---- alignment -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Words left_start:left_end of the left text against right_start:right_end of the right one."""

    same: bool
    left_start: int
    left_end: int
    right_start: int
    right_end: int

    @property
    def left_words(self) -> int:
        return self.left_end - self.left_start

    @property
    def right_words(self) -> int:
        return self.right_end - self.right_start

    def edge(self, *, at_end: bool) -> _Stretch:
        """Return the empty equal stretch at the start or the end of this one."""
        left, right = (self.left_end, self.right_end) if at_end else (self.left_start, self.right_start)
        return _Stretch(True, left, left, right, right)

    def moved(self, start: int, end: int) -> _Stretch:
        """Return the stretch with its start and its end moved by so many words, in both texts."""
        return _Stretch(
            self.same, self.left_start + start, self.left_end + end, self.right_start + start, self.right_end + end
        )

    def part(self, start: int, end: int) -> _Stretch:
        """Return words start:end, counted from the beginning of a stretch that is the same."""
        return _Stretch(
            True, self.left_start + start, self.left_start + end, self.right_start + start, self.right_start + end
        )


def _align(texts: _Texts) -> list[_Stretch]:
    """Return the stretches of both texts in order; no two neighbours are both the same or both different."""
    stretches: list[_Stretch] = []
    opcodes = Levenshtein.opcodes(texts.left.keys, texts.right.keys)
    for code in opcodes:
        found = _Stretch(code.tag == "equal", code.src_start, code.src_end, code.dest_start, code.dest_end)
        if stretches and stretches[-1].same == found.same:
            found = _join(stretches.pop(), found, same=found.same)
        stretches.append(found)
    return stretches


def _join(first: _Stretch, last: _Stretch, *, same: bool) -> _Stretch:
    return _Stretch(same, first.left_start, last.left_end, first.right_start, last.right_end)


def _without_coincidences(texts: _Texts, stretches: Sequence[_Stretch]) -> list[_Stretch]:
    """Return the stretches with short equal ones between two longer changes counted as changed.

    The rule of "semantic cleanup" (N. Fraser, Diff Strategies, 2006), in words and with a ceiling.
    """
    kept: list[_Stretch] = []
    for each in stretches:
        coincidence = len(kept) > 1 and kept[-1].same and _is_coincidence(texts, kept[-2], kept[-1], each)
        if coincidence:
            kept.pop()
            each = _join(kept.pop(), each, same=False)  # noqa: PLW2901 - it grows by what stood before
        kept.append(each)
    return kept


def _is_coincidence(texts: _Texts, before: _Stretch, same: _Stretch, after: _Stretch) -> bool:
    if same.left_words > COINCIDENCE_WORDS:
        return False
    length = _length(texts.left, same.left_start, same.left_end)
    return all(
        length
        <= max(
            _length(texts.left, each.left_start, each.left_end),
            _length(texts.right, each.right_start, each.right_end),
        )
        for each in (before, after)
    )


def _length(words: _Words, start: int, end: int) -> int:
    # A change of 50 words is longer than any coincidence; counting on would make the whole quadratic.
    return sum(map(len, words.keys[start : min(end, start + 50)]))


def _slid(texts: _Texts, stretches: Sequence[_Stretch]) -> list[_Stretch]:
    """Return the stretches with pure deletions and insertions moved, where the words allow, to begin a sentence."""
    if not stretches:
        return []
    ends = stretches[0], stretches[-1]
    # Empty equal stretches at both ends, which can grow when the first or the last change moves.
    slid = [ends[0].edge(at_end=False), *stretches, ends[1].edge(at_end=True)]
    for at in range(1, len(slid) - 1):
        change = slid[at]
        if change.same or (change.left_words and change.right_words):
            continue
        # An equal stretch between two changes must not vanish, or they would run together.
        before = slid[at - 1].left_words - (at > 2)
        after = slid[at + 1].left_words - (at < len(slid) - 3)
        shift = _best_shift(texts, change, before, after)
        slid[at - 1 : at + 2] = slid[at - 1].moved(0, shift), change.moved(shift, shift), slid[at + 1].moved(shift, 0)
    return [each for each in slid if each.left_words or each.right_words]


def _best_shift(texts: _Texts, change: _Stretch, before: int, after: int) -> int:
    """Return by how many words to move a change that has words on one side only; negative: to the front."""
    if change.left_words:
        side, start, end = texts.left, change.left_start, change.left_end
    else:
        side, start, end = texts.right, change.right_start, change.right_end
    shifts = [0]
    for room, step in ((before, -1), (after, 1)):
        shift = 0
        while abs(shift) < min(room, MAX_SLIDE_WORDS):
            leaving, entering = (end - 1, start - 1) if step < 0 else (start, end)
            if side.keys[leaving + shift] != side.keys[entering + shift]:
                break
            shift += step
            shifts.append(shift)

    def fitness(shift: int) -> tuple[int, int]:
        first = start + shift
        begins = 2 if first == 0 or side.ends_paragraph(first - 1) else int(side.ends_sentence(first - 1))
        return begins, -abs(shift)

    return max(shifts, key=fitness)


# ---- blocks ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """The block that is being filled."""

    left: list[Segment] = field(default_factory=list)
    right: list[Segment] = field(default_factory=list)
    merged: list[Segment] = field(default_factory=list)
    words: int = 0

    def add(self, texts: _Texts, stretch: _Stretch) -> None:
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

    def close(self, *, folds: bool = False) -> Iterator[Block]:
        if self.words:
            left, right = _without_last_blanks(self.left), _without_last_blanks(self.right)
            yield Block(left, right, _without_last_blanks(self.merged), self.words, folds)
        self.left, self.right, self.merged, self.words = [], [], [], 0


def _without_last_blanks(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Drop the blanks and new lines at a block's end; the block itself is a new line."""
    trimmed = list(segments)
    while trimmed and not trimmed[-1].text.strip():
        trimmed.pop()
    if trimmed:
        trimmed[-1] = Segment(trimmed[-1].kind, trimmed[-1].text.rstrip())
    return tuple(trimmed)


def _marked(kind: Kind, text: str) -> Iterator[Segment]:
    """Mark the words and not the line ends between or the blanks after them, which would be marked as bare strips."""
    for part in _BARE_BLANKS.split(text):
        if part:
            yield Segment("same" if part.isspace() else kind, part)


def _blocks(texts: _Texts, stretches: Sequence[_Stretch]) -> Iterator[Block]:
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


def _pieces(texts: _Texts, stretch: _Stretch, *, first: bool, last: bool) -> Iterator[tuple[_Stretch, bool]]:
    """Cut an equal stretch into its paragraphs and, where it is long, a middle of whole sentences that folds."""
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


def _paragraphs(texts: _Texts, stretch: _Stretch) -> Iterator[_Stretch]:
    """Cut an equal stretch where both texts begin a new line."""
    begun = 0
    for at in range(1, stretch.left_words):
        left, right = stretch.left_start + at - 1, stretch.right_start + at - 1
        if texts.left.ends_paragraph(left) and texts.right.ends_paragraph(right):
            yield stretch.part(begun, at)
            begun = at
    if begun < stretch.left_words:
        yield stretch.part(begun, stretch.left_words)


def _ends_paragraph(texts: _Texts, stretch: _Stretch) -> bool:
    """Whether both texts begin a new line after this stretch; a side without words here does not object."""
    sides = (
        (texts.left, stretch.left_start, stretch.left_end),
        (texts.right, stretch.right_start, stretch.right_end),
    )
    return all(side.ends_paragraph(end - 1) for side, start, end in sides if end > start)


def _plain(left: str, right: str) -> Block:
    sides = Segment("deleted", left), Segment("inserted", right)
    return Block((Segment("same", left),), (Segment("same", right),), sides, max(len(left), len(right)))

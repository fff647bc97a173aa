"""The alignment of two texts: stretches of equal and different words, in order. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from dedup.comparison.words import Texts, Words

# How far a change may be moved to cover whole sentences: "[The one. ]The two." instead of "The [one. The ]two."
MAX_SLIDE_WORDS = 40
# Up to this many equal words between two larger changes are a coincidence ("the", a comma).
COINCIDENCE_WORDS = 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words left_start:left_end of the left text, aligned with right_start:right_end of the right one."""

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

    def edge(self, *, at_end: bool) -> Stretch:
        """Return the empty equal stretch at the start or the end of this one."""
        left, right = (self.left_end, self.right_end) if at_end else (self.left_start, self.right_start)
        return Stretch(True, left, left, right, right)

    def moved(self, start: int, end: int) -> Stretch:
        """Return the stretch with its start and its end moved by these numbers of words, in both texts."""
        return Stretch(
            self.same, self.left_start + start, self.left_end + end, self.right_start + start, self.right_end + end
        )

    def part(self, start: int, end: int) -> Stretch:
        """Return words start:end of an equal stretch, counted from its beginning."""
        return Stretch(
            True, self.left_start + start, self.left_start + end, self.right_start + start, self.right_start + end
        )


def align(texts: Texts) -> list[Stretch]:
    """Return the stretches of both texts in order; changes cover whole sentences if the words allow it."""
    return _slid(texts, _without_coincidences(texts, _opcodes(texts)))


def _opcodes(texts: Texts) -> list[Stretch]:
    """Return the stretches of both texts in order, equal and different ones alternating."""
    stretches: list[Stretch] = []
    opcodes = Levenshtein.opcodes(texts.left.keys, texts.right.keys)
    for code in opcodes:
        found = Stretch(code.tag == "equal", code.src_start, code.src_end, code.dest_start, code.dest_end)
        if stretches and stretches[-1].same == found.same:
            found = _join(stretches.pop(), found, same=found.same)
        stretches.append(found)
    return stretches


def _join(first: Stretch, last: Stretch, *, same: bool) -> Stretch:
    return Stretch(same, first.left_start, last.left_end, first.right_start, last.right_end)


def _without_coincidences(texts: Texts, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches with short equal ones between two longer changes merged into the change.

    The rule of "semantic cleanup" (N. Fraser, Diff Strategies, 2006), in words and with an upper bound.
    """
    kept: list[Stretch] = []
    for each in stretches:
        coincidence = len(kept) > 1 and kept[-1].same and _is_coincidence(texts, kept[-2], kept[-1], each)
        if coincidence:
            kept.pop()
            each = _join(kept.pop(), each, same=False)  # noqa: PLW2901 - it absorbs the stretches before it
        kept.append(each)
    return kept


def _is_coincidence(texts: Texts, before: Stretch, same: Stretch, after: Stretch) -> bool:
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


def _length(words: Words, start: int, end: int) -> int:
    # A change of 50 words is longer than any coincidence; counting further would take quadratic time.
    return sum(map(len, words.keys[start : min(end, start + 50)]))


def _slid(texts: Texts, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches with pure deletions and insertions moved to begin a sentence, if the words allow it."""
    if not stretches:
        return []
    ends = stretches[0], stretches[-1]
    # Empty equal stretches at both ends can grow when the first or last change moves.
    slid = [ends[0].edge(at_end=False), *stretches, ends[1].edge(at_end=True)]
    for at in range(1, len(slid) - 1):
        change = slid[at]
        if change.same or (change.left_words and change.right_words):
            continue
        # An equal stretch between two changes must not disappear, or they would merge.
        before = slid[at - 1].left_words - (at > 2)
        after = slid[at + 1].left_words - (at < len(slid) - 3)
        shift = _best_shift(texts, change, before, after)
        slid[at - 1 : at + 2] = slid[at - 1].moved(0, shift), change.moved(shift, shift), slid[at + 1].moved(shift, 0)
    return [each for each in slid if each.left_words or each.right_words]


def _best_shift(texts: Texts, change: Stretch, before: int, after: int) -> int:
    """Return by how many words to move a change that has words on one side only; negative: towards the start."""
    if change.left_words:
        side, start, end = texts.left, change.left_start, change.left_end
    else:
        side, start, end = texts.right, change.right_start, change.right_end
    shifts = [0]
    for limit, step in ((before, -1), (after, 1)):
        shift = 0
        while abs(shift) < min(limit, MAX_SLIDE_WORDS):
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


def comparisons(texts: Texts) -> int:
    """Return how many pairs of words the alignment compares; it skips an equal start and an equal end."""
    left, right = texts.left.keys, texts.right.keys
    shorter = min(len(left), len(right))
    start = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    end = next((at for at in range(shorter - start) if left[-1 - at] != right[-1 - at]), shorter - start)
    return (len(left) - start - end) * (len(right) - start - end)

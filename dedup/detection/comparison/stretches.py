"""Two articles as they are shown next to each other: matched sentences, and the words inside them. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from dedup.detection.comparison.alignment import CLOSE, Edit, Match, aligned, edits, is_longer, match_sentences
from dedup.detection.comparison.prepared import PreparedArticle, Span

StretchKind = Literal["same", "respelt", "different"]


class Stretch(NamedTuple):
    """Words of the left text next to words of the right one, from the first to before the last.

    `respelt` words are near-equal: they count as being in both. `whole`: sentences without a counterpart. `moved`: the
    number of the moved passage that it is of; then the words of the other side are elsewhere.
    """

    kind: StretchKind
    left: Span
    right: Span
    whole: bool = False
    moved: int = 0

    @property
    def left_words(self) -> int:
        return self.left[1] - self.left[0]

    @property
    def right_words(self) -> int:
        return self.right[1] - self.right[0]

    def part(self, start: int, end: int) -> Stretch:
        """Return words start:end of an equal stretch, counted from its beginning; of a moved one, of its side."""
        left, right = (
            (begin + start, begin + end) if begin < stop else (begin, stop) for begin, stop in (self.left, self.right)
        )
        return self._replace(left=left, right=right)

    def extended(self, following: Stretch) -> Stretch:
        """Return this stretch and the one that follows it as one, of the kind of this one."""
        return self._replace(left=(self.left[0], following.left[1]), right=(self.right[0], following.right[1]))


def align(left: PreparedArticle, right: PreparedArticle) -> list[Stretch]:
    """Return the stretches of both texts in the order in which they are shown.

    The words that count as shared are those of the full comparison: the same matches, with the same edits.
    """
    swapped = is_longer(left, right)
    matches = match_sentences(*((right, left) if swapped else (left, right)))
    if swapped:
        matches = sorted(match._replace(left=match.right, right=match.left) for match in matches)
    return list(_Walk(left, right, matches, swapped=swapped).stretches())


def align_headlines(left: PreparedArticle, right: PreparedArticle) -> list[Stretch]:
    """Return the stretches of two headlines: each is one sentence; if they are not close, all of it is different."""
    one, other = (replace(side, starts=[0, side.size], sentence_keys=[0]) for side in (left, right))
    match = Match(0, 0, 0, exact=True) if one.words == other.words else aligned(one, other, 0, 0)
    close = match.exact or match.equal >= CLOSE * max(1, min(len(one.words), len(other.words)))
    return list(_Walk(one, other, [match] if close else [], swapped=False).stretches())


class _Walk:
    """Goes through both texts at once, from one pair of matched sentences to the next."""

    def __init__(
        self, left: PreparedArticle, right: PreparedArticle, matches: Sequence[Match], *, swapped: bool
    ) -> None:
        self._texts, self._swapped = (left, right), swapped
        in_place = _in_order(matches)
        self._in_place = [match for place, match in enumerate(matches) if place in in_place]
        moved = [match for place, match in enumerate(matches) if place not in in_place]
        self._numbers = dict(zip((match.left for match in moved), _passages(moved), strict=True))
        # By the side and the sentence.
        self._moved = [{match.left: match for match in moved}, {match.right: match for match in moved}]

    def stretches(self) -> Iterator[Stretch]:
        done = [0, 0]
        for match in self._in_place:
            yield from self._between(done, (match.left, match.right))
            yield from self._matched(match)
            done = [match.left + 1, match.right + 1]
        yield from self._between(done, (len(self._texts[0].sentence_keys), len(self._texts[1].sentence_keys)))

    def _between(self, starts: Sequence[int], ends: Sequence[int]) -> Iterator[Stretch]:
        """Yield what is between two matches: sentences of one side alone, and moved ones."""
        places = [self._texts[side].starts[starts[side]] for side in (0, 1)]
        found: list[Stretch] = []
        for side in (0, 1):
            for sentence in range(starts[side], ends[side]):
                match = self._moved[side].get(sentence)
                span = _sentence(self._texts[side], sentence)
                if match is None:
                    found.append(_on_side(side, span, places))
                else:
                    for edit in self._matched(match, moved=self._numbers[match.left]):
                        words = (edit.left, edit.right)[side]
                        if words[0] < words[1]:
                            alone = _on_side(side, words, places)
                            found.append(alone._replace(kind=edit.kind, whole=False, moved=edit.moved))
                places[side] = span[1]
        merged = _merged(found)
        if len(merged) == 2 and all(stretch.whole for stretch in merged):
            # What one side has instead of the other is one stretch.
            merged = [merged[0]._replace(right=merged[1].right)]
        yield from merged

    def _matched(self, match: Match, *, moved: int = 0) -> Iterator[Stretch]:
        """Yield the stretches of two matched sentences."""
        left, right = self._texts
        if match.exact:
            yield Stretch("same", _sentence(left, match.left), _sentence(right, match.right), moved=moved)
            return
        if self._swapped:
            found = [
                edit._replace(left=edit.right, right=edit.left) for edit in edits(right, left, match.right, match.left)
            ]
        else:
            found = list(edits(left, right, match.left, match.right))
        yield from _merged([stretch for edit in found for stretch in _shown(edit, moved)])


def _shown(edit: Edit, moved: int) -> Iterator[Stretch]:
    """Yield the words of an edit that count as shared, and those of either side that do not."""
    left, right, shared = edit.left, edit.right, edit.shared
    middle = left.start + shared, right.start + shared
    if shared:
        kind: StretchKind = "same" if edit.tag == "equal" else "respelt"
        yield Stretch(kind, (left.start, middle[0]), (right.start, middle[1]), moved=moved)
    if middle != (left.stop, right.stop):
        yield Stretch("different", (middle[0], left.stop), (middle[1], right.stop), moved=moved)


def _sentence(text: PreparedArticle, place: int) -> Span:
    return text.starts[place], text.starts[place + 1]


def _on_side(side: int, span: Span, places: Sequence[int]) -> Stretch:
    """Return words of one side that have no words of the other next to them."""
    other = places[1 - side], places[1 - side]
    return Stretch("different", *((other, span) if side else (span, other)), whole=True)


def _merged(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches with neighbouring ones that differ as one; whole sentences only of one side."""
    found: list[Stretch] = []
    for stretch in stretches:
        last = found[-1] if found else None
        if last and last.kind == "different" and _form(last) == _form(stretch):
            found[-1] = last.extended(stretch)
        else:
            found.append(stretch)
    return found


def _form(stretch: Stretch) -> tuple[StretchKind, int, bool | None]:
    return stretch.kind, stretch.moved, stretch.left_words > 0 if stretch.whole else None


def _passages(moved: Sequence[Match]) -> Iterator[int]:
    """Yield for each moved match the number of its passage: sentences that follow one another in both texts."""
    number = 0
    last = (-1, -1)
    for match in moved:
        number += (match.left - 1, match.right - 1) != last
        last = match.left, match.right
        yield number


def _in_order(matches: Sequence[Match]) -> set[int]:
    """Return the positions of the matches that stay in place: with most words of those in the same order in both."""
    # The best sequences by where they end in the right text, each with more words than those that end before it: its
    # words, and its last match.
    ends: list[int] = []
    best: list[tuple[int, int]] = []
    before: list[int] = []
    for place, match in enumerate(matches):
        at = bisect_left(ends, match.right)
        words, last = best[at - 1] if at else (0, -1)
        before.append(last)
        found = words + max(match.equal, 1), place
        beyond = bisect_left(best, found, lo=at)
        ends[at:beyond], best[at:beyond] = [match.right], [found]
    kept = set()
    place = best[-1][1] if best else -1
    while place >= 0:
        kept.add(place)
        place = before[place]
    return kept

"""Which sentence of one article corresponds to which of another, and how the two differ.

Articles are aligned by sentence, not from end to end, so a moved paragraph or a cropped end is not a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Literal, NamedTuple, cast

from rapidfuzz.distance import OSA, Levenshtein

from dedup.detection.comparison.prepared import DATE, NAME, NUMBER, PreparedArticle

# Two sentences are one, edited, if the longer has this share of the shorter's word pairs. Set phrases alone reach a
# third; a sentence whose every third word is new reaches half.
CLOSE = 0.4
# Shorter sentences, in words, are shared only if they are equal: they have too few word pairs.
_LEAST_CLOSE_WORDS = 5
# For so many pairs of sentences, an index of their word pairs does not pay.
_FEW_SENTENCES = 12
# Two words are near-equal, as misspelt or inflected ones are, from this similarity on. Two letters that change places
# are one change (optimal string alignment): centre, center.
NEAR_EQUAL = 0.7


class Change(StrEnum):
    """The kind of a replaced stretch of words; the first that fits."""

    NUMBER = "number"
    DATE = "date"
    SPELLING = "spelling"
    UNIT = "unit"
    NAME = "name"
    WORDING = "wording"


class Replacement(NamedTuple):
    """Words of the left article and those that replace them in the right one, as they are shown.

    `alone`: the words next to them are equal; else the stretch is part of a larger change.
    """

    change: Change
    left: str
    right: str
    alone: bool = True


class Match(NamedTuple):
    """A sentence of the left article and the corresponding one of the right article, by their positions.

    `equal` counts their equal and near-equal words in order, `inserted` the words of either that have no counterpart.
    """

    left: int
    right: int
    equal: int
    exact: bool
    inserted: int = 0
    replacements: tuple[Replacement, ...] = ()


def is_longer(one: PreparedArticle, other: PreparedArticle) -> bool:
    """Whether one article is the longer of two; of equally long ones, one of them is."""
    return (len(other.words), other.date, other.words) < (len(one.words), one.date, one.words)


def match_sentences(left: PreparedArticle, right: PreparedArticle) -> list[Match]:
    """Return the matched sentences in the order of the left article; each sentence is matched at most once."""
    matches, left_rest, right_rest = _equal_sentences(left, right)
    if left_rest and right_rest:
        matches += [aligned(left, right, *places) for places in _close_sentences(left, right, left_rest, right_rest)]
        matches.sort()
    return matches


def shared_words(one: PreparedArticle, other: PreparedArticle) -> int:
    """Return how many words two articles have in matched sentences; the same in either order."""
    longer = is_longer(one, other)
    return sum(match.equal for match in match_sentences(*((other, one) if longer else (one, other))))


def _equal_sentences(left: PreparedArticle, right: PreparedArticle) -> tuple[list[Match], list[int], list[int]]:
    """Return the matches of equal sentences, and the positions of the remaining sentences of either side."""
    unmatched: dict[int, list[int]] = {}
    for place in reversed(range(len(right.sentence_keys))):
        unmatched.setdefault(right.sentence_keys[place], []).append(place)
    matches: list[Match] = []
    rest: list[int] = []
    for place, key in enumerate(left.sentence_keys):
        if places := unmatched.get(key):
            matches.append(Match(place, places.pop(), left.length(place), exact=True))
        else:
            rest.append(place)
    return matches, rest, sorted(place for places in unmatched.values() for place in places)


def _close_sentences(
    left: PreparedArticle, right: PreparedArticle, left_rest: Sequence[int], right_rest: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield the positions of sentences that are edits of one another, the closest matches first."""
    scored: list[tuple[float, int, int]] = []
    for place, other, shared in _sharing(left, right, left_rest, right_rest):
        size, other_size = len(left.word_pairs(place)), len(right.word_pairs(other))
        shorter = min(size, other_size)
        if shared >= CLOSE * shorter and shorter >= _LEAST_CLOSE_WORDS - 1:
            # By the Dice coefficient: of sentences that contain the shorter one equally, the most equal in length.
            scored.append((-2 * shared / (size + other_size), place, other))
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    for _, place, other in sorted(scored):
        if place not in taken_left and other not in taken_right:
            taken_left.add(place)
            taken_right.add(other)
            yield place, other


def _sharing(
    left: PreparedArticle, right: PreparedArticle, left_rest: Sequence[int], right_rest: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield the positions of sentences that share word pairs, and how many they share."""
    if len(left_rest) * len(right_rest) <= _FEW_SENTENCES:
        for place in left_rest:
            word_pairs = left.word_pairs(place)
            for other in right_rest:
                yield place, other, len(word_pairs & right.word_pairs(other))
        return
    asked = {place: left.word_pairs(place) for place in left_rest}
    wanted = set[int]().union(*asked.values())
    index: dict[int, list[int]] = {}
    for other in right_rest:
        for word_pair in right.word_pairs(other) & wanted:
            index.setdefault(word_pair, []).append(other)
    for place, word_pairs in asked.items():
        votes = Counter([other for word_pair in word_pairs & index.keys() for other in index[word_pair]])
        for other, shared in votes.items():
            yield place, other, shared


class Edit(NamedTuple):
    """Words of two matched sentences, by their positions in the articles: equal, replaced, or on one side only."""

    tag: Literal["equal", "replace", "delete", "insert"]
    left: slice
    right: slice
    change: Change | None = None  # of what is replaced

    @property
    def shared(self) -> int:
        """How many words count as being in both: the equal ones, and as many near-equal ones as both sides have."""
        if self.tag == "equal" or self.change is Change.SPELLING:
            return min(self.left.stop - self.left.start, self.right.stop - self.right.start)
        return 0


def edits(left: PreparedArticle, right: PreparedArticle, left_place: int, right_place: int) -> Iterator[Edit]:
    """Yield how one sentence becomes the other, in order."""
    left_start, right_start = left.starts[left_place], right.starts[right_place]
    opcodes = Levenshtein.opcodes(left.sentence(left_place), right.sentence(right_place))
    for tag, start, end, other_start, other_end in cast("list[tuple[Any, int, int, int, int]]", opcodes.as_list()):
        span = slice(left_start + start, left_start + end)
        other_span = slice(right_start + other_start, right_start + other_end)
        change = None
        if tag == "replace":
            after_number = (
                start > 0 and left.kinds[span.start - 1] == NUMBER and right.kinds[other_span.start - 1] == NUMBER
            )
            change = _change(left, span, right, other_span, after_number=after_number)
        yield Edit(tag, span, other_span, change)


def aligned(left: PreparedArticle, right: PreparedArticle, left_place: int, right_place: int) -> Match:
    """Return the match of two sentences that are not equal."""
    found = list(edits(left, right, left_place, right_place))
    inserted = 0
    replacements: list[Replacement] = []
    for at, edit in enumerate(found):
        if edit.change is not None:
            alone = all(
                neighbour.tag == "equal" for neighbour in (*found[max(at - 1, 0) : at], *found[at + 1 : at + 2])
            )
            shown = " ".join(left.shown[edit.left]), " ".join(right.shown[edit.right])
            replacements.append(Replacement(edit.change, *shown, alone))
        elif edit.tag != "equal":
            inserted += edit.left.stop - edit.left.start + edit.right.stop - edit.right.start
    equal = sum(edit.shared for edit in found)
    return Match(left_place, right_place, equal, exact=False, inserted=inserted, replacements=tuple(replacements))


def _change(
    left: PreparedArticle, span: slice, right: PreparedArticle, other_span: slice, *, after_number: bool
) -> Change:
    kinds, other_kinds = left.kinds[span], right.kinds[other_span]
    if NUMBER in kinds and NUMBER in other_kinds:
        return Change.NUMBER
    if DATE in kinds and DATE in other_kinds:
        return Change.DATE
    one, other = "".join(left.words[span]), "".join(right.words[other_span])
    if OSA.normalized_similarity(one, other, score_cutoff=NEAR_EQUAL) >= NEAR_EQUAL:
        return Change.SPELLING
    if after_number:
        return Change.UNIT
    return Change.NAME if NAME in kinds and NAME in other_kinds else Change.WORDING

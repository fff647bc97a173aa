"""Which sentence of one article corresponds to which of another, and how the two differ.

Articles are aligned by sentence, not from end to end, so a moved paragraph or a cropped end is not a difference. Inside
sentences, words are aligned for the eye. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from rapidfuzz.distance import OSA, Levenshtein

from dedup.detection.comparison.lexicon import DATE, NAME, NUMBER
from dedup.detection.comparison.prepared import LAST_SENTENCE, SENTENCE_BITS, PreparedArticle, Span, WordPairs
from dedup.detection.kernels.tokens import IntArray, begins_in, ranges

# Two sentences are one, edited, if the longer has this share of the shorter's word pairs. Set phrases alone reach a
# third; a sentence whose every third word is new reaches half.
CLOSE = 0.4
# Shorter sentences, in words, are shared only if they are equal: they have too few word pairs.
_LEAST_CLOSE_WORDS = 5
# What those must share at least.
_LEAST_SHARED = math.ceil(CLOSE * (_LEAST_CLOSE_WORDS - 1))
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


# The bit of a word pair that is of the right one of two articles.
_RIGHT = np.uint64(1 << SENTENCE_BITS)
# So many word pairs in common are looked at in one step: they take some 30 MB.
_MOST_SHARED = 1_000_000


class Sharing(NamedTuple):
    """The matches of equal sentences, and which others share enough word pairs to be close: both, and how many."""

    equal: list[Match]
    others: list[tuple[int, int, int]]


def is_longer(one: PreparedArticle, other: PreparedArticle) -> bool:
    """Whether one article is the longer of two; of equally long ones, one of them is."""
    if (other.size, other.date) != (one.size, one.date):
        return (other.size, other.date) < (one.size, one.date)
    return (other.words, other.quoted) < (one.words, one.quoted)


def in_order(one: PreparedArticle, other: PreparedArticle) -> tuple[PreparedArticle, PreparedArticle]:
    """Return the shorter and the longer one of two articles."""
    return (other, one) if is_longer(one, other) else (one, other)


def match_sentences(left: PreparedArticle, right: PreparedArticle, sharing: Sharing | None = None) -> list[Match]:
    """Return the matched sentences in the order of the left article; each sentence is matched at most once.

    `sharing`: what sharing_sentences returns of these two, if it is known.
    """
    equal, others = sharing or sharing_sentences([(left, right)])[0]
    return sorted([*equal, *(aligned(left, right, *ends) for ends in _close_sentences(left, right, others))])


def shared_words(one: PreparedArticle, other: PreparedArticle) -> int:
    """Return how many words two articles have in matched sentences; the same in either order."""
    return sum(match.equal for match in match_sentences(*in_order(one, other)))


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
    left: PreparedArticle, right: PreparedArticle, sharing: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the positions of sentences that are edits of one another, the closest matches first."""
    scored: list[tuple[float, int, int]] = []
    for place, other, shared in sharing:
        size, other_size = left.pair_counts[place], right.pair_counts[other]
        if shared >= CLOSE * min(size, other_size):
            # By the Dice coefficient: of sentences that contain the shorter one equally, the most equal in length.
            scored.append((-2 * shared / (size + other_size), place, other))
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    for _, place, other in sorted(scored):
        if place not in taken_left and other not in taken_right:
            taken_left.add(place)
            taken_right.add(other)
            yield place, other


def sharing_sentences(pairs: Sequence[tuple[PreparedArticle, PreparedArticle]]) -> list[Sharing]:
    """Return what the sentences of each two articles have in common: a few dozen at once are fast."""
    found: list[Sharing] = []
    rest: list[tuple[WordPairs, WordPairs]] = []
    for left, right in pairs:
        matches, left_rest, right_rest = _equal_sentences(left, right)
        found.append(Sharing(matches, []))
        rest.append((_pairs_in(left, left_rest), _pairs_in(right, right_rest)))
    for pair, *ends in _sharing(rest, range(len(pairs))):
        found[pair].others.append((ends[0], ends[1], ends[2]))
    return found


def _pairs_in(article: PreparedArticle, places: Sequence[int]) -> WordPairs:
    """Return the word pairs of those of some sentences that are long enough to be close to others."""
    wanted = np.zeros(len(article.pair_counts) + 1, dtype=np.bool_)
    wanted[[place for place in places if article.pair_counts[place] >= _LEAST_CLOSE_WORDS - 1]] = True
    return article.word_pairs.compress(wanted[(article.word_pairs & LAST_SENTENCE).astype(np.intp)])


def _sharing(
    rest: Sequence[tuple[WordPairs, WordPairs]], numbers: Sequence[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the number of a pair, a sentence of either side, and how many word pairs they share if it is enough."""
    common = _common(rest)
    if common.counts.sum() > _MOST_SHARED and (len(rest) > 1 or np.ptp(rest[0][0] & LAST_SENTENCE)):
        yield from _in_halves(rest, numbers)
        return
    places = ranges(common.lefts, common.counts)
    both = common.owners[places] << np.uint64(SENTENCE_BITS) | common.found[places] & LAST_SENTENCE
    both = both << np.uint64(SENTENCE_BITS) | np.repeat(common.rights, common.counts)
    both.sort()
    begins = np.flatnonzero(begins_in(both))
    shared = np.diff(np.append(begins, len(both)))
    often = shared >= _LEAST_SHARED
    for ends, number in zip(both[begins[often]].tolist(), shared[often].tolist(), strict=True):
        above, other = divmod(ends, 1 << SENTENCE_BITS)
        pair, place = divmod(above, 1 << SENTENCE_BITS)
        yield numbers[pair], place, other, number


def _in_halves(
    rest: Sequence[tuple[WordPairs, WordPairs]], numbers: Sequence[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the same of half of the pairs, or of the sentences of one article, at a time."""
    middle = len(rest) // 2
    if middle:
        yield from _sharing(rest[:middle], numbers[:middle])
        yield from _sharing(rest[middle:], numbers[middle:])
        return
    [(left, right)] = rest
    sentences = left & LAST_SENTENCE
    half = np.sort(sentences)[len(left) // 2]
    below = sentences < half if (sentences < half).any() else sentences <= half
    for part in (left.compress(below), left.compress(~below)):
        yield from _sharing([(part, right)], numbers)


class _Common(NamedTuple):
    """The word pairs that both sides of some pairs of articles have, and the place of the pair of each.

    For each one of a right side, its sentence, and where the equal ones of the left side begin, and how many they are.
    """

    found: WordPairs
    owners: WordPairs
    lefts: IntArray
    rights: WordPairs
    counts: IntArray


def _common(rest: Sequence[tuple[WordPairs, WordPairs]]) -> _Common:
    sizes = np.array([len(pairs) for sides in rest for pairs in sides])
    sides = np.repeat(np.array([0, _RIGHT] * len(rest), dtype=np.uint64), sizes)
    found = np.concatenate([pairs for sides in rest for pairs in sides]) | sides
    bounds = np.append(0, np.cumsum(sizes[::2] + sizes[1::2]))
    for start, end in pairwise(bounds.tolist()):
        found[start:end].sort()
    # Equal word pairs of two articles are next to each other: first those of the left one. Most are alone.
    first = begins_in(found >> np.uint64(SENTENCE_BITS + 1))
    first[bounds[:-1][bounds[:-1] < len(found)]] = True
    several = ~(first & np.append(first[1:], True))
    owners = np.repeat(np.arange(len(rest), dtype=np.uint64), np.diff(bounds)).compress(several)
    found, begins = found.compress(several), np.flatnonzero(first.compress(several))
    right = found & _RIGHT > 0
    equal = np.diff(np.append(begins, len(found)))
    lefts = equal - np.diff(np.append(0, np.cumsum(right))[np.append(begins, len(found))])
    return _Common(
        found,
        owners,
        np.repeat(begins, equal).compress(right),
        found.compress(right) & LAST_SENTENCE,
        np.repeat(lefts, equal).compress(right),
    )


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
    start, other_start = left.starts[left_place], right.starts[right_place]
    for tag, begin, end, other_begin, other_end in _opcodes(left, right, left_place, right_place):
        span = slice(start + begin, start + end)
        other_span = slice(other_start + other_begin, other_start + other_end)
        change = _change(left, span, right, other_span, begins=not begin) if tag == "replace" else None
        yield Edit(tag, span, other_span, change)


def _opcodes(
    left: PreparedArticle, right: PreparedArticle, left_place: int, right_place: int
) -> list[tuple[Any, int, int, int, int]]:
    return cast("list[Any]", Levenshtein.opcodes(left.sentence(left_place), right.sentence(right_place)).as_list())


def aligned(left: PreparedArticle, right: PreparedArticle, left_place: int, right_place: int) -> Match:
    """Return the match of two sentences that are not equal."""
    start, other_start = left.starts[left_place], right.starts[right_place]
    equal = inserted = 0
    replacements: list[Replacement] = []
    codes = _opcodes(left, right, left_place, right_place)
    for at, (tag, begin, end, other_begin, other_end) in enumerate(codes):
        if tag == "equal":
            equal += end - begin
        elif tag == "replace":
            spans = slice(start + begin, start + end), slice(other_start + other_begin, other_start + other_end)
            change = _change(left, spans[0], right, spans[1], begins=not begin)
            if change is Change.SPELLING:
                equal += min(end - begin, other_end - other_begin)
            alone = (not at or codes[at - 1][0] == "equal") and (at + 1 == len(codes) or codes[at + 1][0] == "equal")
            shown = " ".join(left.shown_at(spans[0])), " ".join(right.shown_at(spans[1]))
            replacements.append(Replacement(change, *shown, alone))
        else:
            inserted += end - begin + other_end - other_begin
    return Match(left_place, right_place, equal, exact=False, inserted=inserted, replacements=tuple(replacements))


def _change(left: PreparedArticle, span: slice, right: PreparedArticle, other_span: slice, *, begins: bool) -> Change:
    """Return the kind of a replaced stretch; `begins`: the sentence begins with it."""
    kinds, other_kinds = left.kinds[span], right.kinds[other_span]
    if NUMBER in kinds and NUMBER in other_kinds:
        return Change.NUMBER
    if DATE in kinds and DATE in other_kinds:
        return Change.DATE
    one, other = "".join(left.words_at(span)), "".join(right.words_at(other_span))
    if OSA.normalized_similarity(one, other, score_cutoff=NEAR_EQUAL) >= NEAR_EQUAL:
        return Change.SPELLING
    if not begins and left.kinds[span.start - 1] == NUMBER == right.kinds[other_span.start - 1]:
        return Change.UNIT
    return Change.NAME if NAME in kinds and NAME in other_kinds else Change.WORDING


# ---- for the eye -----------------------------------------------------------------------------------

# Matching looks at so many pairs of sentences with two words in common in half a second, on one slow core.
MAX_COMPARISONS = 2_000_000

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


def comparisons(left: PreparedArticle, right: PreparedArticle) -> int:
    """Return how many pairs of sentences with two words in common the two have; equal sentences do not count."""
    _, left_rest, right_rest = _equal_sentences(left, right)
    return int(_common([(_pairs_in(left, left_rest), _pairs_in(right, right_rest))]).counts.sum())


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
    ranks = {right: rank for rank, right in enumerate(sorted(match.right for match in matches), 1)}
    # The best sequence among the first places of the right text: its words, and its last match (a Fenwick tree).
    best = [(0, -1)] * (len(matches) + 1)
    before: list[int] = []
    for place, match in enumerate(matches):
        rank = ranks[match.right]
        words, last = _best_until(best, rank - 1)
        before.append(last)
        found = words + max(match.equal, 1), place
        while rank < len(best):
            best[rank] = max(best[rank], found)
            rank += rank & -rank
    kept = set()
    place = _best_until(best, len(matches))[1]
    while place >= 0:
        kept.add(place)
        place = before[place]
    return kept


def _best_until(best: Sequence[tuple[int, int]], rank: int) -> tuple[int, int]:
    found = (0, -1)
    while rank:
        found = max(found, best[rank])
        rank -= rank & -rank
    return found

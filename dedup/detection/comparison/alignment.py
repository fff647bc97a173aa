"""Which sentence of one article corresponds to which of another, and how the two differ.

Articles are aligned by sentence, not from end to end, so a moved paragraph or a cropped end is not a difference. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from rapidfuzz.distance import OSA, Levenshtein

from dedup.detection.comparison.lexicon import DATE, NAME, NUMBER
from dedup.detection.comparison.prepared import LAST_SENTENCE, SENTENCE_BITS, PreparedArticle, WordPairs
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


# Matching looks at so many pairs of sentences with two words in common in half a second, on one slow core.
MAX_COMPARISONS = 2_000_000


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


def comparisons(left: PreparedArticle, right: PreparedArticle) -> int:
    """Return how many pairs of sentences with two words in common the two have; equal sentences do not count."""
    _, left_rest, right_rest = _equal_sentences(left, right)
    return int(_common([(_pairs_in(left, left_rest), _pairs_in(right, right_rest))]).counts.sum())


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

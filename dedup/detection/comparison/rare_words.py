"""Words that say what an article is about, and whether another article has them. Pure.

A rare word is one that few articles of the newspaper have: a name, a place, a product, in any script. Two words are
near-equal if they differ in a few letters: a misspelling, an inflection, another spelling of the same name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

from dedup.detection.comparison.alignment import NEAR_EQUAL, Change, Replacement
from dedup.detection.comparison.prepared import PreparedArticle
from dedup.detection.comparison.recurring import is_rare

# Of more missing words than this, only so many are searched for near-equal ones: the others are assumed alike.
_MOST_SEARCHED = 64
# A shorter word differs from every other by more than NEAR_EQUAL allows.
_SHORTEST_NEAR = 3
# The answers on so many words are remembered with an article.
_MOST_REMEMBERED = 1_000
MANY_REPLACED = 3
# An exchange is one that is made so many times.
_LEAST_OFTEN = 2
# A longer stretch of words is another sentence, not another name.
_LONGEST_NAME = 6


def has(article: PreparedArticle, word: str) -> bool:
    """Return whether an article has a word or a near-equal one. Numbers must be equal."""
    if word in article.vocabulary or word in article.headline:
        return True
    if len(word) < _SHORTEST_NEAR or word[0].isnumeric():
        return False
    known = article.near_equal.get(word)
    if known is None:
        others = article.words_like(word[0])
        known = extractOne(word, others, scorer=OSA.normalized_similarity, score_cutoff=NEAR_EQUAL) is not None
        if len(article.near_equal) < _MOST_REMEMBERED:
            article.near_equal[word] = known
    return known


def words_kept(words: AbstractSet[str], other: PreparedArticle) -> float:
    """Return the share of these distinct words that another article has, 0..1, smoothed: 1 if there are none."""
    missing = words - other.vocabulary
    searched: Collection[str] = missing
    if len(missing) > _MOST_SEARCHED:
        ordered = sorted(missing)
        searched = [ordered[len(ordered) * place // _MOST_SEARCHED] for place in range(_MOST_SEARCHED)]
    found = sum([has(other, word) for word in searched])
    kept = len(words) - len(missing) + found * len(missing) / max(len(searched), 1)
    return (kept + 1) / (len(words) + 1)


def subjects_swapped(
    left: PreparedArticle, right: PreparedArticle, common: tuple[frozenset[str], frozenset[str]]
) -> int:
    """Return how many rare words of its headline and text each article has that the other one lacks; the fewer.

    `common` as in replaced_subjects.
    """
    lacking = _subjects_lacking(left, right, common[0])
    return min(lacking, _subjects_lacking(right, left, common[1])) if lacking else 0


def _subjects_lacking(one: PreparedArticle, other: PreparedArticle, common: frozenset[str]) -> int:
    """Return how many rare words and numbers of a headline are in its own article, but not in the other one."""
    own = one.vocabulary.intersection(one.headline) - other.vocabulary
    return len([word for word in own if is_rare(word, common) and not has(other, word)])


def replaced_subjects(
    replacements: Iterable[Replacement],
    left: PreparedArticle,
    right: PreparedArticle,
    common: tuple[frozenset[str], frozenset[str]],
) -> int:
    """Return how many replacements exchange a rare word or number that the other article lacks for another such one.

    At most MANY_REPLACED: then two texts are about two things.
    `common` are the words that are not rare in the newspaper of the left article, and in that of the right one.
    """
    replaced = (
        replacement
        for replacement in replacements
        if replacement.change is not Change.SPELLING
        and _lacks(right, replacement.left, common[0])
        and _lacks(left, replacement.right, common[1])
    )
    return len(list(islice(replaced, MANY_REPLACED)))


def subject_exchanges(replacements: Sequence[Replacement], left: PreparedArticle, right: PreparedArticle) -> int:
    """Return how often one stretch of words takes the place of another at most: one town for another, all through.

    Each has a word that the other article lacks. Numbers do not count, nor do abbreviations, which begin alike.
    """
    if len(replacements) < _LEAST_OFTEN:
        return 0
    exchanged = Counter(
        (replacement.left.casefold(), replacement.right.casefold())
        for replacement in replacements
        if replacement.change is not Change.SPELLING
        and replacement.left[0].casefold() != replacement.right[0].casefold()
    )
    often = sorted(
        [pair for pair, count in exchanged.items() if count >= _LEAST_OFTEN], key=lambda pair: -exchanged[pair]
    )
    nothing = frozenset[str]()
    for one, other in often:
        words = f"{one[0]}{other[0]}"
        if words.isalpha() and _lacks(right, one, nothing) and _lacks(left, other, nothing):
            return exchanged[one, other]
    return 0


def _lacks(other: PreparedArticle, stretch: str, common: frozenset[str]) -> bool:
    words = stretch.casefold().split()
    return len(words) <= _LONGEST_NAME and any(is_rare(word, common) and not has(other, word) for word in words)

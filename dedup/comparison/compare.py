"""The full comparison of two articles: all the numbers that a verdict is based on. Pure.

A pass compares the start of two texts, or a single feature. Here both are compared in full, once per pair.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from rapidfuzz.distance import Levenshtein

from dedup.comparison.alignment import Change, Match, Replacement, match_sentences
from dedup.comparison.prepared import DATE, NUMBER, PreparedArticle
from dedup.comparison.recurring import NO_RECURRENCE, Recurrence, RecurringText
from dedup.kernels.tokens import IntArray

# How many words from the start of the shorter article count as its lead.
LEAD_WORDS = 60


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two articles compare. Shares are 0..1, and 1 if there is nothing to share; shorter and longer by words.

    `..._kept` is the share of the shorter article's numbers (dates, names) that occur anywhere in the longer.
    """

    days: int
    same_newspaper: bool
    shorter_words: int
    longer_words: int
    shorter_sentences: int
    longer_sentences: int
    exact_sentences: int  # equal in both
    close_sentences: int  # edited
    shingle_jaccard: float
    shorter_contained: float  # share of the shorter's shingles in the longer
    longer_contained: float
    exact_share: float  # of the shorter's words: those in equal sentences
    matched_share: float  # of the shorter's words: those in equal sentences, and the equal words of edited ones
    matched_longer: float  # the same of the longer's words
    lead_matched: float  # the same of the shorter's first LEAD_WORDS
    recurring_share: float  # of the matched words: those in sentences of a recurring form
    fresh_share: float  # of the shorter's words: those matched in other sentences
    numbers: int  # in the shorter
    numbers_kept: float
    dates_kept: float
    names_kept: float
    words_kept: float  # of the shorter's vocabulary
    rare_words_kept: float  # the same; within one newspaper, each word is weighted by its rarity there
    headline_found: float  # the share of a headline's words that occur in the other article; the lower of both
    subjects_swapped: int  # names and numbers of a headline and its article that the other article lacks
    headline_similarity: float
    headline_differs_in_numbers: bool  # or dates, and in nothing else
    same_headline: bool
    moving_dates: int  # replaced numbers that are each article's own publication day
    series_days: int  # other days on which both newspapers printed headlines of this form
    series_gap: int  # the usual number of days between them; 0 if irregular
    inserted_words: int  # within edited sentences: words without a counterpart
    changes: dict[Change, int] = field(default_factory=dict)
    replacements: tuple[Replacement, ...] = ()

    def changed(self, change: Change) -> int:
        """Return the number of replacements of this kind."""
        return self.changes.get(change, 0)


def compare(
    left: PreparedArticle,
    right: PreparedArticle,
    left_recurrence: Recurrence = NO_RECURRENCE,
    right_recurrence: Recurrence = NO_RECURRENCE,
) -> Comparison:
    """Return how two articles compare; symmetric, except for the sides of the replacements."""
    swapped = (len(right.words), right.date, right.words) < (len(left.words), left.date, left.words)
    shorter, longer = (right, left) if swapped else (left, right)
    matches = match_sentences(shorter, longer)
    shared = _shared(shorter.shingles, longer.shingles)
    union = len(shorter.shingles) + len(longer.shingles) - shared
    replacements = [each for match in matches for each in match.replacements]
    if swapped:
        replacements = [Replacement(change, one, other) for change, other, one in replacements]
    matched = sum(match.equal for match in matches)
    exact = [match for match in matches if match.exact]
    recurring = _recurring_words(shorter, longer, matches, left_recurrence.text.forms | right_recurrence.text.forms)
    return Comparison(
        days=abs((left.date - right.date).days),
        same_newspaper=left.newspaper == right.newspaper,
        shorter_words=len(shorter.words),
        longer_words=len(longer.words),
        shorter_sentences=len(shorter.sentence_keys),
        longer_sentences=len(longer.sentence_keys),
        exact_sentences=len(exact),
        close_sentences=len(matches) - len(exact),
        shingle_jaccard=_share(shared, union),
        shorter_contained=_share(shared, len(shorter.shingles)),
        longer_contained=_share(shared, len(longer.shingles)),
        exact_share=_share(sum(match.equal for match in exact), len(shorter.words)),
        matched_share=_share(matched, len(shorter.words)),
        matched_longer=_share(matched, len(longer.words)),
        lead_matched=_lead_matched(shorter, matches),
        recurring_share=recurring / matched if matched else 0.0,
        fresh_share=_share(matched - recurring, len(shorter.words)),
        numbers=shorter.numbers.total(),
        numbers_kept=_kept(shorter.numbers, longer.numbers),
        dates_kept=_kept(shorter.dates, longer.dates),
        names_kept=_share(len(shorter.names & longer.names), len(shorter.names)),
        words_kept=_share(len(shorter.vocabulary & longer.vocabulary), len(shorter.vocabulary)),
        rare_words_kept=_rare_words_kept(shorter, longer, left_recurrence.text),
        headline_found=min(_headline_found(left, right), _headline_found(right, left)),
        subjects_swapped=min(_subjects_lacking(left, right), _subjects_lacking(right, left)),
        headline_similarity=_headline_similarity(left, right),
        headline_differs_in_numbers=left.headline != right.headline and _masked(left) == _masked(right),
        same_headline=bool(left.headline) and left.headline == right.headline,
        moving_dates=_moving_dates(replacements, left.date, right.date),
        series_days=min(left_recurrence.days, right_recurrence.days),
        series_gap=left_recurrence.gap if left_recurrence.gap == right_recurrence.gap else 0,
        inserted_words=sum(match.inserted for match in matches),
        changes=dict(Counter(each.change for each in replacements)),
        replacements=tuple(replacements),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _shared(one: IntArray, other: IntArray) -> int:
    """Return how many members two ascending sets have in common."""
    if len(one) > len(other):
        one, other = other, one
    if not len(one):
        return 0
    places = np.searchsorted(other, one)
    places[places == len(other)] = 0
    return int(np.count_nonzero(other[places] == one))


def _kept(shorter: Counter[str], longer: Counter[str]) -> float:
    kept = sum(min(count, longer[word]) for word, count in shorter.items() if word in longer)
    return _share(kept, shorter.total())


def _rare_words_kept(shorter: PreparedArticle, longer: PreparedArticle, text: RecurringText) -> float:
    kept = shorter.vocabulary & longer.vocabulary
    if shorter.newspaper != longer.newspaper or not text.weights:
        return _share(len(kept), len(shorter.vocabulary))
    weight_of, unknown = text.weights.get, text.unknown
    total = sum([weight_of(word, unknown) for word in shorter.vocabulary])
    return sum([weight_of(word, unknown) for word in kept]) / total if total else 1.0


def _headline_found(one: PreparedArticle, other: PreparedArticle) -> float:
    words = set(one.headline)
    return _share(len(words & other.vocabulary | words & set(other.headline)), len(words))


def _subjects_lacking(one: PreparedArticle, other: PreparedArticle) -> int:
    """Return how many names and numbers of a headline are in its own article but not in the other."""
    return len(
        [
            word
            for word in set(one.headline)
            if (word in one.names or word in one.numbers)
            and word not in other.vocabulary
            and word not in other.headline
        ]
    )


def _lead_matched(shorter: PreparedArticle, matches: list[Match]) -> float:
    equal = {match.left: match.equal for match in matches}
    matched = words = 0
    for place in range(len(shorter.sentence_keys)):
        if words >= LEAD_WORDS:
            break
        words += shorter.length(place)
        matched += equal.get(place, 0)
    return _share(matched, words)


def _recurring_words(
    shorter: PreparedArticle, longer: PreparedArticle, matches: list[Match], forms: frozenset[int]
) -> int:
    """Return how many of the matched words are in sentences of these forms."""
    if not forms:
        return 0
    return sum(
        match.equal
        for match in matches
        if shorter.sentence_forms[match.left] in forms or longer.sentence_forms[match.right] in forms
    )


def _moving_dates(replacements: Iterable[Replacement], left: datetime.date, right: datetime.date) -> int:
    """Return how many replacements exchange the left article's day of the month for the right one's."""
    if left == right:
        return 0
    one, other = str(left.day), str(right.day)
    return len([each for each in replacements if one in each.left.split() and other in each.right.split()])


def _headline_similarity(left: PreparedArticle, right: PreparedArticle) -> float:
    if not left.headline and not right.headline:
        return 0.0
    one, other = set(left.headline), set(right.headline)
    words = len(one & other) / len(one | other)
    return max(words, Levenshtein.normalized_similarity(" ".join(left.headline), " ".join(right.headline)))


def _masked(article: PreparedArticle) -> list[str]:
    return [
        "#" if kind in {NUMBER, DATE} else word
        for word, kind in zip(article.headline, article.headline_kinds, strict=True)
    ]

"""The full comparison of two articles: all the numbers that a verdict is based on. Pure.

A pass compares the start of two texts, or a single feature. Here both are compared in full, once per pair.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from rapidfuzz.distance import Levenshtein

from articles.normalization.times import is_before
from dedup.detection.comparison.alignment import Change, Replacement, is_longer, match_sentences
from dedup.detection.comparison.prepared import DATE, NAME, NUMBER, PreparedArticle
from dedup.detection.comparison.rare_words import replaced_subjects, subject_exchanges, subjects_swapped, words_kept
from dedup.detection.comparison.recurring import NO_RECURRENCE, Coverage, Recurrence, coverage, recurring_in

# How many words from the start of an article count as its lead: its first sentence, in most newspapers.
LEAD_WORDS = 25
# How many words that two articles have in common are named.
_MOST_IN_COMMON = 5


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two articles compare. Shares are 0..1, and 1 if there is nothing to share; shorter and longer by words.

    `..._kept` is the share of the shorter article's numbers (words) that occur anywhere in the longer.
    """

    days: int
    same_newspaper: bool
    shorter_words: int
    longer_words: int
    shorter_sentences: int
    longer_sentences: int
    exact_sentences: int  # equal in both
    close_sentences: int  # edited
    exact_share: float  # of the shorter's words: those in equal sentences
    matched_share: float  # of the shorter's words: those in equal sentences, and the (near-)equal words of edited ones
    matched_longer: float  # the same of the longer's words
    longer_lead_matched: float  # the same of its first LEAD_WORDS: a version has a new lead
    phrases: Coverage
    series_known: bool  # whether enough is known about both newspapers to say what recurs
    numbers_kept: float
    rare_words_kept: float  # of the shorter's words that are rare in its newspaper: those that the longer has, smoothed
    words_kept: float  # the same of all its words
    subjects_swapped: int  # rare words of a headline and its article that the other article lacks; the lower of both
    subjects_replaced: int  # rare words that are exchanged for others in matched sentences; at most MANY_REPLACED
    subject_exchanges: int  # how often the same words are exchanged for the same others, at most; 0 if only once
    headline_similarity: float
    headline_differs_in_numbers: bool  # or dates, and in nothing else
    same_headline: bool
    moving_dates: int  # replaced numbers that are each article's own publication day
    series_days: int  # other days on which both newspapers printed headlines of this form
    series_gap: int  # the usual number of days between them; 0 if irregular
    inserted_words: int  # within edited sentences: words without a counterpart
    changes: dict[Change, int] = field(default_factory=dict)
    replacements: tuple[Replacement, ...] = ()
    vocabularies: tuple[AbstractSet[str], AbstractSet[str]] = (frozenset(), frozenset())  # the words of left and right
    earlier: Literal["left", "right", ""] = ""  # by day and time of publication; "" if these do not say it
    moved: bool = False  # whether sentences of both are in another order
    words_in_common: tuple[str, ...] = ()  # if no sentence is: a few that say what both are about

    def changed(self, change: Change) -> int:
        """Return the number of replacements of this kind."""
        return self.changes.get(change, 0)


def compare(
    left: PreparedArticle,
    right: PreparedArticle,
    left_recurrence: Recurrence = NO_RECURRENCE,
    right_recurrence: Recurrence = NO_RECURRENCE,
) -> Comparison:
    """Return how two articles compare; symmetric, except for what is said of left and right."""
    swapped = is_longer(left, right)
    shorter, longer = (right, left) if swapped else (left, right)
    matches = match_sentences(shorter, longer)
    replacements = [replacement for match in matches for replacement in match.replacements]
    if swapped:
        replacements = [
            replacement._replace(left=replacement.right, right=replacement.left) for replacement in replacements
        ]
    matched = sum(match.equal for match in matches)
    exact = [match for match in matches if match.exact]
    texts = left_recurrence.text, right_recurrence.text
    common = texts[swapped].common
    return Comparison(
        days=abs((left.date - right.date).days),
        same_newspaper=left.newspaper == right.newspaper,
        shorter_words=len(shorter.words),
        longer_words=len(longer.words),
        shorter_sentences=len(shorter.sentence_keys),
        longer_sentences=len(longer.sentence_keys),
        exact_sentences=len(exact),
        close_sentences=len(matches) - len(exact),
        exact_share=_share(sum(match.equal for match in exact), len(shorter.words)),
        matched_share=_share(matched, len(shorter.words)),
        matched_longer=_share(matched, len(longer.words)),
        longer_lead_matched=_lead_matched(longer, {match.right: match.equal for match in matches}),
        phrases=coverage(shorter.masked, longer.masked, recurring_in(shorter.masked, texts)),
        series_known=texts[0].known and texts[1].known,
        numbers_kept=_kept(shorter.numbers, longer.numbers),
        rare_words_kept=words_kept(shorter.rare_words(common), longer),
        words_kept=words_kept(shorter.vocabulary, longer),
        subjects_swapped=subjects_swapped(left, right, (texts[0].common, texts[1].common)),
        subjects_replaced=replaced_subjects(replacements, left, right, (texts[0].common, texts[1].common)),
        subject_exchanges=subject_exchanges(replacements, left, right),
        headline_similarity=_headline_similarity(left, right),
        headline_differs_in_numbers=left.headline != right.headline and _masked(left) == _masked(right),
        same_headline=bool(left.headline) and left.headline == right.headline,
        moving_dates=_moving_dates(replacements, left.date, right.date),
        series_days=min(left_recurrence.days, right_recurrence.days),
        series_gap=left_recurrence.gap if left_recurrence.gap == right_recurrence.gap else 0,
        inserted_words=sum(match.inserted for match in matches),
        changes=dict(Counter(replacement.change for replacement in replacements)),
        replacements=tuple(replacements),
        vocabularies=(left.vocabulary, right.vocabulary),
        earlier=_earlier(left, right),
        moved=any(one.right > other.right for one, other in pairwise(matches)),
        words_in_common=() if matches else tuple(_words_in_common(shorter, longer, common)),
    )


def _earlier(left: PreparedArticle, right: PreparedArticle) -> Literal["left", "right", ""]:
    dated = (left.date, left.time), (right.date, right.time)
    if is_before(*dated):
        return "left"
    return "right" if is_before(*dated[::-1]) else ""


def _words_in_common(shorter: PreparedArticle, longer: PreparedArticle, common: frozenset[str]) -> list[str]:
    """Return the most frequent rare words that both have; names and numbers if the newspaper is not known."""
    telling = shorter.rare_words(common) if common else None
    words = Counter(
        word
        for word, kind in zip(shorter.words, shorter.kinds, strict=True)
        if word in longer.vocabulary and (word in telling if telling is not None else kind in {NAME, NUMBER})
    )
    shown = dict(zip(shorter.words, shorter.shown, strict=True))
    return [shown[word] for word, _ in words.most_common(_MOST_IN_COMMON)]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _kept(shorter: Counter[str], longer: Counter[str]) -> float:
    kept = sum(min(count, longer[word]) for word, count in shorter.items() if word in longer)
    return _share(kept, shorter.total())


def _lead_matched(article: PreparedArticle, equal: Mapping[int, int]) -> float:
    """Return the matched share of an article's lead, given the matched words of its sentences."""
    matched = words = 0
    for place in range(len(article.sentence_keys)):
        if words >= LEAD_WORDS:
            break
        words += article.length(place)
        matched += equal.get(place, 0)
    return _share(matched, words)


def _moving_dates(replacements: Iterable[Replacement], left: datetime.date, right: datetime.date) -> int:
    """Return how many replacements exchange the left article's day of the month for the right one's."""
    if left == right:
        return 0
    one, other = str(left.day), str(right.day)
    return sum(one in replacement.left.split() and other in replacement.right.split() for replacement in replacements)


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

"""The full comparison of two articles: all the numbers that a verdict is based on. Pure.

A pass compares the start of two texts, or a single feature. Here both are compared in full, once per pair.

A rare word is one that few articles of the newspaper have: a name, a place, a product, in any script. Two words are
near-equal if they differ in a few letters: a misspelling, an inflection, another spelling of the same name.
"""

import datetime
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Literal

from rapidfuzz.distance import OSA, Levenshtein
from rapidfuzz.process import extractOne

from articles.normalization.times import is_before
from dedup.detection.comparison.alignment import (
    NEAR_EQUAL,
    Change,
    Match,
    Replacement,
    Sharing,
    is_longer,
    match_sentences,
)
from dedup.detection.comparison.lexicon import NAME, NUMBER
from dedup.detection.comparison.prepared import PreparedArticle, masked_form
from dedup.detection.comparison.recurring import NO_RECURRENCE, Coverage, Recurrence, coverage, is_rare, recurring_in

# How many words from the start of an article count as its lead: its first sentence, in most newspapers.
LEAD_WORDS = 25
# How many words from the start of the later article may be new.
_FIRST_WORDS = 30
# How many words that two articles have in common are named.
_MOST_IN_COMMON = 5
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
    matched_share: float  # of the shorter's words: those in equal sentences, and the (near-)equal words of edited ones
    matched_longer: float  # the same of the longer's words
    longer_lead_matched: float  # the same of its first LEAD_WORDS: a version has a new lead
    earlier_kept: float  # the same of the earlier one's words; of the shorter's if it is not known which that is
    later_new: float  # of the other one's words: those that do not match
    new_lead: float  # of the first words of the later article (else the longer): those that the other one lacks
    own_parts: tuple[int, int, int]  # the longer's words that do not match: before, among and after what matches
    quoted: float  # of the words that match: those between quotation marks in the longer, but not in the shorter
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
    sharing: Sharing | None = None,
) -> Comparison:
    """Return how two articles compare; symmetric, except for what is said of left and right.

    `sharing`: as in match_sentences, of the shorter and the longer one.
    """
    swapped = is_longer(left, right)
    shorter, longer = (right, left) if swapped else (left, right)
    matches = match_sentences(shorter, longer, sharing)
    replacements = [replacement for match in matches for replacement in match.replacements]
    if swapped:
        replacements = [
            replacement._replace(left=replacement.right, right=replacement.left) for replacement in replacements
        ]
    matched = sum(match.equal for match in matches)
    exact = sum(match.exact for match in matches)
    texts = left_recurrence.text, right_recurrence.text
    common = texts[swapped].common
    rare, missing = shorter.rare_words(common), shorter.vocabulary - longer.vocabulary
    earlier = _earlier(left, right)
    later = {"left": right, "right": left}.get(earlier, longer)
    return Comparison(
        days=abs((left.date - right.date).days),
        same_newspaper=left.newspaper == right.newspaper,
        shorter_words=shorter.size,
        longer_words=longer.size,
        shorter_sentences=len(shorter.sentence_keys),
        longer_sentences=len(longer.sentence_keys),
        exact_sentences=exact,
        close_sentences=len(matches) - exact,
        matched_share=_share(matched, shorter.size),
        matched_longer=_share(matched, longer.size),
        longer_lead_matched=_lead_matched(longer, {match.right: match.equal for match in matches}),
        earlier_kept=_share(matched, (left if later is right else right).size),
        later_new=1 - _share(matched, later.size),
        new_lead=_new_lead(later, left if later is right else right),
        own_parts=_own_parts(longer, {match.right: match.equal for match in matches}),
        quoted=_quoted_share(shorter, longer, matches),
        phrases=coverage(shorter.masked, longer.masked, recurring_in(shorter.masked, texts)),
        series_known=texts[0].known and texts[1].known,
        numbers_kept=_numbers_kept(shorter, longer),
        rare_words_kept=_words_kept(len(rare), missing & rare, longer),
        words_kept=_words_kept(len(shorter.vocabulary), missing, longer),
        subjects_swapped=_subjects_swapped(left, right, (texts[0].common, texts[1].common)),
        subjects_replaced=_replaced_subjects(replacements, left, right, (texts[0].common, texts[1].common)),
        subject_exchanges=_subject_exchanges(replacements, left, right),
        headline_similarity=_headline_similarity(left, right),
        headline_differs_in_numbers=left.headline != right.headline
        and masked_form(left.headline, left.headline_kinds) == masked_form(right.headline, right.headline_kinds),
        same_headline=bool(left.headline) and left.headline == right.headline,
        moving_dates=_moving_dates(replacements, left.date, right.date),
        series_days=min(left_recurrence.days, right_recurrence.days),
        series_gap=left_recurrence.gap if left_recurrence.gap == right_recurrence.gap else 0,
        inserted_words=sum(match.inserted for match in matches),
        changes=dict(Counter(replacement.change for replacement in replacements)),
        replacements=tuple(replacements),
        vocabularies=(left.vocabulary, right.vocabulary),
        earlier=earlier,
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


def _numbers_kept(shorter: PreparedArticle, longer: PreparedArticle) -> float:
    """Return the share of the shorter article's numbers that the longer one has, 0..1, smoothed: 1 if there are none.

    A day near publication that only one of them has does not count: the other one may call it yesterday.
    """
    days = {str((shorter.date + datetime.timedelta(days=step)).day) for step in (-1, 0, 1)}
    kept = missing = 0
    for word, count in shorter.numbers.items():
        found = min(count, longer.numbers[word])
        kept += found
        missing += 0 if word in days else count - found
    return (kept + 1) / (kept + missing + 1)


def _new_lead(later: PreparedArticle, earlier: PreparedArticle) -> float:
    """Return the share of an article's first _FIRST_WORDS that an earlier one lacks, 0..1; 0 without words."""
    first = set(later.words_at(slice(_FIRST_WORDS)))
    return len([word for word in first - earlier.vocabulary if not _has(earlier, word)]) / max(len(first), 1)


def _own_parts(longer: PreparedArticle, equal: Mapping[int, int]) -> tuple[int, int, int]:
    """Return how many words of an article do not match before its first matched sentence, up to the last, and after."""
    starts = longer.starts
    if not equal:
        return longer.size, 0, 0
    first, last = starts[min(equal)], starts[max(equal) + 1]
    return first, last - first - sum(equal.values()), longer.size - last


def _quoted_share(shorter: PreparedArticle, longer: PreparedArticle, matches: Sequence[Match]) -> float:
    quoted = sum(match.equal for match in matches if longer.quoted[match.right] and not shorter.quoted[match.left])
    return quoted / max(sum(match.equal for match in matches), 1)


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


# ---- words that say what an article is about ------------------------------------------------------


def _has(article: PreparedArticle, word: str) -> bool:
    """Return whether an article has a word or a near-equal one. Numbers must be equal."""
    known = article.near_equal.get(word)
    if known is None:
        if word in article.vocabulary or word in article.headline:
            return True
        if len(word) < _SHORTEST_NEAR or word[0].isnumeric():
            return False
        others = article.words_like(word[0])
        known = extractOne(word, others, scorer=OSA.normalized_similarity, score_cutoff=NEAR_EQUAL) is not None
        if len(article.near_equal) < _MOST_REMEMBERED:
            article.near_equal[word] = known
    return known


def _words_kept(words: int, missing: AbstractSet[str], other: PreparedArticle) -> float:
    """Return the share of distinct words that another article has, 0..1, smoothed: 1 if there are none.

    `missing`: those of them that are not in its text; near-equal ones may be.
    """
    searched: Collection[str] = missing
    if len(missing) > _MOST_SEARCHED:
        ordered = sorted(missing)
        searched = [ordered[len(ordered) * place // _MOST_SEARCHED] for place in range(_MOST_SEARCHED)]
    found = sum([_has(other, word) for word in searched])
    kept = words - len(missing) + found * len(missing) / max(len(searched), 1)
    return (kept + 1) / (words + 1)


def _subjects_swapped(
    left: PreparedArticle, right: PreparedArticle, common: tuple[frozenset[str], frozenset[str]]
) -> int:
    """Return how many rare words of its headline and text each article has that the other one lacks; the fewer.

    `common` as in _replaced_subjects.
    """
    lacking = _subjects_lacking(left, right, common[0])
    return min(lacking, _subjects_lacking(right, left, common[1])) if lacking else 0


def _subjects_lacking(one: PreparedArticle, other: PreparedArticle, common: frozenset[str]) -> int:
    """Return how many rare words and numbers of a headline are in its own article, but not in the other one."""
    own = one.vocabulary.intersection(one.headline) - other.vocabulary
    return len([word for word in own if is_rare(word, common) and not _has(other, word)])


def _replaced_subjects(
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


def _subject_exchanges(replacements: Sequence[Replacement], left: PreparedArticle, right: PreparedArticle) -> int:
    """Return how often some words take the place of others at most: one town for another, all through.

    The other article lacks them. Numbers do not count, nor do abbreviations, which begin alike.
    """
    if len(replacements) < _LEAST_OFTEN:
        return 0
    exchanged: Counter[tuple[str, str]] = Counter()
    for replacement in replacements:
        if replacement.change is not Change.SPELLING:
            one, other = _lacking(right, replacement.left), _lacking(left, replacement.right)
            if one and other and one[0] != other[0]:
                exchanged[one, other] += 1
    often = max(exchanged.values(), default=0)
    return often if often >= _LEAST_OFTEN else 0


def _lacking(other: PreparedArticle, stretch: str) -> str:
    """Return the words of a stretch that an article lacks, without numbers; "" if it is longer than a name."""
    words = stretch.casefold().split()
    if len(words) > _LONGEST_NAME:
        return ""
    return " ".join([word for word in words if word[0].isalpha() and not _has(other, word)])


def _lacks(other: PreparedArticle, stretch: str, common: frozenset[str]) -> bool:
    words = stretch.casefold().split()
    return len(words) <= _LONGEST_NAME and any(is_rare(word, common) and not _has(other, word) for word in words)

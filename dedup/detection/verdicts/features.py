"""The features of a comparison from which verdicts are computed, as numbers of about 0..1. Pure.

No feature depends on the newspaper or the language, so a model fitted on one collection works for another.
The sign of each coefficient is fixed where the direction is known: more evidence of a copy never counts against one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from articles.normalization.text import TEASER_WORDS
from dedup.detection.comparison.alignment import Change
from dedup.detection.comparison.compare import MANY_REPLACED, Comparison
from dedup.detection.comparison.recurring import SERIES_DAYS

# A headline form printed on more days than this counts no more as a series.
_MANY_SERIES_DAYS = 5

# Where the headline and the text say it themselves, nothing else outweighs it: the logit of a duplicate, at least if it
# is above 0, at most if it is below. The texts are the same if both have this share of the other's words, and nothing
# is replaced. Two teasers of at most so many words and days apart are known by their headline: their texts are cut
# anywhere, or of a video. But if the same newspaper has other numbers under it on another day, it may be the first two
# days of a series. A newspaper that leaves out so much of its earlier text, or adds so much, under a headline that has
# so little of the earlier one, tells a later state. What is no more than a small part of an article under another
# headline, with so many words besides, is an item of it. Two stubs of a few words under two headlines say nothing.
IDENTITY = "identity"
SAME_TEXT = 3.9  # 0.98; of 54 labelled pairs, 52 were duplicates, and the others had no text of their own
SAME_TEASER = 2.6  # 0.93; of 47 labelled pairs, 44 were duplicates
LATER_STATE = -0.6  # 0.35; of 14 labelled pairs that would be duplicates, 5 were
IN_LARGER = -1.0  # 0.27; of 11 labelled pairs that would be duplicates, 3 were
STUBS = -1.2  # 0.23
_SAME = 0.95
_LEAVES_OUT = 0.15
_ADDS = 1 / 3
_BESIDES = 1_000
_SMALL_PART = 0.25
OTHER_HEADLINE = 0.6
_STUB_WORDS = 8
_TEASER_DAYS = 3
_OTHER_NUMBERS = 0.5


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature and its sign for each question: +1 only for, -1 only against, 0 either way, None unused."""

    name: str
    value: Callable[[Comparison], float]
    duplicate: int | None
    template: int | None
    version: int | None


def _numbers_replaced(comparison: Comparison) -> float:
    """Return 1 if a number, date or unit is replaced in a matched sentence."""
    return float(any(map(comparison.changed, (Change.NUMBER, Change.DATE, Change.UNIT))))


def _subjects_replaced(comparison: Comparison) -> float:
    return comparison.subjects_replaced / MANY_REPLACED


def identity_of(comparison: Comparison) -> float:
    """Return what headline and text say of two articles, as a logit; 0 where they do not say it."""
    if not comparison.same_headline:
        return _other_than(comparison) if comparison.headline_similarity < OTHER_HEADLINE else 0.0
    shares = comparison.matched_share, comparison.matched_longer
    if comparison.shorter_words and min(shares) >= _SAME and not comparison.replacements:
        return SAME_TEXT
    soon = comparison.days <= (1 if comparison.same_newspaper else _TEASER_DAYS)
    short = comparison.longer_words <= TEASER_WORDS
    recurs = comparison.same_newspaper and comparison.days and comparison.numbers_kept <= _OTHER_NUMBERS
    return SAME_TEASER if short and soon and not recurs and not _headline_recurs(comparison) else 0.0


def _other_than(comparison: Comparison) -> float:
    """Return STUBS, LATER_STATE or IN_LARGER of two articles under two headlines, if they are that; else 0."""
    if comparison.longer_words < _STUB_WORDS:
        return STUBS
    if sum(comparison.own_parts) >= _BESIDES and comparison.matched_longer < _SMALL_PART:
        return IN_LARGER
    changed = 1 - comparison.earlier_kept >= _LEAVES_OUT or comparison.later_new >= _ADDS
    known = comparison.earlier and comparison.longer_words > TEASER_WORDS
    return LATER_STATE if comparison.same_newspaper and changed and known else 0.0


def _amount(words: float) -> float:
    """Return a number of words or phrases on a scale where 10, 100 and 1000 are 0.33, 0.67 and 1."""
    return min(math.log10(1 + words) / 3, 1.0)


def _later(comparison: Comparison) -> float:
    """Return the time gap on a scale where 0, 1, 3, 31 and 1023 days are 0, 0.1, 0.2, 0.5 and 1."""
    return min(math.log2(1 + comparison.days) / 10, 1.0)


def _own_under_another_headline(comparison: Comparison) -> float:
    """Return much where the longer article has many words of its own, under a headline of its own: a brief in a report.

    0 for a copy, or under the same headline.
    """
    own = _amount(sum(comparison.own_parts))
    return own * (1 - comparison.headline_similarity) * (1 - comparison.matched_longer)


def _headline_recurs(comparison: Comparison) -> float:
    """Return on how many days the newspaper prints such headlines, on a scale where five or more are 1.

    The two articles themselves, each on the other one's list of days, are no series.
    """
    each_other = comparison.same_newspaper and 0 < comparison.days <= SERIES_DAYS
    return min(max(comparison.series_days - each_other, 0), _MANY_SERIES_DAYS) / _MANY_SERIES_DAYS


FEATURES = (
    Feature("fresh phrases contained", lambda c: c.phrases.fresh_contained, 1, None, 1),
    Feature("phrases recur", lambda c: c.phrases.recurring_part, None, 1, None),
    Feature(
        "phrases recur in the same newspaper", lambda c: c.same_newspaper * c.phrases.recurring_part, -1, None, None
    ),
    Feature("rare words kept", lambda c: c.rare_words_kept, 1, None, 1),
    Feature("matched words", lambda c: c.matched_share, None, None, 1),
    Feature("number of matched words", lambda c: _amount(c.matched_share * c.shorter_words), None, None, 1),
    Feature("number of words not matched", lambda c: _amount((1 - c.matched_share) * c.shorter_words), None, 0, 0),
    Feature("number of words", lambda c: _amount(c.shorter_words), None, 0, 0),
    Feature("own words under another headline", _own_under_another_headline, -1, None, None),
    Feature("lead of the longer matched", lambda c: c.longer_lead_matched, None, 0, None),
    Feature("text lost by the later one", lambda c: 1 - c.earlier_kept, -1, None, None),
    Feature("numbers kept", lambda c: c.numbers_kept, 1, -1, None),
    Feature("numbers replaced", _numbers_replaced, -1, None, None),
    Feature("subjects replaced", _subjects_replaced, None, 1, None),
    Feature(
        "subjects replaced in the same newspaper", lambda c: c.same_newspaper * _subjects_replaced(c), -1, None, None
    ),
    Feature("one subject for another throughout", lambda c: float(c.subject_exchanges > 0), None, 1, None),
    Feature("subjects swapped", lambda c: min(c.subjects_swapped, 2) / 2, -1, None, -1),
    Feature("same headline", lambda c: float(c.same_headline), 1, None, None),
    Feature(
        "other headline in the same newspaper", lambda c: c.same_newspaper * (1 - c.headline_similarity), None, 0, None
    ),
    Feature("headline recurs", _headline_recurs, None, 1, None),
    Feature("days apart", _later, -1, None, None),
    Feature("same newspaper", lambda c: float(c.same_newspaper), -1, 0, None),
    # What recurs is not known in a young or small newspaper: then other features have to answer.
    Feature("series unknown", lambda c: float(not c.series_known), 0, 0, 0),
    Feature(
        "series unknown, phrases contained", lambda c: (not c.series_known) * c.phrases.fresh_contained, None, 0, None
    ),
    Feature("series unknown, words kept", lambda c: (not c.series_known) * c.rare_words_kept, 0, None, None),
    Feature(IDENTITY, identity_of, None, None, None),
    # Unused by the model: without_series needs them in place of others.
    Feature("phrases contained", lambda c: c.phrases.contained_smoothed, None, None, None),
    Feature("words kept", lambda c: c.words_kept, None, None, None),
)
FEATURE_NAMES = tuple(feature.name for feature in FEATURES)


def features_of(comparison: Comparison) -> tuple[float, ...]:
    """Return the features of a comparison, in the order of FEATURES."""
    return tuple([feature.value(comparison) for feature in FEATURES])


FEATURE_PLACES = {name: place for place, name in enumerate(FEATURE_NAMES)}


def without_series(row: Sequence[float]) -> tuple[float, ...]:
    """Return the features as if nothing were known about the newspapers' other articles."""
    contained, kept = (row[FEATURE_PLACES[name]] for name in ("phrases contained", "words kept"))
    values = {
        "fresh phrases contained": contained,
        "phrases recur": 0.0,
        "phrases recur in the same newspaper": 0.0,
        "rare words kept": kept,
        "headline recurs": 0.0,
        "series unknown": 1.0,
        "series unknown, phrases contained": contained,
        "series unknown, words kept": kept,
    }
    return tuple(values.get(name, value) for name, value in zip(FEATURE_NAMES, row, strict=True))

"""The features of a comparison from which verdicts are computed, as numbers of about 0..1. Pure.

No feature depends on the newspaper or the language, so a model fitted on one collection works for another.
The sign of each coefficient is fixed where the direction is known: more evidence of a copy never counts against one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dedup.detection.comparison.alignment import Change
from dedup.detection.comparison.compare import MANY_REPLACED, Comparison
from dedup.detection.comparison.recurring import SERIES_DAYS

# A headline form printed on more days than this counts no more as a series.
_MANY_SERIES_DAYS = 5


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature and its sign for each question: +1 only for, -1 only against, 0 either way, None unused."""

    name: str
    value: Callable[[Comparison], float]
    duplicate: int | None
    template: int | None
    version: int | None

    def sign(self, question: str) -> int | None:
        """Return the sign that its coefficient may have for a question."""
        return {"duplicate": self.duplicate, "template": self.template, "version": self.version}[question]


def _all_fresh(comparison: Comparison) -> float:
    """Return the share of phrases that do not recur if both texts are word for word the same, else 0."""
    same = comparison.exact_share == comparison.matched_longer == 1.0
    return float(same and comparison.shorter_words > 0) * (1 - comparison.phrases.recurring_part)


def _numbers_replaced(comparison: Comparison) -> float:
    """Return 1 if a number, date or unit is replaced in a matched sentence of two articles of one newspaper."""
    return float(comparison.same_newspaper and any(map(comparison.changed, (Change.NUMBER, Change.DATE, Change.UNIT))))


def _subjects_replaced(comparison: Comparison) -> float:
    return comparison.subjects_replaced / MANY_REPLACED


def _amount(words: float) -> float:
    """Return a number of words or phrases on a scale where 10, 100 and 1000 are 0.33, 0.67 and 1."""
    return min(math.log10(1 + words) / 3, 1.0)


def _later(comparison: Comparison) -> float:
    """Return the time gap on a scale where 0, 1, 3, 31 and 1023 days are 0, 0.1, 0.2, 0.5 and 1."""
    return min(math.log2(1 + comparison.days) / 10, 1.0)


def _headline_recurs(comparison: Comparison) -> float:
    """Return on how many days the newspaper prints such headlines, on a scale where five or more are 1.

    The two articles themselves, each on the other one's list of days, are no series.
    """
    each_other = comparison.same_newspaper and 0 < comparison.days <= SERIES_DAYS
    return min(max(comparison.series_days - each_other, 0), _MANY_SERIES_DAYS) / _MANY_SERIES_DAYS


FEATURES = (
    Feature("fresh phrases contained", lambda c: c.phrases.fresh_contained, 1, None, 1),
    Feature("number of fresh phrases shared", lambda c: _amount(c.phrases.fresh_shared), 1, None, None),
    Feature("phrases recur", lambda c: c.phrases.recurring_part, None, 1, None),
    Feature(
        "phrases recur in the same newspaper", lambda c: c.same_newspaper * c.phrases.recurring_part, -1, None, None
    ),
    Feature("rare words kept", lambda c: c.rare_words_kept, 1, None, 1),
    Feature("matched words", lambda c: c.matched_share, None, None, 1),
    Feature("number of matched words", lambda c: _amount(c.matched_share * c.shorter_words), None, None, 1),
    Feature("number of words not matched", lambda c: _amount((1 - c.matched_share) * c.shorter_words), None, 0, 0),
    Feature("number of words", lambda c: _amount(c.shorter_words), None, 0, 0),
    Feature("all matched and not recurring", _all_fresh, 1, None, None),
    Feature("lead of the longer matched", lambda c: c.longer_lead_matched, 1, 0, None),
    Feature("numbers kept", lambda c: c.numbers_kept, 1, -1, None),
    Feature("numbers replaced in the same newspaper", _numbers_replaced, -1, None, None),
    Feature("subjects replaced", _subjects_replaced, None, 1, None),
    Feature(
        "subjects replaced in the same newspaper", lambda c: c.same_newspaper * _subjects_replaced(c), -1, None, None
    ),
    Feature("one subject for another throughout", lambda c: float(c.subject_exchanges > 0), -1, 1, None),
    Feature("subjects swapped", lambda c: min(c.subjects_swapped, 2) / 2, -1, None, -1),
    Feature("same headline", lambda c: float(c.same_headline), 1, None, None),
    Feature(
        "other headline in the same newspaper", lambda c: c.same_newspaper * (1 - c.headline_similarity), None, 0, None
    ),
    Feature("headline recurs", _headline_recurs, -1, 1, None),
    Feature("days apart", _later, -1, None, None),
    Feature("same newspaper", lambda c: float(c.same_newspaper), -1, 0, None),
    # What recurs is not known in a young or small newspaper: then other features have to answer.
    Feature("series unknown", lambda c: float(not c.series_known), 0, 0, 0),
    Feature(
        "series unknown, phrases contained", lambda c: (not c.series_known) * c.phrases.fresh_contained, 0, 0, None
    ),
    Feature("series unknown, words kept", lambda c: (not c.series_known) * c.rare_words_kept, 0, None, None),
    Feature("series unknown, same newspaper", lambda c: float(not c.series_known and c.same_newspaper), -1, None, None),
    # Unused by the model: without_series needs them in place of others.
    Feature("phrases contained", lambda c: c.phrases.contained_smoothed, None, None, None),
    Feature("number of phrases shared", lambda c: _amount(c.phrases.shared), None, None, None),
    Feature("words kept", lambda c: c.words_kept, None, None, None),
)
FEATURE_NAMES = tuple(feature.name for feature in FEATURES)
_VALUES = tuple(feature.value for feature in FEATURES)


def features_of(comparison: Comparison) -> tuple[float, ...]:
    """Return the features of a comparison, in the order of FEATURES."""
    return tuple([value(comparison) for value in _VALUES])


FEATURE_PLACES = {name: place for place, name in enumerate(FEATURE_NAMES)}


def without_series(row: Sequence[float]) -> tuple[float, ...]:
    """Return the features as if nothing were known about the newspapers' other articles."""
    contained, shared, kept, same = (
        row[FEATURE_PLACES[name]]
        for name in ("phrases contained", "number of phrases shared", "words kept", "same newspaper")
    )
    values = {
        "fresh phrases contained": contained,
        "number of fresh phrases shared": shared,
        "phrases recur": 0.0,
        "all matched and not recurring": float(row[FEATURE_PLACES["all matched and not recurring"]] > 0),
        "phrases recur in the same newspaper": 0.0,
        "rare words kept": kept,
        "headline recurs": 0.0,
        "series unknown": 1.0,
        "series unknown, phrases contained": contained,
        "series unknown, words kept": kept,
        "series unknown, same newspaper": same,
    }
    return tuple(values.get(name, value) for name, value in zip(FEATURE_NAMES, row, strict=True))

"""The features of a comparison from which verdicts are computed, as numbers of about 0..1. Pure.

No feature depends on the newspaper or the language, so a model fitted on one collection works for another.
The sign of each coefficient is fixed where the direction is known: more evidence of a copy never counts against one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dedup.comparison.alignment import Change
from dedup.comparison.compare import Comparison

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


def _per_match(comparison: Comparison, *changes: Change) -> float:
    """Return the number of changes per matched sentence, at most 1."""
    matches = comparison.exact_sentences + comparison.close_sentences
    return min(sum(map(comparison.changed, changes)) / matches, 1.0) if matches else 0.0


def _numbers_replaced(comparison: Comparison) -> float:
    return _per_match(comparison, Change.NUMBER, Change.DATE, Change.UNIT)


def _rare_words_lacking(comparison: Comparison) -> float:
    return comparison.same_newspaper * (1 - comparison.rare_words_kept)


def _evidence(comparison: Comparison) -> float:
    """Return the number of matched words on a scale where 10, 100 and 1000 are 0.33, 0.67 and 1."""
    return min(math.log10(1 + comparison.matched_share * comparison.shorter_words) / 3, 1.0)


def _later(comparison: Comparison) -> float:
    """Return the time gap on a scale where 0, 1, 3 and 7 days are 0, 0.33, 0.67 and 1."""
    return min(math.log2(1 + comparison.days) / 3, 1.0)


FEATURES = (
    Feature("shorter contained", lambda c: c.shorter_contained, 1, 0, 1),
    Feature("matched words", lambda c: c.matched_share, 1, 1, 1),
    Feature("matched words of the longer", lambda c: c.matched_longer, 1, 1, 0),
    Feature("matched lead", lambda c: c.lead_matched, 1, 0, 0),
    Feature("matched and not recurring", lambda c: c.fresh_share, 1, -1, 1),
    Feature("number of matched words", _evidence, 1, 0, 1),
    Feature("numbers kept", lambda c: c.numbers_kept, 1, -1, 1),
    Feature("dates kept", lambda c: c.dates_kept, 1, -1, 1),
    Feature("names kept", lambda c: c.names_kept, 1, 0, 1),
    # Unused by the model: without_series needs it in place of "rare words kept".
    Feature("words kept", lambda c: c.words_kept, None, None, None),
    Feature("rare words kept", lambda c: c.rare_words_kept, 1, -1, 1),
    Feature("headline found in the other", lambda c: c.headline_found, 1, -1, 1),
    Feature("subjects swapped", lambda c: min(c.subjects_swapped, 2) / 2, -1, 1, None),
    Feature("numbers replaced", _numbers_replaced, -1, 1, None),
    Feature("names replaced", lambda c: _per_match(c, Change.NAME), -1, 1, None),
    Feature("dates move along", lambda c: float(c.moving_dates > 0), -1, 1, None),
    Feature("headline similarity", lambda c: c.headline_similarity, 1, 0, 1),
    Feature("headline differs in numbers", lambda c: float(c.headline_differs_in_numbers), -1, 1, None),
    Feature("days apart", _later, -1, 1, None),
    Feature("same newspaper on another day", lambda c: float(c.same_newspaper and c.days > 0), -1, 1, None),
    Feature("names lacking in the same newspaper", lambda c: c.same_newspaper * (1 - c.names_kept), -1, 1, None),
    Feature("rare words lacking in the same newspaper", _rare_words_lacking, -1, 1, None),
    Feature("shared sentences recur", lambda c: c.recurring_share, -1, 1, -1),
    Feature("shared sentences recur on another day", lambda c: c.recurring_share * (c.days > 0), -1, 1, -1),
    Feature("headline recurs", lambda c: min(c.series_days, _MANY_SERIES_DAYS) / _MANY_SERIES_DAYS, -1, 1, -1),
)
FEATURE_NAMES = tuple(feature.name for feature in FEATURES)


def features_of(comparison: Comparison) -> tuple[float, ...]:
    """Return the features of a comparison, in the order of FEATURES."""
    return tuple(feature.value(comparison) for feature in FEATURES)


_LACKING = "rare words lacking in the same newspaper"
_PLACES = {name: place for place, name in enumerate(FEATURE_NAMES)}
_OF_ANOTHER_DAY = ("days apart", *(name for name in FEATURE_NAMES if name.endswith("on another day")))
_OF_SERIES = tuple(name for name in FEATURE_NAMES if "recur" in name and "not recurring" not in name)


def without_series(row: Sequence[float]) -> tuple[float, ...]:
    """Return the features as if nothing were known about the newspapers' other articles."""
    words_kept = row[_PLACES["words kept"]]
    # 0 for pairs of two newspapers; for others the weighted share is 0 exactly if the plain one is.
    lacking = 1 - words_kept if row[_PLACES[_LACKING]] else 0.0
    return _with(
        row,
        {
            "matched and not recurring": row[_PLACES["matched words"]],
            "rare words kept": words_kept,
            _LACKING: lacking,
            **dict.fromkeys(_OF_SERIES, 0.0),
        },
    )


def on_same_day(row: Sequence[float]) -> tuple[float, ...]:
    """Return the features as if both articles had been published on one day, with the same texts."""
    return _with(row, {"dates move along": 0.0, **dict.fromkeys(_OF_ANOTHER_DAY, 0.0)})


def _with(row: Sequence[float], values: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(values.get(name, value) for name, value in zip(FEATURE_NAMES, row, strict=True))

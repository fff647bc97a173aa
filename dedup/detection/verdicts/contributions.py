"""What spoke for and against an answer of the model: its features in groups, in points that add up. Pure.

A point is a unit of the logit: 0 points are a chance of one half, 2.2 are nine in ten, -2.2 are one in ten.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from dedup.detection.verdicts.features import FEATURE_NAMES
from dedup.detection.verdicts.model import Logistic, chance_of

START = "Start: two articles with nothing in common"
MODERATION = "The model has learnt from few pairs like this one"
_CENTS = 100

# Every feature under what an editor calls it.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Phrases that both have": (
        "fresh phrases contained",
        "number of fresh phrases shared",
        "all matched and not recurring",
        "series unknown, phrases contained",
        "phrases contained",
        "number of phrases shared",
    ),
    "Phrases that the newspaper prints again and again": ("phrases recur", "phrases recur in the same newspaper"),
    "Rare words that both have": ("rare words kept", "series unknown, words kept", "words kept"),
    "Sentences that match": ("matched words", "number of matched words", "number of words not matched"),
    "Beginning of the longer article": ("lead of the longer matched",),
    "Length of the shorter article": ("number of words",),
    "Numbers, dates and units": ("numbers kept", "numbers replaced in the same newspaper"),
    "Names and rare words exchanged": (
        "subjects replaced",
        "subjects replaced in the same newspaper",
        "one subject for another throughout",
        "subjects swapped",
    ),
    "Headlines": ("same headline", "other headline in the same newspaper", "headline recurs"),
    "Days apart": ("days apart",),
    "One newspaper or two": ("same newspaper", "series unknown, same newspaper"),
    "Little is known of the newspaper": ("series unknown",),
}
_PLACES = {name: place for place, name in enumerate(FEATURE_NAMES)}


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the sum: its points, to two decimals, and the sum before and after it."""

    label: str
    points: float
    before: float
    after: float

    @property
    def chance(self) -> float:
        """The probability after this step, 0..1."""
        return chance_of(self.after)


def steps_of(asked: Logistic, features: Sequence[float]) -> list[Step]:
    """Return the sum behind an answer: the start, the groups with most points first, and the drawing to one half.

    The points add up to the logit of the probability, to two decimals; groups without points are left out.
    """
    parts = {label: _points(asked, features, names) for label, names in GROUPS.items()}
    ordered = sorted(parts, key=lambda label: -abs(parts[label]))
    total = math.fsum([asked.intercept, *parts.values()])
    labels = [START, *ordered, MODERATION]
    exact = [asked.intercept, *(parts[label] for label in ordered), asked.moderated(features) - total]
    steps: list[Step] = []
    before = 0
    for label, cents in zip(labels, _rounded(exact), strict=True):
        if cents or label == START:
            after = before + cents
            steps.append(Step(label, cents / _CENTS, before / _CENTS, after / _CENTS))
            before = after
    return steps


def _points(asked: Logistic, features: Sequence[float], names: Sequence[str]) -> float:
    places = [_PLACES[name] for name in names]
    coefficients, values = zip(*((asked.coefficients[place], features[place]) for place in places), strict=True)
    return math.fsum(map(mul, coefficients, values))


def _rounded(points: Sequence[float]) -> list[int]:
    """Return points in hundredths whose sum is the rounded sum, by the largest remainder; what is zero stays zero."""
    exact = [point * _CENTS for point in points]
    whole = [math.floor(cents) for cents in exact]
    missing = round(math.fsum(exact)) - sum(whole)
    growing = sorted((place for place, cents in enumerate(exact) if cents), key=lambda at: whole[at] - exact[at])
    for place in growing[:missing]:
        whole[place] += 1
    return whole


# Decimals in the database are binary fractions: 0.29 * 100 is 28.999….
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a bar: its name and label, its percentage in words, and its place in 0..100."""

    name: str
    label: str
    percentage: str
    start: str
    width: str


def percentage(probability: float) -> str:
    """Write a probability as a whole percentage, truncated, not rounded: only certainty reads 100%."""
    if 0 < probability < 0.01:
        return "under 1%"
    return f"{math.floor(probability * 100 + _TINY)}%"


def percentages(probabilities: Sequence[float]) -> list[str]:
    """Write probabilities that add up to 1 as percentages that add up to 100; what reads "under 1%" counts as one.

    The first one is truncated, as everywhere, so that it never seems to reach a threshold that it misses. The others
    get what is left, by the largest remainder.
    """
    whole = [math.floor(probability * 100 + _TINY) for probability in probabilities]
    written = [_TINY < probability < 0.01 for probability in probabilities]
    left = 100 - sum(whole) - any(written)
    growing = [place for place, small in enumerate(written) if place and not small and probabilities[place] > _TINY]
    growing.sort(key=lambda place: whole[place] - probabilities[place] * 100)
    for place in growing[: max(left, 0)]:
        whole[place] += 1
    return ["under 1%" if small else f"{percent}%" for percent, small in zip(whole, written, strict=True)]


def shares_of(labels: Mapping[str, str], probabilities: Sequence[float]) -> list[Share]:
    """Return the parts of a bar for probabilities that add up to 1, without those that are impossible."""
    found: list[Share] = []
    start = 0.0
    for (name, label), probability, written in zip(
        labels.items(), probabilities, percentages(probabilities), strict=True
    ):
        if probability > _TINY:
            found.append(Share(name, label, written, f"{start * 100:.2f}", f"{probability * 100:.2f}"))
        start += probability
    return found

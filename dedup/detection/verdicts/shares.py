"""Probabilities as editors read them: whole percentages that add up to 100. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    return ["under 1%" if small else f"{each}%" for each, small in zip(whole, written, strict=True)]


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

"""What a random sample says about the rest: the interval of a share, and the upper bound of a share of errors. Pure."""

from __future__ import annotations

from math import exp, lgamma, log, sqrt

_CONFIDENCE = 0.95
_HALVINGS = 60
# Standard deviations on each side that hold 95 % of a normal distribution.
_DEVIATIONS = 1.959963984540054


def interval(drawn: float, right: float) -> tuple[float, float]:
    """Return the 95 % interval of the share of which `right` of `drawn` is a sample, within 0..1.

    Unlike a normal approximation, it is not empty if all are right. Weighted samples count as a number of equal ones.

    The interval of Wilson, "Probable inference, the law of succession, and statistical inference" (Journal of the
    American Statistical Association 22, 1927). Raises ValueError unless 0 <= right <= drawn and 0 < drawn.
    """
    if not (0 <= right <= drawn and drawn):
        raise ValueError(f"{right} of {drawn} drawn cannot be right; give 0 to {drawn}, of at least 1")
    square = _DEVIATIONS**2
    centre = (right + square / 2) / (drawn + square)
    width = _DEVIATIONS / (drawn + square) * sqrt(right * (drawn - right) / drawn + square / 4)
    return max(0.0, centre - width), min(1.0, centre + width)


def upper_bound(drawn: int, wrong: int, *, confidence: float = _CONFIDENCE) -> float:
    """Return the share of errors, 0..1, that is not exceeded in the whole with this confidence; 1 without a sample.

    The one-sided bound of Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial" (Biometrika 26, 1934): the share at which a sample has so few errors with a chance of 1 - confidence. It
    takes the whole as endless, so for a small one it is on the safe side. Raises ValueError unless 0 <= wrong <= drawn.
    """
    if not 0 <= wrong <= drawn:
        raise ValueError(f"{wrong} of {drawn} drawn cannot be wrong; give 0 to {drawn}")
    if wrong == drawn:
        return 1.0
    low, high = wrong / drawn, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _at_most(wrong, drawn, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(wrong: int, drawn: int, share: float) -> float:
    """Return the chance that at most so many of the sample are wrong if this share of the whole is, 0 < share < 1."""
    return sum(
        exp(_log_ways(drawn, each) + each * log(share) + (drawn - each) * log(1 - share)) for each in range(wrong + 1)
    )


def _log_ways(drawn: int, wrong: int) -> float:
    return lgamma(drawn + 1) - lgamma(wrong + 1) - lgamma(drawn - wrong + 1)

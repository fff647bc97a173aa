"""Which of two articles came first, as far as their times of publication can say. Pure."""

from __future__ import annotations

from typing import NamedTuple

from dedup.detection.lineage.articles import LineageArticle

# Clocks of newspapers differ, and some are set by hand: less than this, in hours, says little.
CLOSE_HOURS = 0.5
# The farthest that the clocks of two time zones differ, in hours: UTC+14 and UTC-12.
FARTHEST_ZONES = 26
_MINUTE = 1 / 60


class Order(NamedTuple):
    """What times say of two articles. `sign` is -1 if the first came first, 1 if the second did, 0 if unknown.

    `points` say how much that weighs, 0 to 3. `hours` from the first to the second; None if they are not known.
    """

    sign: int
    points: int
    hours: float | None
    reason: str


def time_order(one: LineageArticle, other: LineageArticle) -> Order:
    """Return which of two articles came first, with the reason in words."""
    order = _by_clock(one, other) or _by_day(one, other)
    doubt = one.date_doubt or other.date_doubt
    if doubt and order.points > 1:
        return order._replace(points=1, reason=f"{order.reason} One of the dates is uncertain.")
    return order


def _by_clock(one: LineageArticle, other: LineageArticle) -> Order | None:
    """Compare two times; None if a time is unknown, or if only one names its time zone."""
    if one.time is None or other.time is None or (one.time.offset is None) != (other.time.offset is None):
        return None
    hours = (other.time.at - one.time.at).total_seconds() / 3600
    if abs(hours) < _MINUTE:
        return Order(0, 0, 0.0, "Both have the same time.")
    sign = -1 if hours > 0 else 1
    earlier, later = (one, other) if hours > 0 else (other, one)
    reason = f"{earlier.name} published {gap_words(abs(hours))} before {later.name}."
    if abs(hours) < CLOSE_HOURS:
        return Order(sign, 1, hours, reason)
    if one.time.offset is None:
        return Order(sign, 3 if abs(hours) > FARTHEST_ZONES else 2, hours, f"{reason} Neither names its time zone.")
    return Order(sign, 3, hours, reason)


def _by_day(one: LineageArticle, other: LineageArticle) -> Order:
    """Compare the days alone. A newspaper's day begins at another hour elsewhere, so one day is not certain."""
    days = (other.date - one.date).days
    if days == 0:
        if one.time and other.time:
            return Order(0, 0, None, "Of one day, and only one of the times names its time zone.")
        return Order(0, 0, None, "Of one day, and a day cannot say which came first.")
    earlier, later = (one, other) if days > 0 else (other, one)
    apart = "a day" if abs(days) == 1 else f"{abs(days)} days"
    reason = f"{earlier.name} published {apart} before {later.name}."
    return Order(-1 if days > 0 else 1, 2 if abs(days) == 1 else 3, None, reason)


def gap_words(hours: float) -> str:
    """Return a number of hours for people: 12 minutes, 3.5 hours, 4 days."""
    if hours < 1:
        minutes = round(hours * 60)
        return "a minute" if minutes == 1 else f"{minutes} minutes"
    if hours < 48:
        rounded = f"{hours:.1f}".removesuffix(".0")
        return "an hour" if rounded == "1" else f"{rounded} hours"
    return f"{hours / 24:.0f} days"

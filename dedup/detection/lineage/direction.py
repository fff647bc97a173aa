"""Which of two articles follows from the other: what times, credits and texts say, added up. Pure.

The points were chosen on the development set of the scenarios in tests/dedup/lineage (docs/lineage.md).
"""

from __future__ import annotations

from typing import NamedTuple

from dedup.detection.lineage.articles import Confidence, LineageArticle
from dedup.detection.lineage.credits import is_of_agency
from dedup.detection.lineage.likeness import Likeness

# A credit weighs as much as a clear difference in time.
_CREDIT = 3
_SHAPE = 1
_CREDIT_DROPPED = 1
_CLEAR = 3


class Direction(NamedTuple):
    """How much speaks for the first article as the source of the second, and against it below 0; and why.

    `timed` are the points of the times alone. `hours` and `days` from the first to the second. `credited`: the second
    names the first one's newspaper as its source; `from_agency`: the first is of the agency that the second credits.
    """

    points: int
    timed: int
    hours: float | None
    days: int
    credited: bool
    from_agency: bool
    reasons: tuple[str, ...]

    @property
    def confidence(self) -> Confidence:
        """How sure it is that the second follows from the first."""
        return in_words(self.points)

    @property
    def order(self) -> Confidence:
        """How sure it is that the first only ran before the second: of two that follow a third, texts say nothing."""
        return self.confidence if self.credited or self.from_agency else in_words(self.timed)


def in_words(points: int) -> Confidence:
    """Return points as a confidence."""
    if points >= _CLEAR:
        return Confidence.CLEAR
    return Confidence.LIKELY if points > 0 else Confidence.DOUBTFUL


def direction(
    source: LineageArticle, follower: LineageArticle, like: Likeness, *, credited: bool, credited_back: bool
) -> Direction:
    """Return what speaks for the first article as the source of the second.

    `credited`: the second one's text names the first one's newspaper as its source; `credited_back` the other way.
    """
    order = time_order(source, follower)
    timed = points = -order.sign * order.points
    reasons = [order.reason]
    named = credited or is_of_agency(source.name, follower.agency)
    named_back = credited_back or is_of_agency(follower.name, source.agency)
    if named != named_back:
        points += _CREDIT if named else -_CREDIT
        crediting, origin = (follower, source) if named else (source, follower)
        reasons.append(f"{crediting.name} credits {origin.name}.")
    shape, reason = _shape(source, follower, like)
    points += shape
    reasons += [reason] if reason else []
    if bool(source.agency) != bool(follower.agency) and like.contains:
        points += _CREDIT_DROPPED if source.agency else -_CREDIT_DROPPED
        keeps, lacks = (source, follower) if source.agency else (follower, source)
        reasons.append(f"{keeps.name} credits {keeps.agency}; {lacks.name} does not.")
    return Direction(
        points=points,
        timed=timed,
        hours=order.hours,
        days=(follower.date - source.date).days,
        credited=credited and not named_back,
        from_agency=named and not credited and not named_back,
        reasons=tuple(reasons),
    )


def _shape(source: LineageArticle, follower: LineageArticle, like: Likeness) -> tuple[int, str]:
    """Return what the two texts say: a cropped one ends early, an extended one has sentences in between."""
    if not like.added and not like.dropped:
        return 0, ""
    ways = ((like, source, follower, _SHAPE), (like.reversed, follower, source, -_SHAPE))
    for shape, first, second, points in ways:
        if shape.is_crop and not shape.added:
            return points, f"The text of {second.name} is that of {first.name}, cropped at the end."
    for shape, first, second, points in ways:
        if shape.is_extension:
            return points, f"The text of {second.name} is that of {first.name} with sentences added."
    return 0, ""


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

"""Which days have a say in the verdicts of a month. Pure.

A pair belongs to the month of its later article. A month is named by its first day.
"""

from __future__ import annotations

import datetime
from typing import NamedTuple

from dedup.detection.comparison.recurring import RECURRING_TEXT_DAYS, SERIES_DAYS


class Days(NamedTuple):
    """Days from the first to the last, both included."""

    first: datetime.date
    last: datetime.date


def month_of(day: datetime.date) -> datetime.date:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def next_month(day: datetime.date) -> datetime.date:
    """Return the first day of the following month."""
    return (day.replace(day=1) + datetime.timedelta(days=32)).replace(day=1)


def days_of(month: datetime.date) -> Days:
    """Return the days of a month."""
    return Days(month, next_month(month) - datetime.timedelta(days=1))


def series_days(month: datetime.date) -> Days:
    """Return the days whose headlines may be in one series with an article of a month's pairs."""
    return _around(month, SERIES_DAYS)


def text_days(month: datetime.date) -> Days:
    """Return the days from whose articles it is learnt what recurs in the texts of a month's newspapers."""
    return _around(month, RECURRING_TEXT_DAYS)


def _around(month: datetime.date, days: int) -> Days:
    around = datetime.timedelta(days=days)
    first, last = days_of(month)
    return Days(first - around, last + around)

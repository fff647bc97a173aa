"""When a newspaper is due."""

from __future__ import annotations

import datetime

from articles.daily import next_time


def next_due(
    *,
    every_hours: int | None,
    daily_at: datetime.time | None,
    before: datetime.datetime,
    now: datetime.datetime,
) -> datetime.datetime:
    """Return the first time after `now` at which a newspaper is due that was due at `before`.

    Times that were missed are passed over. `now` is in the time zone that `daily_at` is in, and `before` in any.
    Exactly one of `every_hours` and `daily_at` is given.
    """
    if daily_at is not None:
        return next_time(daily_at.replace(second=0), now)
    if not every_hours:
        raise ValueError("a schedule needs every_hours or daily_at")
    step = datetime.timedelta(hours=every_hours)
    missed = max(0, (now - before) // step)
    return before + (missed + 1) * step

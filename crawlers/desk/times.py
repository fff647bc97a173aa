"""When a newspaper is due."""

from __future__ import annotations

import datetime


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
        today = now.replace(hour=daily_at.hour, minute=daily_at.minute, second=0, microsecond=0, fold=0)
        return today if today > now else today + datetime.timedelta(days=1)
    if not every_hours:
        raise ValueError("a schedule needs every_hours or daily_at")
    step = datetime.timedelta(hours=every_hours)
    missed = max(0, (now - before) // step)
    return before + (missed + 1) * step

"""Times of day in a zone whose clocks are changed twice a year."""

import datetime


def next_time(at: datetime.time, now: datetime.datetime) -> datetime.datetime:
    """Return the first time after `now` at which the clocks of its zone show `at`, once for each day.

    If clocks show it twice in a night, the first time counts; if they pass over it, the time as far after the change
    (PEP 495: a time with fold=0 has the offset from before the change). `now` has a zone.
    """
    due = now.replace(hour=at.hour, minute=at.minute, second=at.second, microsecond=0, fold=0)
    # Python compares two times of one zone by their clocks, and does not see that an hour was repeated.
    while due.astimezone(datetime.UTC) <= now.astimezone(datetime.UTC):
        due += datetime.timedelta(days=1)
    return due

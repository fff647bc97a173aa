"""The next time that clocks show a time of day, also in the nights in which they are changed."""

import datetime
import random
from zoneinfo import ZoneInfo

import pytest

from articles.daily import next_time

UTC = datetime.UTC


@pytest.mark.parametrize(
    ("zone", "at", "now", "expected"),
    [
        ("Europe/Berlin", "02:30", "2026-03-01T01:00Z", "2026-03-01T01:30Z"),
        ("Europe/Berlin", "02:30", "2026-03-01T01:30Z", "2026-03-02T01:30Z"),
        # On 29 March there is no 02:30: the run comes an hour after 01:30.
        ("Europe/Berlin", "02:30", "2026-03-28T12:00Z", "2026-03-29T01:30Z"),
        ("Europe/Berlin", "02:30", "2026-03-29T01:30Z", "2026-03-30T00:30Z"),
        # On 25 October there are two: the first counts, also if somebody asks between them, or after a change at 3.
        ("Europe/Berlin", "02:30", "2026-10-24T12:00Z", "2026-10-25T00:30Z"),
        ("Europe/Berlin", "02:30", "2026-10-25T00:30Z", "2026-10-26T01:30Z"),
        ("Europe/Berlin", "02:30", "2026-10-25T01:10Z", "2026-10-26T01:30Z"),
        ("America/St_Johns", "01:59", "2026-11-01T04:40Z", "2026-11-02T05:29Z"),
        ("Australia/Lord_Howe", "01:45", "2026-04-04T14:50Z", "2026-04-05T15:15Z"),
        ("UTC", "00:00", "2026-12-31T23:59Z", "2027-01-01T00:00Z"),
    ],
)
def test_a_time_of_day_comes_once_a_day(zone: str, at: str, now: str, expected: str) -> None:
    found = next_time(datetime.time.fromisoformat(at), datetime.datetime.fromisoformat(now).astimezone(ZoneInfo(zone)))
    assert found.astimezone(UTC) == datetime.datetime.fromisoformat(expected)


def test_a_whole_year_has_one_such_time_for_each_day_in_every_zone() -> None:
    seed = random.randrange(10**6)
    print("seed", seed)
    chosen = random.Random(seed)
    for zone in ("Europe/Berlin", "America/Sao_Paulo", "Asia/Colombo", "Australia/Lord_Howe", "Africa/Casablanca"):
        at = datetime.time(chosen.randrange(4), chosen.randrange(60))
        now = datetime.datetime(2025, 12, 31, 23, 59, tzinfo=ZoneInfo(zone))
        days = []
        while (now := next_time(at, now)).year == 2026:
            days.append(now.date())
            # However late the next one is asked for, within the day.
            later = now.astimezone(UTC) + datetime.timedelta(minutes=chosen.randrange(20 * 60))
            assert next_time(at, later.astimezone(now.tzinfo)).date() > now.date()
        assert days == [datetime.date(2026, 1, 1) + datetime.timedelta(number) for number in range(365)]

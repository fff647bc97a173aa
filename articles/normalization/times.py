"""The day and the time of publication as their source wrote them. Pure."""

import datetime
import email.utils
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Self

DATE_FORMS = (
    "give an ISO date (2024-04-03), an ISO date-time (2024-04-03T18:30:00+02:00), an RFC 2822 date "
    "(Wed, 03 Apr 2024 18:30:00 +0200), or epoch seconds or milliseconds"
)

_ISO_DATE = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})"
    r"(?:[Tt ](?P<clock>[0-9]{2}:?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]+)?)?)"
    r" ?(?:[Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_RFC_2822_DATE = re.compile(
    r"(?:[A-Za-z]{3}, ?)?[0-9]{1,2} [A-Za-z]{3} [0-9]{4} [0-9]{2}:[0-9]{2}(?::[0-9]{2})?"
    r"(?: (?:[+-][0-9]{4}|[A-Z]{1,4}))?"
)
# The numbers of digits of seconds from 1973 to 2286, and of milliseconds: they cannot be mistaken for each other,
# nor for an ISO date without hyphens.
_EPOCH_SECONDS = re.compile(r"[0-9]{9,10}(?:\.[0-9]+)?")
_EPOCH_MILLISECONDS = re.compile(r"[0-9]{12,13}(?:\.[0-9]+)?")
_NUMBERS_ONLY_DATE = re.compile(r"[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}\b")
MAX_TIME_CHARACTERS = 100

# The largest offset that PostgreSQL reads (src/include/datatype/timestamp.h, MAX_TZDISP_HOUR); clocks use -12 to +14 h.
MAX_OFFSET_MINUTES = 16 * 60 - 1

_ISO_TIME = re.compile(
    r"(?P<day>\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{8})(?:T| )"
    r"(?P<hour>\d{1,2}):?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,]\d+)?)?"
    r" ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?(?:\[[^][]*\])?",
    re.ASCII | re.IGNORECASE,
)
_RFC_TIME = re.compile(
    r"(?:[a-z]{3,9},? ?)?\d{1,2}[ -][a-z]{3,9}[ -](?:\d{4}|\d{2}) "
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?: (?:[+-]\d{4}|[a-z]{1,5}))?(?: \([^()]*\))?",
    re.ASCII | re.IGNORECASE,
)
# What JavaScript makes of a Date (ECMA-262, Date.prototype.toString): Wed Apr 03 2024 18:30:00 GMT+0200 (CEST).
_JAVASCRIPT_TIME = re.compile(
    r"(?P<weekday>[a-z]{3}) (?P<month>[a-z]{3}) (?P<day>\d{2}) (?P<year>\d{4}) (?P<clock>\d{2}:\d{2}:\d{2}) "
    r"GMT(?P<zone>[+-]\d{4})(?: \([^()]*\))?",
    re.ASCII | re.IGNORECASE,
)


class UnreadableDayError(ValueError):
    """A text that is not a day, or is ambiguous; the message names the text and the accepted formats."""


def parse_day(value: str, column: str = "date") -> datetime.date:
    """Return the day in the value; for epoch times, the day in UTC.

    A date-time gives its local day, whatever its offset: that is the day in the newspaper.
    Raises UnreadableDayError, which names the column, for every other format, and for days and times that do not exist.
    """
    text = " ".join(value.split())
    if not text:
        raise UnreadableDayError(f"{column} is missing; {DATE_FORMS}")
    try:
        if iso := _ISO_DATE.fullmatch(text):
            datetime.time.fromisoformat((iso["clock"] or "00:00").replace(",", "."))
            return datetime.date.fromisoformat(iso["day"])
        if _RFC_2822_DATE.fullmatch(text):
            return email.utils.parsedate_to_datetime(text).date()
        if epoch := epoch_time(text):
            return epoch.date()
    except ValueError as error:
        raise UnreadableDayError(f"{column} {text[:100]!r} does not exist ({error}); {DATE_FORMS}") from error
    ambiguous = "is ambiguous, because the order of day and month differs between countries"
    fault = ambiguous if _NUMBERS_ONLY_DATE.match(text) else "cannot be read"
    raise UnreadableDayError(f"{column} {text[:100]!r} {fault}; {DATE_FORMS}")


def epoch_time(text: str) -> datetime.datetime | None:
    """Return the moment in UTC that epoch seconds or milliseconds mean; None if the text is neither."""
    for pattern, of_second in ((_EPOCH_SECONDS, 1), (_EPOCH_MILLISECONDS, 1_000)):
        if pattern.fullmatch(text):
            return datetime.datetime.fromtimestamp(float(text) / of_second, datetime.UTC)
    return None


class Precision(StrEnum):
    """How exactly a source gives the time of publication."""

    DAY = "day"
    MINUTE = "minute"
    SECOND = "second"


class ImpossibleTimeError(ValueError):
    """A written time that does not exist."""


@dataclass(frozen=True, slots=True)
class PublicationTime:
    """A time of publication.

    `at` is in UTC, without fractions of a second. `offset` is the source's distance from UTC in minutes, east of it
    positive; None if the source names no time zone: then `at` holds its local time as if that were UTC.
    """

    at: datetime.datetime
    offset: int | None
    precision: Precision

    @classmethod
    def of(cls, local: datetime.datetime, offset: int | None, precision: Precision) -> Self:
        """Return the time that a clock showed at this offset from UTC. Raises ImpossibleTimeError."""
        if offset is not None and abs(offset) > MAX_OFFSET_MINUTES:
            raise ImpossibleTimeError(f"the offset from UTC is over {_offset_text(MAX_OFFSET_MINUTES)[1:]}")
        try:
            at = local.replace(microsecond=0, tzinfo=datetime.UTC) - datetime.timedelta(minutes=offset or 0)
        except OverflowError as error:
            raise ImpossibleTimeError("in UTC it is outside the years 1 to 9999") from error
        return cls(at.replace(second=0) if precision == Precision.MINUTE else at, offset, precision)

    @property
    def local(self) -> datetime.datetime:
        """The date and time that the source's clock showed, without a time zone."""
        return (self.at + datetime.timedelta(minutes=self.offset or 0)).replace(tzinfo=None)

    @property
    def clock(self) -> str:
        """The local time, as hh:mm or hh:mm:ss."""
        return self.local.strftime("%H:%M" if self.precision == Precision.MINUTE else "%H:%M:%S")

    @property
    def read_clock(self) -> str:
        """The local time for people: hh:mm:ss, or hh:mm on the full minute."""
        return self.local.strftime("%H:%M:%S" if self.local.second else "%H:%M")

    @property
    def zone(self) -> str:
        """The time zone for people, after the clock: UTC+02:00."""
        if self.offset is None:
            return "(time zone unknown)"
        return f"UTC{_offset_text(self.offset)}" if self.offset else "UTC"

    def __str__(self) -> str:
        """Return the time in ISO 8601, as `written_time` reads it: 2024-05-03T18:30+02:00."""
        zone = "" if self.offset is None else _offset_text(self.offset)
        return f"{self.local.date().isoformat()}T{self.clock}{zone}"


def written_time(text: str) -> PublicationTime | None:
    """Return the time in an ISO 8601, RFC 2822 or JavaScript date-time, or in an epoch time; None if there is none.

    Epoch times are in UTC. A time zone in RFC 9557's brackets is passed over: the offset before it counts. Raises
    ImpossibleTimeError for a day, time or offset that does not exist.
    """
    if len(text) > MAX_TIME_CHARACTERS:
        return None
    text = " ".join(text.split())
    text = _JAVASCRIPT_TIME.sub(r"\g<weekday>, \g<day> \g<month> \g<year> \g<clock> \g<zone>", text)
    try:
        if match := _ISO_TIME.fullmatch(text):
            return _clock(_iso_day(match["day"]), match, _iso_offset(match["zone"]))
        if match := _RFC_TIME.fullmatch(text):
            return _rfc_time(text, match)
        if epoch := epoch_time(text):
            return PublicationTime.of(epoch.replace(tzinfo=None), 0, Precision.SECOND)
    except (ValueError, TypeError, IndexError, OverflowError) as error:  # email.utils raises all of them
        raise ImpossibleTimeError(str(error)) from error
    return None


def parse_date(value: str, column: str = "date") -> tuple[datetime.date, PublicationTime | None]:
    """Return the day in the value, as parse_day does, and the time if it names one.

    Raises UnreadableDayError, which names the column; also for an offset from UTC that does not exist.
    """
    day = parse_day(value, column)
    try:
        return day, written_time(value)
    except ImpossibleTimeError as error:
        raise UnreadableDayError(f"{column} {value[:100]!r} does not exist ({error}); {DATE_FORMS}") from error


def possible_time(text: str, day: datetime.date) -> PublicationTime | None:
    """Return the time in a text whose day has been read already; None if it has none, or an impossible one."""
    try:
        time = written_time(text)
    except ImpossibleTimeError:
        return None
    return time if time and time.local.date() == day else None


def _clock(day: datetime.date, match: re.Match[str], offset: int | None) -> PublicationTime:
    hour, minute, second = int(match["hour"]), int(match["minute"]), match["second"]
    # Python has no leap second. Its minute is true, the second before it would not be.
    known = second is not None and second != "60"
    local = datetime.datetime.combine(day, datetime.time(hour, minute, int(second) if known else 0))
    return PublicationTime.of(local, offset, Precision.SECOND if known else Precision.MINUTE)


def _iso_day(text: str) -> datetime.date:
    if text.isdigit():
        return datetime.date(int(text[:4]), int(text[4:6]), int(text[6:]))
    return datetime.date(*(int(part) for part in re.split("[-/.]", text)))


def _iso_offset(zone: str | None) -> int | None:
    """Return the offset in minutes; None for no zone, and for -00:00, which means an unknown one (RFC 3339, 4.3)."""
    if not zone or re.fullmatch("-00(:?00)?", zone):
        return None
    if zone[0] not in "+-":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[3:].removeprefix(":") or 0)
    if minutes > 59:
        raise ImpossibleTimeError(f"the offset from UTC {zone} has {minutes} minutes")
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)


def _rfc_time(text: str, match: re.Match[str]) -> PublicationTime:
    """Return the time in an RFC 2822 date. A zone is unknown if it is -0000, or a name that RFC 822 does not list."""
    moment = email.utils.parsedate_to_datetime(re.sub(r"(\d:\d{2}:)60\b", r"\g<1>59", text))  # a leap second
    offset = moment.utcoffset()
    return _clock(moment.date(), match, None if offset is None else int(offset.total_seconds() // 60))


def _offset_text(minutes: int) -> str:
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def publication_order(articles: Iterable[tuple[int, datetime.date, datetime.datetime | None]]) -> list[int]:
    """Return the ids of articles, given with day and stored time, in the order of publication: by day, then by time.

    Times decide between articles that both have one, and ids between all others: on each day, the articles with a time
    share the places that their ids give them.
    """
    order: list[int] = []
    for _, group in groupby(
        sorted(articles, key=lambda article: (article[1], article[0])), key=lambda article: article[1]
    ):
        of_day = list(group)
        timed = iter(sorted((time, number) for number, _, time in of_day if time is not None))
        order += [number if time is None else next(timed)[1] for number, _, time in of_day]
    return order


def is_later(time: PublicationTime | None, than: PublicationTime | None) -> bool:
    """Return whether a time is certainly later than another.

    It is not if one is unknown, if only one names its time zone, or if both may be the same minute.
    """
    if time is None or than is None or (time.offset is None) != (than.offset is None):
        return False
    if Precision.MINUTE in (time.precision, than.precision):
        return time.at.replace(second=0) > than.at.replace(second=0)
    return time.at > than.at


def is_before(
    one: tuple[datetime.date, PublicationTime | None], other: tuple[datetime.date, PublicationTime | None]
) -> bool:
    """Return whether one article, a day and a time, was certainly published before another: the order of every pair.

    By day, and on the same day by the times. If these do not say it, the article that was stored first goes first.
    """
    return one[0] < other[0] or (one[0] == other[0] and is_later(other[1], one[1]))

"""Pure functions that read the fields of imported rows: days in several formats, and headlines."""

import datetime
import email.utils
import html
import re

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

# Only tags of running text, so that "for x<y and y>z" and a URL in angle brackets stay.
_TAG = re.compile(
    r"</?(?:(?P<block>blockquote|br|div|h[1-6]|hr|li|ol|p|table|td|th|tr|ul)"
    r"|a|abbr|b|big|cite|code|del|em|font|i|img|ins|mark|q|s|small|span|strike|strong|sub|sup|tt|u|wbr)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)


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
    if _NUMBERS_ONLY_DATE.match(text):
        fault = "is ambiguous, because the order of day and month differs between countries"
        raise UnreadableDayError(f"{column} {text[:100]!r} {fault}; {DATE_FORMS}")
    raise UnreadableDayError(f"{column} {text[:100]!r} cannot be read; {DATE_FORMS}")


def epoch_time(text: str) -> datetime.datetime | None:
    """Return the moment in UTC that epoch seconds or milliseconds mean; None if the text is neither."""
    if _EPOCH_SECONDS.fullmatch(text):
        return datetime.datetime.fromtimestamp(float(text), datetime.UTC)
    if _EPOCH_MILLISECONDS.fullmatch(text):
        return datetime.datetime.fromtimestamp(float(text) / 1000, datetime.UTC)
    return None


def plain_text(markup: str) -> str:
    """Return a headline or teaser as one line, without HTML tags and entities."""
    text = markup
    if "<" in text:
        text = _TAG.sub(lambda tag: " " if tag["block"] else "", text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return " ".join(text.split())

"""Finds the day on which an article was published, the time, their source, and why they may be wrong. Pure."""

from __future__ import annotations

import copy
import datetime
import email.utils
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import lxml.etree

from articles.extraction.html import Element, joined_to_fit, main_headings, squeeze, url_parts
from articles.extraction.metadata import Declared
from articles.extraction.written_dates import Place, WrittenDay, place_of, proven_order, written_days
from articles.fields import FIRST_PRINTED, LIMITS, MAX_DAYS_AHEAD
from articles.loading import when_used, words_for
from articles.normalization.text import letters
from articles.normalization.times import MAX_TIME_CHARACTERS, PublicationTime, possible_time

if TYPE_CHECKING:
    import htmldate
else:
    htmldate = when_used("htmldate")

DateSource = Literal["json-ld", "meta", "time", "htmldate", "rule"]

# News sites exist since 1990 at the earliest; an earlier day belongs to an archive, or is a mistake.
FIRST_DAY = datetime.date(1990, 1, 1)
# The day of a clock that was never set.
UNSET = datetime.date(1970, 1, 1)
# Two time zones may write the same moment as two days.
MAX_DAYS_APART = 1
# Where a day next to the headline is looked for: elements after it, texts in one element, letters in such a line.
MAX_ELEMENTS_AFTER = 60
MAX_PIECES = 20
MAX_LINE_LETTERS = 60
# How much of a page's text is searched for what htmldate has read.
MAX_SEARCHED_CHARACTERS = 200_000
_CHANGED = re.compile(
    r"updat|modifi|chang|aktualis|geändert|mis à jour|actualizad|atualizad"
    r"|aggiornat|bijgewerkt|zaktualiz|обновл|оновл",
    re.IGNORECASE,
)
_WORDS = words_for(__file__)
_META_DATES = tuple(_WORDS["metas"])
_META_CHANGES = tuple(_WORDS["meta_changes"])
_ISO_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)|(\d{4})(\d{2})(\d{2})(?:T|\s|$)")
_URL_DAY = re.compile(
    r"(?<!\d)((?:19|20)\d\d)(?:/(\d{1,2})/(\d{1,2})(?=/|$|[-_])|-(\d{2})-(\d{2})(?!\d)|(\d{2})(\d{2})(?!\d)"
    r"|/(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/(\d{1,2})(?=/|$))",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SOURCE_NAMES = {"json-ld": "its JSON-LD", "meta": "a meta element", "time": "a time element"}


@dataclass(frozen=True, slots=True)
class PublicationDay:
    """The day, its source, and for people why it may be wrong; no day if the page names none.

    `time` is a time on that day by the clock of the source, which then gave both.
    """

    day: datetime.date | None = None
    source: DateSource | None = None
    doubt: str = ""
    time: PublicationTime | None = None


class _Stated(NamedTuple):
    """A day that a source names, the text that names it, and the day that the text may mean instead."""

    source: DateSource
    day: datetime.date
    text: str
    other: datetime.date | None = None


def find_publication_day(page: Element, declared: Declared, url: str, today: datetime.date) -> PublicationDay:
    """Return the day of publication in the time zone of the author.

    An impossible day (in the future, or before there were news sites) is not believed, unless it is in the past and two
    sources agree on it.
    """
    place = _place(declared, url)
    in_url = url_day(url)
    evidence = _Evidence(page, in_url, today)
    stated = _stated_days(page, declared, place, evidence)
    for date in stated:
        if _is_likely(date.day, today) or _is_attested(date, stated, in_url):
            source, time = _time_of(date, stated)
            return PublicationDay(date.day, source, _doubt(date, stated, declared, evidence), time)
    unlikely = [_unlikely(date.source, date.day) for date in stated]
    if in_url and _is_likely(in_url, today):
        return PublicationDay(in_url, "htmldate", _sentence(unlikely))
    if (guessed := _guessed_day(page, url, place, evidence)) and _is_likely(guessed.day, today):
        doubts = [*unlikely, "guessed from the text of the page", *_either(guessed.other)]
        return PublicationDay(guessed.day, "htmldate", _sentence(doubts))
    return PublicationDay(doubt=_sentence(unlikely))


def selected_day(
    value: str, page: Element, declared: Declared, url: str, today: datetime.date
) -> PublicationDay | None:
    """Return the day in a text of the page that the newspaper's own rule selects; None if it names no possible day."""
    found = _read_day(value, _place(declared, url))
    if found is None:
        return None
    day, other, _ = _Evidence(page, url_day(url), today).settle(found)
    if day > today + datetime.timedelta(days=MAX_DAYS_AHEAD):
        return None
    return PublicationDay(day, "rule", _sentence(_either(other)), possible_time(value, day))


def _place(declared: Declared, url: str) -> Place:
    return place_of(declared.locale, url_parts(url).hostname or "")


def url_day(url: str) -> datetime.date | None:
    """Return the day in a URL's path, such as /2024/05/03/ or /20240503; None if there is none."""
    for match in _URL_DAY.finditer(url_parts(url).path):
        year, month, day = (part.lower() for part in match.groups() if part)
        try:
            return datetime.date(int(year), _MONTHS.index(month) + 1 if month in _MONTHS else int(month), int(day))
        except ValueError:
            continue
    return None


def written_day(value: Any) -> datetime.date | None:
    """Return the day of a written time, in the time zone in which it was written."""
    if not isinstance(value, str) or len(value) > MAX_TIME_CHARACTERS:
        return None
    try:
        if match := _ISO_DAY.match(value.strip()):
            day = datetime.date(*(int(part) for part in match.groups() if part))
        else:
            day = email.utils.parsedate_to_datetime(value).date()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return day if day >= FIRST_PRINTED else None


class _Evidence(NamedTuple):
    """What decides between the two days that numbers such as 03/05/2024 may mean."""

    page: Element
    in_url: datetime.date | None
    today: datetime.date

    def settle(self, found: WrittenDay) -> WrittenDay:
        """Return the day with the other order excluded, or made the day, if the page proves an order."""
        if found.other is None:
            return found
        if self.in_url in (found.day, found.other):
            return WrittenDay(self.in_url)
        likely = [day for day in (found.day, found.other) if _is_likely(day, self.today)]
        if len(likely) == 1:
            return WrittenDay(likely[0])
        order = proven_order(self.page.text_content())
        if order is None:
            return found
        return WrittenDay(found.day if order == found.day_first else found.other)


def _stated_days(page: Element, declared: Declared, place: Place, evidence: _Evidence) -> list[_Stated]:
    """Return all days that the sources name, the most trusted source first."""
    values: list[tuple[DateSource, Any]] = [
        ("json-ld", declared.data.get("datePublished")),
        ("json-ld", declared.data.get("dateCreated")),
        *(("meta", content) for content in declared.meta(*_META_DATES)),
        *(("time", value) for value in _times(page)),
    ]
    read = [(source, value, found) for source, value in values if (found := _read_day(value, place))]
    clear = {found.day for _, _, found in read if found.other is None}
    stated = []
    for source, value, found in read:
        # Another source that names one of two possible days decides too.
        known = next((day for day in (found.day, found.other) if day in clear), None)
        settled = WrittenDay(known) if known else evidence.settle(found)
        stated.append(_Stated(source, settled.day, value, settled.other))
    return stated


def _read_day(value: Any, place: Place) -> WrittenDay | None:
    """Return the day of a source: in a form for programs, or as people write it."""
    if day := written_day(value):
        return WrittenDay(day)
    if not isinstance(value, str) or len(value) > MAX_TIME_CHARACTERS:
        return None
    return next((found for found in written_days(value, place) if found.day >= FIRST_PRINTED), None)


def _time_of(chosen: _Stated, stated: Sequence[_Stated]) -> tuple[DateSource, PublicationTime | None]:
    """Return the time on the chosen day and its source.

    If the chosen text names a day alone, the first text of another source counts if it names the same day and a time.
    """
    first: dict[DateSource, _Stated] = {}
    for date in stated:
        first.setdefault(date.source, date)
    for date in [chosen, *(first[source] for source in first if source != chosen.source)]:
        if date.day == chosen.day and (time := possible_time(date.text, date.day)):
            return date.source, time
    return chosen.source, None


def _times(page: Element) -> Iterator[str]:
    """Yield the times of <time> elements: those marked as publication times, then those of the article."""
    marked = "//*[@itemprop='datePublished' or @pubdate]"
    inside = "//article//time | //main//time"
    for element in [*page.xpath(marked), *(page.xpath(inside) or page.xpath("//time"))]:
        names = " ".join(element.get(name, "") for name in ("class", "id", "itemprop")).lower()
        if "updat" not in names and "modif" not in names:
            yield element.get("datetime") or element.get("content") or squeeze(element.text_content())


def _is_likely(day: datetime.date, today: datetime.date) -> bool:
    return FIRST_DAY <= day <= today + datetime.timedelta(days=MAX_DAYS_AHEAD)


def _is_attested(date: _Stated, stated: Sequence[_Stated], in_url: datetime.date | None) -> bool:
    """Return whether an old day belongs to an archive: two sources name it, or the URL does too."""
    if date.day >= FIRST_DAY or date.day == UNSET:
        return False
    return date.day in (in_url, *(other.day for other in stated if other.source != date.source))


def _doubt(chosen: _Stated, stated: Sequence[_Stated], declared: Declared, evidence: _Evidence) -> str:
    day, in_url, today = chosen.day, evidence.in_url, evidence.today
    doubts = [] if day >= FIRST_DAY else [f"{day} is before {FIRST_DAY}"]
    doubts += _either(chosen.other)
    trusted = [date for date in stated if date.source != "time" or chosen.source == "time"]
    first = {date.source: date.day for date in reversed(trusted)}
    for name, other in first.items():
        if not _agree(day, other):
            doubts.append(f"{_SOURCE_NAMES[name]} says {other}" if _is_likely(other, today) else _unlikely(name, other))
    if in_url and not _agree(day, in_url) and _is_likely(in_url, today):
        doubts.append(f"its URL says {in_url}")
    changes = [declared.data.get("dateModified"), *declared.meta(*_META_CHANGES)]
    changed = next(filter(None, map(written_day, changes)), None)
    if changed and changed < day and not _agree(day, changed) and changed > UNSET:
        doubts.append(f"it was changed on {changed}, before it was published")
    return _sentence(doubts)


def _agree(left: datetime.date, right: datetime.date) -> bool:
    return abs((left - right).days) <= MAX_DAYS_APART


def _unlikely(source: DateSource, day: datetime.date) -> str:
    return f"{_SOURCE_NAMES[source]} says {day}, which is impossible"


def _sentence(doubts: Sequence[str]) -> str:
    return joined_to_fit(doubts, "; ", LIMITS["date_doubt"])


def _either(other: datetime.date | None) -> list[str]:
    return [f"or {other}, because day and month may be in the other order"] if other else []


def _guessed_day(page: Element, url: str, place: Place, evidence: _Evidence) -> WrittenDay | None:
    """Return the day next to the headline, or else what htmldate finds; day and month in the order of the page."""
    if (seen := _visible_day(page, place)) and _is_likely((settled := evidence.settle(seen)).day, evidence.today):
        return settled
    # A tree, because htmldate downloads a str that looks like a URL; a copy, because it changes it. Its
    # extensive search takes any year on the page, even in a copyright line: no date is better than that.
    try:
        found = htmldate.find_date(copy.deepcopy(page), extensive_search=False, original_date=True, url=url)
    except (ValueError, TypeError, OverflowError, lxml.etree.LxmlError):  # hostile markup
        return None
    if not found:
        return None
    day = datetime.date.fromisoformat(found)
    # htmldate knows no languages: it may have read 03/05/2024 in the wrong order.
    text = page.text_content()[:MAX_SEARCHED_CHARACTERS]
    for written in written_days(text, place) if day.day <= 12 else ():
        if day in (written.day, written.other) or written.day == day.replace(month=day.day, day=day.month):
            return evidence.settle(written)
    return WrittenDay(day)


def _visible_day(page: Element, place: Place) -> WrittenDay | None:
    """Return the day in a line that says little else: one of the first after the headline, or in its own frame."""
    headline = next(iter(main_headings(page)), None)
    if headline is None:
        return None
    frame = next(headline.iterancestors("header", "section", "div"), headline)
    after = headline.xpath(f"following::*[position() <= {MAX_ELEMENTS_AFTER}]")
    for element in [*after, *frame.iter(lxml.etree.Element)]:
        line = _short_line(element)
        if line and not _CHANGED.search(line) and (found := next(written_days(line, place), None)):
            return found
    return None


def _short_line(element: Element) -> str:
    """Return the element's text if it has a number and few letters; otherwise nothing."""
    pieces = list(islice(element.itertext(), MAX_PIECES))
    line = squeeze(" ".join(pieces)) if len(pieces) < MAX_PIECES else ""
    fits = len(line) <= MAX_TIME_CHARACTERS and letters(line) <= MAX_LINE_LETTERS
    return line if fits and any(map(str.isdigit, line)) else ""

"""Reads days as people write them: in the words of many languages, and in numbers whose order depends on the place.

Pure. The names of the months and the usual order of a place come from Unicode's CLDR, which babel carries.
"""

import datetime
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from babel import Locale, UnknownLocaleError

# Languages of newspapers. A month's name that means two months in two of them counts only on a page in one of them.
LANGUAGES = (
    "af", "am", "ar", "as", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu",
    "fa", "fi", "fil", "fr", "ga", "gl", "gu", "ha", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ka", "kk", "km",
    "kn", "ky", "lb", "lo", "lt", "lv", "mk", "ml", "mn", "mr", "ms", "mt", "my", "nb", "ne", "nl", "nn", "or", "pa",
    "pl", "ps", "pt", "ro", "ru", "rw", "sd", "si", "sk", "sl", "so", "sq", "sr", "sr_Latn", "sv", "sw", "ta", "te",
    "tg", "th", "tk", "tr", "uk", "ur", "uz", "vi", "yo", "zu",
)  # fmt: skip
# Other codes for the same languages.
_CODES = {"no": "nb", "tl": "fil", "iw": "he", "in": "id"}
# Endings of countries that sites of all countries use.
_ENDINGS_OF_ALL = frozenset({"AI", "CC", "CO", "EU", "FM", "IO", "LY", "ME", "TV", "WS"})
# The Thai calendar counts from the year in which the Buddha died.
_BUDDHIST_YEARS = 543
_FIRST_BUDDHIST = 2400
# Inflected names of months begin with the name: at least so many letters of it.
_STEM = 4
# A name of a month has one word or two, or is abbreviated by letters and dots (ก.ย.).
_LETTERS = r"[^\W\d_][^\s\d.,،/()\-:|]{0,20}"
_WORD = rf"(?P<month>(?:[^\s\d.]{{1,3}}\.){{2,3}}|{_LETTERS}(?:\s{_LETTERS})?)"
# Signs that only say in which direction a text runs, and endings in brackets.
_IGNORED = re.compile(r"[\u200e\u200f\u061c]|\((?:e|a)\)(?:ko)?")
_IN_WORDS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # 3 May 2024; 3rd of May, 2024; 3. Mai 2024; 1er mai 2024; 3 de mayo de 2024; 3 d’abril de 2024; 03-May-2024
        (
            r"(?<![\d:])(?P<day>\d{1,2})(?:st|nd|rd|th|er|re|[º°.a-я]{1,2})?,?[\s-]*(?:(?:of|de|del|di|da|ta[’'])\s|d['’]|ב)?\s*"
            rf"{_WORD}[.,،]?[\s,-]*(?:de\s|del\s|of\s|ค\.ศ\.\s?|พ\.ศ\.\s?)?(?P<year>\d{{4}})(?![\d:])"
        ),
        # May 3, 2024; May 3rd 2024
        rf"{_WORD}\.?\s*(?P<day>\d{{1,2}})(?:st|nd|rd|th|º|er)?[\s,]+(?:de\s)?(?P<year>\d{{4}})(?![\d:])",
        # 2024. május 3.; 2024 m. gegužės 3 d.; 2024 May 3
        rf"(?<!\d)(?P<year>\d{{4}})(?:\.|\s[mթ]\.|-?ko)?,?\s+{_WORD}\.?\s+(?P<day>\d{{1,2}})(?![\d:])",
        # 2024. gada 3. maijs; 2024 ж. 3 мамыр
        rf"(?<!\d)(?P<year>\d{{4}})\W{{0,3}}[^\W\d_]{{1,4}}\W{{1,3}}(?P<day>\d{{1,2}})[\s.-]{{1,3}}{_WORD}",
        # 2024年5月3日; 2024년 5월 3일
        r"(?P<year>\d{4})\s*[年년]\s*(?P<number>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})",
        # 3 tháng 5, 2024; ngày 3 tháng 5 năm 2024
        r"(?P<day>\d{1,2})\s*th(?:án)?g\s*(?P<number>\d{1,2}),?\s*(?:năm\s*)?(?P<year>\d{4})",
        # 2024-05-03, 2024/5/3
        r"(?<!\d)(?P<year>\d{4})(?P<sign>[-/.])\s?(?P<number>\d{1,2})(?P=sign)\s?(?P<day>\d{1,2})(?!\d)",
    )
)
_NUMBERS = re.compile(
    r"(?<![\d./-])(?P<first>\d{1,2})(?P<sign>[-/.])\s?(?P<second>\d{1,2})(?P=sign)\s?(?P<year>\d{4}|\d{2})(?![\d/-]|\.\d)"
)


class WrittenDay(NamedTuple):
    """A day in a text. `other` is the day if day and month are in the other order; None if only one order is possible.

    `day_first` is the order that was read.
    """

    day: datetime.date
    other: datetime.date | None = None
    day_first: bool = True


class Place(NamedTuple):
    """Where a page is written: its language, as an ISO 639 code, and its region, as an ISO 3166 code; "" if unknown."""

    language: str = ""
    region: str = ""


def written_days(text: str, place: Place) -> Iterator[WrittenDay]:
    """Yield the days in a text: first those with a month in words or with the year first, then those in numbers only.

    Of two possible days, the one that the place usually writes is `day`.
    """
    text = _IGNORED.sub("", text)
    for pattern in _IN_WORDS:
        for match in pattern.finditer(text):
            found = match.groupdict()
            month = int(found["number"]) if found.get("number") else month_number(found["month"], place.language)
            if day := _day(int(found["year"]), month, int(found["day"])):
                yield WrittenDay(day)
    yield from (found_day for match in _NUMBERS.finditer(text) if (found_day := _in_numbers(match, place)))


def place_of(locale: str, host: str) -> Place:
    """Return the place of a page, from the language that it declares (such as en-GB), and the ending of its host.

    The ending decides between countries of English, because many programs write en-US wherever they run.
    """
    language, *subtags = re.split("[-_]", locale.strip())
    ending = host.rsplit(".", 1)[-1].upper()
    country = "" if len(ending) != 2 or ending in _ENDINGS_OF_ALL else {"UK": "GB"}.get(ending, ending)
    declared = next((tag.upper() for tag in subtags if re.fullmatch("[A-Za-z]{2}", tag)), "")
    regions = (country, declared) if language.lower() == "en" else (declared, country)
    return Place(language.lower(), next(filter(None, regions), ""))


def usual_order(place: Place) -> bool:
    """Return whether the place usually writes the day before the month. Where it is unknown, most do."""
    world = "en_001" if place.language == "en" and place.region not in {"", "US"} else place.language
    for name in (f"{place.language}_{place.region}", world):
        try:
            pattern = Locale.parse(name).date_formats["short"].pattern
        except (UnknownLocaleError, ValueError):
            continue
        return pattern.find("d") < pattern.find("M") or pattern.startswith("y")
    return True


def month_number(word: str, language: str = "") -> int:
    """Return the number of the month of this name or abbreviation in this language or else in any; 0 if none has it."""
    own = _months((_CODES.get(language, language),)) if language else {}
    for key in dict.fromkeys(map(_key, [word, *word.split()])):
        for names in (own, _months(("en",))):
            if months := names.get(key) or _inflected(key, names):
                return next(iter(months))
        if len(months := _months(LANGUAGES).get(key, frozenset())) == 1:
            return next(iter(months))
    return 0


@cache
def _months(languages: tuple[str, ...]) -> Mapping[str, frozenset[int]]:
    names: defaultdict[str, set[int]] = defaultdict(set)
    for language in languages:
        try:
            months = Locale.parse(language).months
        except (UnknownLocaleError, ValueError):
            continue
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in months[context][width].items():
                    if not any(map(str.isdigit, name)):
                        names[_key(name)].add(number)
    return {name: frozenset(numbers) for name, numbers in names.items() if len(numbers) == 1 or len(languages) > 1}


def _inflected(key: str, names: Mapping[str, frozenset[int]]) -> frozenset[int]:
    """Return the month whose name a word continues: "septembrī" of "septembr"."""
    found = {months for name, months in names.items() if len(name) >= _STEM and key.startswith(name)}
    return found.pop() if len(found) == 1 else frozenset()


def _key(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold().replace("i̇", "i").strip(".")


def proven_order(text: str) -> bool | None:
    """Return whether the day comes first in those dates of a text that allow one order only.

    None if it has no such date, or they disagree.
    """
    orders: set[bool] = set()
    for match in _NUMBERS.finditer(text):
        first, second = int(match["first"]), int(match["second"])
        if max(first, second) <= 31 and min(first, second) <= 12 < max(first, second):
            orders.add(first > second)
    return orders.pop() if len(orders) == 1 else None


def _in_numbers(match: re.Match[str], place: Place) -> WrittenDay | None:
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    year += 2000 if len(match["year"]) == 2 else 0
    day_month, month_day = _day(year, second, first), _day(year, first, second)
    if not day_month or not month_day or day_month == month_day:
        day = day_month or month_day
        return WrittenDay(day) if day else None
    if match["sign"] == ".":  # nowhere is the month first between dots
        return WrittenDay(day_month)
    if usual_order(place):
        return WrittenDay(day_month, month_day, day_first=True)
    return WrittenDay(month_day, day_month, day_first=False)


def _day(year: int, month: int, day: int) -> datetime.date | None:
    if year >= _FIRST_BUDDHIST:
        year -= _BUDDHIST_YEARS
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None

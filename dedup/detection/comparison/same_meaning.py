"""Whether two numbers, names, dates or units that are written differently mean the same. Pure.

What is said to mean the same is never named as replaced. Where one of two may only be written more exactly, as 27 and
27/01/2024, or is of another kind, as a count and a year, nothing was replaced either: see `comparable`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from itertools import product
from typing import Final

from babel import Locale
from babel.numbers import get_currency_name

from dedup.detection.comparison.prepared import date_words, known_locales

_YEARS = range(1900, 2101)
_SEPARATOR = re.compile(r"[.,:/]")
_THOUSANDS = re.compile(r"\d{1,3}(?:([.,])\d{3})+")
_THOUSANDS_AND_FRACTION = re.compile(r"\d{1,3}(?:([.,])\d{3})+(?!\1)[.,]\d+")
_DIGITS = re.compile(r"\d[\d.,:/]*")
# A whole number so many times as large as a fraction counts something else.
_FAR = Decimal(20)
# With so many digits, commas in other places are a slip: 686,386 and 6,863,86.
_MANY_DIGITS = 5
# A year with so many more digits is one with the mark of a footnote.
_FOOTNOTE_DIGITS = 2
# From so many letters on, the end of a word abbreviates it: UNHRC and HRC.
_SHORTEST_END = 3
# An abbreviation that leaves out letters has no more than these.
_LONGEST_SKIPPING = 5
_VOWELS = frozenset("aeiou")
# From so many equal first letters on, Ukraine and Ukrainian are one name.
_LEAST_STEM = 4
# Shorter units are other words, too: in, at, has.
_SHORTEST_UNIT = 4
# How newspapers call people before their names: exchanging one for another changes no name.
_TITLES: Final = frozenset(
    "mr mrs ms miss mx dr prof professor rev sir lady lord hon honourable president minister secretary director "  # noqa: SIM905 - words, as in a sentence
    "chairman chairperson chairwoman ambassador mp member speaker commissioner governor judge justice general colonel "
    "captain major lieutenant sergeant inspector spokesman spokesperson m mme mlle monsieur madame herr frau señor "
    "señora don doña the a".split()
)
# What newspapers write for them, and CLDR does not.
_SCALES: Final = {"mn": 10**6, "bn": 10**9, "tn": 10**12}


@lru_cache(maxsize=20_000)
def number_values(word: str) -> frozenset[object]:
    """Return what a number may mean: 1.000 is a thousand or one, 09:30 and 9.30 are one time. Never empty."""
    if len(word) == 1:
        return frozenset({Decimal(str(unicodedata.numeric(word, 0.0)))})
    parts = _SEPARATOR.split(word)
    if not all(part.isdecimal() for part in parts):
        return frozenset({word.casefold()})
    found: set[object] = set()
    if _THOUSANDS.fullmatch(word):
        found.add(Decimal("".join(parts)))
    elif _THOUSANDS_AND_FRACTION.fullmatch(word):
        found.add(Decimal(f"{''.join(parts[:-1])}.{parts[-1]}"))
    if len(parts) == 1 or (len(parts) == 2 and "/" not in word and not (found and "," in word)):
        found.add(Decimal(".".join(parts)))
    if len(parts) > 1 and not found:
        found.add(tuple(map(int, parts)))
    if ":" in word:
        found.add(Decimal(".".join(parts[:2])))
    digits = word.replace(",", "")
    if "," in word and digits.isdecimal() and len(digits) >= _MANY_DIGITS:
        found.add(Decimal(digits))
    return frozenset(found or {word})


def same_number(one: str, other: str) -> bool:
    """Return whether two numbers mean the same however they are written: 09 and 9, 4.00 and 4, 1,000 and 1000."""
    return not number_values(one).isdisjoint(number_values(other))


def comparable(one: str, other: str) -> bool:
    """Return whether one of two different numbers can be said to replace the other: both are of one kind.

    Kinds are years, times, and amounts; a rate and a count that is many times larger are not of one kind. Not if one is
    a part of the other: 27 of 27/01/2024, 10 of 10:30, a year and a year with the mark of a footnote.
    """
    if _kind(one) != _kind(other):
        return False
    if _is_whole(one) != _is_whole(other) and not _FAR**-1 < _size(one) / (_size(other) or 1) < _FAR:
        return False
    short, long = sorted((one, other), key=len)
    footnoted = _is_year(short) and long.startswith(short) and len(long) <= len(short) + 1 + _FOOTNOTE_DIGITS
    return not footnoted and not _is_part(short, long)


def _kind(word: str) -> str:
    parts = len(_SEPARATOR.split(word))
    if _is_year(word):
        return "year"
    if ":" in word:
        return "time"
    return "amount" if "/" not in word and (parts <= 2 or _THOUSANDS.match(word)) else "several numbers"


def _is_whole(word: str) -> bool:
    return _SEPARATOR.search(word) is None or _THOUSANDS.fullmatch(word) is not None


def _size(word: str) -> Decimal:
    return max((value for value in number_values(word) if isinstance(value, Decimal)), default=Decimal(1))


def _is_year(word: str) -> bool:
    return len(word) == len("2026") and word.isdecimal() and int(word) in _YEARS


def _is_part(short: str, long: str) -> bool:
    parts, others = ([*map(int, filter(str.isdecimal, _SEPARATOR.split(word)))] for word in (short, long))
    return _kind(long) == "several numbers" and parts in (others[: len(parts)], others[-len(parts) :])


def same_amount(left: str, left_unit: str, right: str, right_unit: str) -> bool:
    """Return whether two numbers with a word after each mean the same: 1500 million and 1.5 billion."""
    scales = [scale_of(left_unit) or 1, scale_of(right_unit) or 1]
    amounts = [
        {value * scale for value in number_values(number) if isinstance(value, Decimal)}
        for number, scale in zip((left, right), scales, strict=True)
    ]
    if scales[0] == scales[1]:
        return not amounts[0].isdisjoint(amounts[1])
    # Of two scales, the larger one is rounded: 1,513,675,780 is 1.5 billion.
    rounded = max(zip(scales, (left, right), amounts, strict=True))
    exact = min(zip(scales, amounts, strict=True), key=lambda pair: pair[0])[1]
    step = rounded[0] * Decimal(10) ** -len(rounded[1].partition(".")[2])
    return any(abs(value - other) <= step / 2 for value in rounded[2] for other in exact)


def other_scale(left: str, right: str) -> bool:
    """Return whether two words mean different powers of ten: million and billion, which look like one misspelt word."""
    # In French, billions are what trillion is in English.
    scales = scale_of(left), scale_of(right)
    return None not in scales and scales[0] != scales[1] and not same_word(left, right)


def same_digits(one: str, other: str) -> bool:
    """Return whether two words with digits in them, as Rs175bn and LKR175bn, have the same numbers."""
    numbers = [_DIGITS.findall(word) for word in (one, other)]
    return len(numbers[0]) == len(numbers[1]) and all(map(same_number, *numbers))


def same_word(one: str, other: str) -> bool:
    """Return whether two words are one, or one abbreviates or inflects the other: Ltd, Sept, km, LKR and Rs."""
    short, long = sorted((_bare(one), _bare(other)), key=len)
    if long.startswith(short[:-1] if len(short) > _LEAST_STEM else short):
        return True
    if _SHORTEST_END <= len(short) <= _LEAST_STEM and long.endswith(short):
        return True
    return _abbreviates(short, long) or any(_is_currency(*pair) for pair in ((one, other), (other, one)))


def same_name(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two names may mean the same: they share a word, abbreviate each other, or are titles alone."""
    names = [[word for word in side if _bare(word) not in _TITLES] for side in (left, right)]
    if not all(names) or any(map(same_word, *zip(*product(*names), strict=True))):
        return True
    short, long = sorted(names, key=len)
    return len(short) == 1 < len(long) and _in_order(short[0].casefold(), "".join(word[0] for word in long).casefold())


def same_kind_of_date(one: str, other: str) -> bool:
    """Return whether both are weekdays, or both are months."""
    weekdays, _ = date_words()
    return (one.casefold() in weekdays) == (other.casefold() in weekdays)


def is_unit(word: str) -> bool:
    """Return whether a word says what is counted, as far as CLDR knows: a measure, a currency, or a million."""
    bare = _bare(word)
    known = bare in _units() or bare[:-1] in _units()
    return scale_of(bare) is not None or (known and len(bare) >= _SHORTEST_UNIT)


def scale_of(word: str) -> int | None:
    """Return the value of a word such as million; None for any other word."""
    return _SCALES.get(word.casefold()) or _scales().get(word.casefold())


def _bare(word: str) -> str:
    """Return a name as it is compared: without the 's of English."""
    return word.casefold().removesuffix("'s").removesuffix("'")


def _abbreviates(short: str, long: str) -> bool:
    """Return whether a word leaves out letters of another, nearly all vowels among them: Ltd, Dr, kgs, Govt."""
    vowels = sum(letter in _VOWELS for letter in short)
    fits = 1 < len(short) <= _LONGEST_SKIPPING and short[0] == long[0] and _in_order(short, long)
    return fits and (not vowels or (vowels == 1 and short[-1] == long[-1]))


def _in_order(letters: str, word: str) -> bool:
    """Return whether a word has these letters in this order."""
    rest = iter(word)
    return all(letter in rest for letter in letters)


def _is_currency(code: str, name: str) -> bool:
    """Return whether a name may be that of the currency with this code: LKR is rupees, and Rs."""
    if code not in Locale("en").currencies:
        return False
    return any(same_word(word, name) for word in get_currency_name(code, 2, "en").split() if word.islower())


@cache
def _units() -> Collection[str]:
    """Return the words for units and currencies in all known languages."""
    found: set[str] = set()
    for locale in known_locales():
        names = [name for forms in locale.unit_display_names.values() for name in forms.values()]
        words = Counter(word for name in locale.currencies.values() for word in name.split())
        # A word in the names of several currencies, or a name of one word, is a currency: dollar, rupee, euro.
        found.update(word.casefold() for word, count in words.items() if count > 1 and word.isalpha())
        found.update(name.casefold() for name in [*names, *locale.currencies.values()] if name.isalpha())
    return found


@cache
def _scales() -> dict[str, int]:
    """Return what a million, a billion and so on are called in all known languages, with their values."""
    found: dict[str, int] = {}
    for locale in known_locales():
        for word, value in _scales_of(locale):
            found.setdefault(word, value)
    return found


def _scales_of(locale: Locale) -> Iterator[tuple[str, int]]:
    for forms in locale.compact_decimal_formats.get("long", {}).values():
        for size, pattern in forms.items():
            zeros, _, word = str(pattern.pattern).partition(" ")
            if word.isalpha() and set(zeros) == {"0"}:
                yield word.casefold(), int(size) // 10 ** (len(zeros) - 1)

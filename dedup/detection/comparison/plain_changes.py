"""Which replacements an editor would call the change of a number, a date or a name, and how to show them. Pure.

The kind of a replacement (alignment.py) says what its words contain. A rewritten stretch may contain a number and is
still no change of a number: here only what is replaced one for one counts, without the words around it, and only if
both differ in meaning. Where one of two may only be written more exactly, as 27 and 27/01/2024, or is of another kind,
as a count and a year, nothing was replaced either: see `comparable`.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from functools import lru_cache
from itertools import product
from typing import Final

from dedup.detection.comparison.alignment import Change, Replacement
from dedup.detection.comparison.language_words import CURRENCIES, SCALES, UNITS, WEEKDAYS
from dedup.detection.comparison.lexicon import DATE, MONTH, NAME, NUMBER, word_kind

# Up to this many other words may be replaced with a number or a date, and with a name.
_OTHERS_BY_A_NUMBER = 2
_OTHERS_BY_A_NAME = 1
# A longer stretch of capitalised words is a list.
_LONGEST_NAME = 4
# A shorter one is an initial, or a word as So and On.
_SHORTEST_NAME = 3
_KINDS: Mapping[Change, Collection[int]] = {Change.NUMBER: (NUMBER,), Change.DATE: (DATE, MONTH), Change.NAME: (NAME,)}


# A few words, most of them numbers and months, are replaced again and again.
_kind_of = lru_cache(maxsize=50_000)(word_kind)


def plain_changes(
    replacements: Iterable[Replacement], vocabularies: tuple[AbstractSet[str], AbstractSet[str]]
) -> list[Replacement | None]:
    """Return replacements as an editor reads them; None for what is rather a rewording.

    What means the same is a change of spelling. What the other article has too, at another place, is a rewording.
    `vocabularies` are the words of both articles, as they are compared.
    """
    known = _Known(*vocabularies)
    return [
        None if change and known.both_have(change) else change
        for replacement in replacements
        for change in _plain(replacement)
    ]


def _plain(replacement: Replacement) -> list[Replacement | None]:
    if replacement.change is Change.SPELLING:
        scaled = other_scale(replacement.left, replacement.right)
        return [replacement._replace(change=Change.UNIT) if scaled else replacement]
    if replacement.change is Change.WORDING:
        return [None]
    if replacement.change is Change.UNIT:
        return [_unit(replacement)]
    left, right = replacement.left.split(), replacement.right.split()
    if replacement.change is Change.NAME:
        return [_name(replacement, left, right) if replacement.alone else None]
    return _numbers(replacement, left, right)


def _unit(replacement: Replacement) -> Replacement | None:
    left, right = replacement.left, replacement.right
    if not replacement.alone or " " in left or " " in right:
        return None
    if same_word(left, right):
        return replacement._replace(change=Change.SPELLING)
    return replacement if is_unit(left) and is_unit(right) else None


def _numbers(replacement: Replacement, left: Sequence[str], right: Sequence[str]) -> list[Replacement | None]:
    """Return what is replaced one for one: the first number by the first one, and so on."""
    cores = _cores(replacement.change, left, right, _OTHERS_BY_A_NUMBER)
    if not cores or len(cores[0]) != len(cores[1]):
        return [None]
    if len(cores[0]) == 1 and replacement.change is Change.NUMBER:
        return [_amount(replacement, left, right)]
    judged = _date if replacement.change is Change.DATE else _number
    return [judged(replacement._replace(left=one, right=other)) for one, other in zip(*cores, strict=True)]


def _number(replacement: Replacement) -> Replacement | None:
    left, right = replacement.left, replacement.right
    if same_number(left, right):
        return replacement._replace(change=Change.SPELLING)
    # In a larger change, one may be a piece of the other: 1 647 and 1,647.
    short, long = sorted((left, right), key=len)
    cut = not replacement.alone and (long.startswith(short) or long.endswith(short))
    return replacement if comparable(left, right) and not cut else None


def _amount(replacement: Replacement, left: Sequence[str], right: Sequence[str]) -> Replacement | None:
    """Return a number that replaces another one, each with the unit after it."""
    amounts = [_first_amount(words) for words in (left, right)]
    plain = replacement._replace(left=amounts[0][0], right=amounts[1][0])
    units = [unit for _, unit in amounts if unit]
    if len(units) < len(amounts) and not any(map(scale_of, units)):
        return _number(plain)
    if same_amount(*amounts[0], *amounts[1]):
        return plain._replace(change=Change.SPELLING)
    return plain._replace(left=" ".join(amounts[0]).strip(), right=" ".join(amounts[1]).strip())


def _first_amount(words: Sequence[str]) -> tuple[str, str]:
    """Return the first number of some words, and the word after it if it is a unit."""
    first = next((place for place, word in enumerate(words) if _kind_of(word) == NUMBER), 0)
    following = words[first + 1] if first + 1 < len(words) else ""
    return words[first], following if is_unit(following) else ""


def _date(replacement: Replacement) -> Replacement | None:
    left, right = replacement.left, replacement.right
    if (left.casefold() in WEEKDAYS) != (right.casefold() in WEEKDAYS):
        return None
    return replacement._replace(change=Change.SPELLING) if same_word(left, right) else replacement


def _name(replacement: Replacement, left: Sequence[str], right: Sequence[str]) -> Replacement | None:
    cores = _cores(Change.NAME, left, right, _OTHERS_BY_A_NAME)
    if not cores or not all(
        len(core) <= _LONGEST_NAME and max(map(len, core), default=0) >= _SHORTEST_NAME for core in cores
    ):
        return None
    shown = replacement._replace(left=" ".join(cores[0]), right=" ".join(cores[1]))
    if all(any(map(str.isdigit, "".join(core))) for core in cores):
        # As Rs175bn and LKR175bn.
        numbers = [_DIGITS.findall(words) for words in (shown.left, shown.right)]
        same, change = len(numbers[0]) == len(numbers[1]) and all(map(same_number, *numbers)), Change.NUMBER
    elif all(_kind_of(" ".join(core).removesuffix("'s")) == DATE for core in cores):
        return _date(shown._replace(change=Change.DATE))
    else:
        same, change = same_name(*cores), Change.NAME
    return shown._replace(change=Change.SPELLING if same else change)


class _Known:
    """The words of both articles, and what their numbers mean."""

    def __init__(self, left: AbstractSet[str], right: AbstractSet[str]) -> None:
        self._sides = left, right
        self._values: list[AbstractSet[object]] = []

    def both_have(self, change: Replacement) -> bool:
        """Return whether the fact of either side is in the other article too, so that nothing was replaced.

        A name is not replaced if either is; a number that is replaced may well be in the text for something else.
        """
        if change.change is Change.NAME:
            return self._has(0, change.right) or self._has(1, change.left)
        if change.change in {Change.NUMBER, Change.DATE}:
            return self._has(0, change.right) and self._has(1, change.left)
        return False

    def _has(self, side: int, fact: str) -> bool:
        return all(self._has_word(side, word) for word in fact.split())

    def _has_word(self, side: int, word: str) -> bool:
        if not word[0].isnumeric():
            return not self._sides[side].isdisjoint({word.casefold(), word.casefold().removesuffix("'s")})
        if not self._values:
            numbers = ([word for word in words if word[0].isnumeric()] for words in self._sides)
            self._values = [frozenset().union(*map(number_values, words)) for words in numbers]
        return not self._values[side].isdisjoint(number_values(word))


def _cores(change: Change, left: Sequence[str], right: Sequence[str], others: int) -> list[list[str]]:
    """Return the words of either side that are of a kind; nothing if a side has more other words than allowed."""
    cores = [[word for word in words if _kind_of(word) in _KINDS[change]] for words in (left, right)]
    most = max(len(words) - len(core) for words, core in zip((left, right), cores, strict=True))
    return cores if most <= others else []


# ---- whether two that are written differently mean the same ----------------------------------------

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


def is_unit(word: str) -> bool:
    """Return whether a word says what is counted, as far as CLDR knows: a measure, a currency, or a million."""
    bare = _bare(word)
    known = bare in UNITS or bare[:-1] in UNITS
    return scale_of(bare) is not None or (known and len(bare) >= _SHORTEST_UNIT)


def scale_of(word: str) -> int | None:
    """Return the value of a word such as million; None for any other word."""
    return SCALES.get(word.casefold())


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
    return any(same_word(word, name) for word in CURRENCIES.get(code, ()))

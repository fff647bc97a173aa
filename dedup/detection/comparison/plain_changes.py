"""Which replacements an editor would call the change of a number, a date or a name, and how to show them. Pure.

The kind of a replacement (alignment.py) says what its words contain. A rewritten stretch may contain a number and is
still no change of a number: here only what is replaced one for one counts, without the words around it, and only if
both differ in meaning (same_meaning.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from dedup.detection.comparison.alignment import Change, Replacement
from dedup.detection.comparison.prepared import DATE, MONTH, NAME, NUMBER, word_kind
from dedup.detection.comparison.same_meaning import (
    comparable,
    is_unit,
    number_values,
    other_scale,
    same_amount,
    same_digits,
    same_kind_of_date,
    same_name,
    same_number,
    same_word,
    scale_of,
)

# Up to this many other words may be replaced with a number or a date, and with a name.
_OTHERS_BY_A_NUMBER = 2
_OTHERS_BY_A_NAME = 1
# A longer stretch of capitalised words is a list.
_LONGEST_NAME = 4
# A shorter one is an initial, or a word as So and On.
_SHORTEST_NAME = 3
_KINDS: Mapping[Change, Collection[int]] = {
    Change.NUMBER: (NUMBER,),
    Change.DATE: (DATE, MONTH),
    Change.NAME: (NAME,),
}


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
    left, right = replacement.left.split(), replacement.right.split()
    if replacement.change is Change.SPELLING:
        scaled = other_scale(replacement.left, replacement.right)
        return [replacement._replace(change=Change.UNIT) if scaled else replacement]
    if replacement.change is Change.WORDING:
        return [None]
    if replacement.change is Change.UNIT:
        return [_unit(replacement)]
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
    if not same_kind_of_date(left, right):
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
        same, change = same_digits(shown.left, shown.right), Change.NUMBER
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

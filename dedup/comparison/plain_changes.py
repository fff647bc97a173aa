"""Which replacements an editor would call the change of a number, a date or a name, and how to show them. Pure.

The kind of a replacement (alignment.py) says what its words contain. A rewritten stretch may contain a number and is
still no change of a number: here only what is replaced one for one counts, without the words around it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from dedup.comparison.alignment import Change, Replacement
from dedup.comparison.prepared import DATE, MONTH, NAME, NUMBER, word_kind

# Up to this many other words may be replaced with a number or a date, and with a name.
_OTHERS_BY_A_NUMBER = 2
_OTHERS_BY_A_NAME = 1
# A longer stretch of capitalised words is a list.
_LONGEST_NAME = 4
# A capital alone is an initial.
_SHORTEST_NAME = 2
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
# Words of so few letters are "of" and "on"; units are too, but then they abbreviate the other word.
_SHORT = 2

_KINDS: Mapping[Change, Collection[int]] = {
    Change.NUMBER: (NUMBER,),
    Change.DATE: (DATE, MONTH),
    Change.NAME: (NAME,),
}


# A few words, most of them numbers and months, are replaced again and again.
_kind_of = lru_cache(maxsize=50_000)(word_kind)


def plain_change(replacement: Replacement) -> Replacement | None:
    """Return a replacement as an editor reads it; None if it is rather a rewording."""
    if replacement.change is Change.SPELLING:
        return replacement
    if replacement.change is Change.WORDING:
        return None
    left, right = replacement.left.split(), replacement.right.split()
    if replacement.change is Change.UNIT:
        return replacement if replacement.alone and _are_after_a_number(left, right) else None
    if replacement.change is Change.NAME:
        return _name(replacement, left, right) if replacement.alone else None
    return _number(replacement, left, right)


def _number(replacement: Replacement, left: Sequence[str], right: Sequence[str]) -> Replacement | None:
    kinds = _KINDS[replacement.change]
    cores = _core(left, kinds), _core(right, kinds)
    if len(cores[0]) != len(cores[1]) or _same(*cores):
        return None
    if max(len(left) - len(cores[0]), len(right) - len(cores[1])) > _OTHERS_BY_A_NUMBER:
        return None
    return _shown(replacement, left, right)


def _name(replacement: Replacement, left: Sequence[str], right: Sequence[str]) -> Replacement | None:
    kinds = _KINDS[Change.NAME]
    cores = _core(left, kinds), _core(right, kinds)
    if max(len(left) - len(cores[0]), len(right) - len(cores[1])) > _OTHERS_BY_A_NAME or _same(*cores):
        return None
    if not all(len(core) <= _LONGEST_NAME and max(map(len, core), default=0) >= _SHORTEST_NAME for core in cores):
        return None
    change = Change.NUMBER if all(any(map(str.isdigit, "".join(core))) for core in cores) else Change.NAME
    return _shown(replacement, left, right)._replace(change=change)


def _shown(replacement: Replacement, left: Sequence[str], right: Sequence[str]) -> Replacement:
    """Return only the words of the kind; with the one word after them, such as a unit, if both sides have one."""
    kinds = _KINDS[replacement.change]
    cores = _core(left, kinds), _core(right, kinds)
    tails = _from_first(left, kinds), _from_first(right, kinds)
    kept = tails if all(len(tail) == len(core) + 1 for tail, core in zip(tails, cores, strict=True)) else cores
    return replacement._replace(left=" ".join(kept[0]), right=" ".join(kept[1]))


def _are_after_a_number(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two words after a number say what is counted, as far as their form shows it."""
    if len(left) != 1 or len(right) != 1 or _ORDINALS & {left[0].casefold(), right[0].casefold()}:
        return False
    if {word_kind(left[0]), word_kind(right[0])} & {DATE, MONTH}:
        return False
    short = [len(word) <= _SHORT for word in (left[0], right[0])]
    return short[0] == short[1] or left[0][0].casefold() == right[0][0].casefold()


def _core(words: Sequence[str], kinds: Collection[int]) -> list[str]:
    return [word for word in words if _kind_of(word) in kinds]


def _from_first(words: Sequence[str], kinds: Collection[int]) -> Sequence[str]:
    first = next((place for place, word in enumerate(words) if _kind_of(word) in kinds), 0)
    return words[first:]


def _same(left: Sequence[str], right: Sequence[str]) -> bool:
    return [word.casefold() for word in left] == [word.casefold() for word in right]

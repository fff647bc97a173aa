"""Learns what a newspaper puts before or after its headlines from the headlines themselves. Pure."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from articles.normalization.text import normalize_text
from articles.normalization.titles import ELLIPSIS, SUFFIX, end_pieces, name_key, plain_title, without_markup

# An affix stands in half of so many neighbouring headlines: a newspaper that has changed its name has two.
WINDOW = 200
SHARE = 0.5
# What stands at the end without a separator may belong to the headline; in nine of ten it surely does not.
SURE_SHARE = 0.9
# What fewer headlines have is a rubric as likely as an affix.
LEAST_HEADLINES = 15
# Longer ones are sentences.
MAX_AFFIX_CHARACTERS = 200
LEAST_ENDING_WORDS, MAX_ENDING_WORDS = 2, 5

_NUMBER = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class _Seen:
    """The headlines that have something at one end, as ascending numbers, and how it is spelt there."""

    places: list[int] = field(default_factory=list)
    spellings: Counter[str] = field(default_factory=Counter)

    def add(self, place: int, spelling: str) -> None:
        if self.places[-1:] != [place]:
            self.places.append(place)
        self.spellings[spelling] += 1

    def spelling(self) -> str:
        """Return the usual spelling."""
        return min(self.spellings, key=lambda each: (-self.spellings[each], each))


# By side and key.
_Candidates = dict[tuple[str, str], _Seen]


def learn_affixes(
    headlines: Iterable[str], known: Sequence[str] = (), *, names: Sequence[str] = (), refused: Sequence[str] = ()
) -> list[str]:
    """Return the affixes of the newspaper that has these headlines, which come in the order of time.

    An affix stands before the first or after the last separators of at least half of some WINDOW neighbouring
    headlines (of all, where there are fewer), and of LEAST_HEADLINES at least. Two to five words at the end of nine
    in ten need no separator, and begin with "…" in the result. Headlines that differ in numbers alone count as one: a
    daily series makes no affix. Those of `known`, learnt before, stay while one headline has them. What
    is one of the `names` already, or `refused`, is left out. Learning again with the result as `known` changes nothing.
    """
    titles = _distinct(headlines)
    pieces = _pieces(titles)
    taken = {name_key(name) for name in (*names, *refused)}
    learnt: list[str] = []
    for name in (*(name for name in known if _occurs(name, titles, pieces)), *_separated(pieces, len(titles))):
        if name_key(name) not in taken:
            taken.add(name_key(name))
            learnt.append(name)
    rests = [plain_title(title, [*names, *learnt]) for title in titles]
    while (ending := _ending(rests)) and name_key(ending) not in taken:
        learnt.append(ending)
        rests = [plain_title(rest, [ending]) for rest in rests]
    return sorted(learnt)


def _distinct(headlines: Iterable[str]) -> list[str]:
    """Return the headlines without markup, each once whatever its numbers are."""
    titles: dict[str, str] = {}
    for title in map(without_markup, headlines):
        titles.setdefault(_NUMBER.sub("0", normalize_text(title)), title)
    titles.pop("", None)
    return list(titles.values())


def _pieces(titles: Sequence[str]) -> _Candidates:
    """Return what stands outside the separators of the titles."""
    pieces: _Candidates = defaultdict(_Seen)
    for place, title in enumerate(titles):
        for side, name, rest in end_pieces(title):
            if len(name) <= MAX_AFFIX_CHARACTERS and _LETTER.search(key := name_key(name)) and normalize_text(rest):
                pieces[side, key].add(place, _whole(name))
    return pieces


def _whole(name: str) -> str:
    """Return a name without the half of a pair of brackets that it stood in."""
    opened, closed = (sum(map(name.count, brackets)) for brackets in ("([（【", ")]）】"))
    return name if opened == closed else name.strip("()[]（）【】 ")


def _separated(pieces: _Candidates, count: int) -> list[str]:
    """Return those that are frequent enough, in their usual spelling, the most frequent first."""
    frequent = {each: seen for each, seen in pieces.items() if _is_frequent(seen.places, count, SHARE)}
    whole = [seen for each, seen in frequent.items() if not _is_part(each, frequent)]
    return [seen.spelling() for seen in sorted(whole, key=lambda seen: (-len(seen.places), seen.spelling()))]


def _is_part(each: tuple[str, str], frequent: _Candidates) -> bool:
    """Return whether a piece stands in longer ones alone: "Example" where all titles end with "News | Example"."""
    side, key = each
    return any(
        side == other_side
        and key != other
        and (other.endswith(key) if side == SUFFIX else other.startswith(key))
        and seen.places == frequent[each].places
        for (other_side, other), seen in frequent.items()
    )


def _ending(titles: Sequence[str]) -> str:
    """Return the words, two to five, with which nearly all titles end without a separator; "" if there are none."""
    tails = [(place, title.split()) for place, title in enumerate(titles)]
    longest = ""
    for length in range(1, MAX_ENDING_WORDS + 1):
        tails = [(place, words) for place, words in tails if len(words) > length]
        endings: defaultdict[str, _Seen] = defaultdict(_Seen)
        for place, words in tails:
            spelling = " ".join(words[-length:])
            endings[normalize_text(spelling)].add(place, spelling)
        frequent = [each for each in endings.items() if _is_frequent(each[1].places, len(titles), SURE_SHARE)]
        if not frequent:
            break
        key, seen = min(frequent, key=lambda each: (-len(each[1].places), each[0]))
        tails = [(place, words) for place, words in tails if normalize_text(" ".join(words[-length:])) == key]
        if len(key.split()) >= LEAST_ENDING_WORDS and _LETTER.search(key):
            longest = f"{ELLIPSIS} {seen.spelling()}"
    return longest if len(longest) <= MAX_AFFIX_CHARACTERS else ""


def _is_frequent(places: Sequence[int], count: int, share: float) -> bool:
    """Return whether some WINDOW neighbours of `count` titles, or all if these are fewer, have this at such a share."""
    needed = max(LEAST_HEADLINES, math.ceil(share * min(WINDOW, count)))
    return any(last - first < WINDOW for first, last in zip(places, places[needed - 1 :], strict=False))


def _occurs(name: str, titles: Sequence[str], pieces: _Candidates) -> bool:
    """Return whether one title at least has this affix."""
    if name.startswith(ELLIPSIS):
        return any(plain_title(title, [name]) != title for title in titles)
    return any(key == name_key(name) for _, key in pieces)

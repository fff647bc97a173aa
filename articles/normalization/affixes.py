"""Learns what a newspaper puts before or after its headlines from the headlines themselves. Pure."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from articles.normalization.text import normalize_text
from articles.normalization.titles import (
    ELLIPSIS,
    MIN_PART_CHARACTERS,
    SUFFIX,
    end_pieces,
    name_key,
    plain_title,
    without_markup,
)

# An affix is in half of this many neighbouring headlines: a newspaper that has changed its name has two affixes.
WINDOW = 200
SHARE = 0.5
# Words at the end without a separator may belong to the headline, but not if nine of ten headlines have them.
SURE_SHARE = 0.9
# In fewer headlines, it may as well be a section name.
LEAST_HEADLINES = 15
# But not if it is so long that it would replace the headline.
LEAST_WITH_LONG = 5
# Longer ones are sentences.
MAX_AFFIX_CHARACTERS = 200
LEAST_ENDING_WORDS, MAX_ENDING_WORDS = 2, 5

_NUMBER = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class _Seen:
    """The indexes of the headlines with a candidate at one end, ascending, and its spellings."""

    places: list[int] = field(default_factory=list)
    spellings: Counter[str] = field(default_factory=Counter)

    def add(self, place: int, spelling: str) -> None:
        if self.places[-1:] != [place]:
            self.places.append(place)
        self.spellings[spelling] += 1

    def spelling(self) -> str:
        return min(self.spellings, key=lambda affix: (-self.spellings[affix], affix))


# By side and key.
_Candidates = dict[tuple[str, str], _Seen]


def learn_affixes(
    headlines: Iterable[str], known: Sequence[str] = (), *, names: Sequence[str] = (), refused: Sequence[str] = ()
) -> list[str]:
    """Return the affixes of the newspaper with these headlines, which are in chronological order.

    An affix is before the first or after the last separators of at least half of some WINDOW neighbouring headlines
    (of all, if there are fewer), and of at least LEAST_HEADLINES, or LEAST_WITH_LONG of a long one. Two to five words
    at the end of nine in ten need no separator, and begin with "…" in the result. Headlines that differ only in
    numbers count as one, so that a daily series is not an affix. Affixes in `known`, learnt before, stay as long as
    one headline has them. Those in `names` or `refused` are left out. Learning again with the result as `known`
    changes nothing.
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
    """Return the headlines without markup; of those that differ only in numbers, the first."""
    titles: dict[str, str] = {}
    for title in map(without_markup, headlines):
        titles.setdefault(_NUMBER.sub("0", normalize_text(title)), title)
    titles.pop("", None)
    return list(titles.values())


def _pieces(titles: Sequence[str]) -> _Candidates:
    """Return the pieces at the ends of the titles, outside their separators."""
    pieces: _Candidates = defaultdict(_Seen)
    for place, title in enumerate(titles):
        for side, name, rest in end_pieces(title):
            if len(name) <= MAX_AFFIX_CHARACTERS and _LETTER.search(key := name_key(name)) and normalize_text(rest):
                pieces[side, key].add(place, _whole(name))
    return pieces


def _whole(name: str) -> str:
    """Return a name without a bracket whose counterpart is missing."""
    opened, closed = (sum(map(name.count, brackets)) for brackets in ("([（【", ")]）】"))
    return name if opened == closed else name.strip("()[]（）【】 ")


def _separated(pieces: _Candidates, count: int) -> list[str]:
    """Return the pieces that are frequent enough, in their usual spelling, the most frequent first."""
    frequent = {piece: seen for piece, seen in pieces.items() if _is_frequent(seen.places, count, SHARE, _least(seen))}
    whole = [seen for piece, seen in frequent.items() if not _is_part(piece, frequent)]
    return [seen.spelling() for seen in sorted(whole, key=lambda seen: (-len(seen.places), seen.spelling()))]


def _is_part(piece: tuple[str, str], frequent: _Candidates) -> bool:
    """Return whether a piece occurs only in longer ones: "Example" if all titles end with "News | Example"."""
    side, key = piece
    return any(
        side == other_side
        and key != other
        and (other.endswith(key) if side == SUFFIX else other.startswith(key))
        and seen.places == frequent[piece].places
        for (other_side, other), seen in frequent.items()
    )


def _ending(titles: Sequence[str]) -> str:
    """Return the two to five words that nearly all titles end with, without a separator; "" if there are none."""
    tails = [(place, title.split()) for place, title in enumerate(titles)]
    longest = ""
    for length in range(1, MAX_ENDING_WORDS + 1):
        tails = [(place, words) for place, words in tails if len(words) > length]
        endings: defaultdict[str, _Seen] = defaultdict(_Seen)
        for place, words in tails:
            spelling = " ".join(words[-length:])
            endings[normalize_text(spelling)].add(place, spelling)
        frequent = [ending for ending in endings.items() if _is_frequent(ending[1].places, len(titles), SURE_SHARE)]
        if not frequent:
            break
        key, seen = min(frequent, key=lambda entry: (-len(entry[1].places), entry[0]))
        tails = [(place, words) for place, words in tails if normalize_text(" ".join(words[-length:])) == key]
        if len(key.split()) >= LEAST_ENDING_WORDS and _LETTER.search(key):
            longest = f"{ELLIPSIS} {seen.spelling()}"
    return longest if len(longest) <= MAX_AFFIX_CHARACTERS else ""


def _least(seen: _Seen) -> int:
    """Return in how many headlines an affix is at least."""
    return LEAST_WITH_LONG if len(normalize_text(seen.spelling())) >= MIN_PART_CHARACTERS else LEAST_HEADLINES


def _is_frequent(places: Sequence[int], count: int, share: float, least: int = LEAST_HEADLINES) -> bool:
    """Return whether this share of some WINDOW neighbouring titles (of all, if `count` is smaller) have the piece."""
    needed = max(least, math.ceil(share * min(WINDOW, count)))
    return any(last - first < WINDOW for first, last in zip(places, places[needed - 1 :], strict=False))


def _occurs(name: str, titles: Sequence[str], pieces: _Candidates) -> bool:
    """Return whether at least one title has this affix."""
    if name.startswith(ELLIPSIS):
        return any(plain_title(title, [name]) != title for title in titles)
    return any(key == name_key(name) for _, key in pieces)

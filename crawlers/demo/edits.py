"""How a text changes from one print to the next: pure functions over paragraphs and headlines."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain, zip_longest

from crawlers.demo.papers import PHRASES

Paragraphs = tuple[str, ...]

_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][”’\"])\s+")
_FILLERS = re.compile(r"\b(?:about (?=\d)|(?:already|also|at least|more than|nearly|very) (?=\w))")
_CLAUSE = re.compile(r"[,;:.](?=\s|\Z)|\s[–—]\s")
# Words that no headline ends with.
_SMALL_WORDS = frozenset((
    "a", "an", "and", "are", "at", "been", "by", "for", "from", "has", "have", "in", "is", "it", "its",
    "more", "of", "on", "or", "that", "the", "to", "who", "will", "with",
))  # fmt: skip
_DATELINE = re.compile(r"\A[A-Z]{3,}[^().]{0,40} \([^)]+\) [-–—] ")


def misspelt(paragraphs: Paragraphs) -> Paragraphs:
    """Return the paragraphs with one letter doubled, in the middle of the longest word of the second paragraph."""
    first, second, *rest = paragraphs
    words = [match for match in _WORD.finditer(second) if _doubling_place(match[0])]
    if word := max(words, key=lambda match: len(match[0]), default=None):
        place = word.start() + _doubling_place(word[0])
    else:
        # Scripts without blanks, or with marks between the letters: a letter near the middle that no mark follows.
        kinds = [unicodedata.category(letter)[0] for letter in second]
        places = sorted(range(len(second) - 1), key=lambda place: abs(place - len(second) // 2))
        place = next(place for place in places if kinds[place] == "L" and kinds[place + 1] in "LZ")
    return (first, second[: place + 1] + second[place:], *rest)


def _doubling_place(word: str) -> int:
    """Return the place of the letter nearest the middle that differs from its neighbours; 0 if there is none."""
    middle = len(word) // 2
    places = sorted(range(1, len(word) - 1), key=lambda place: abs(place - middle))
    return next((place for place in places if word[place] not in (word[place - 1], word[place + 1])), 0)


def for_carrack(headline: str, paragraphs: Paragraphs) -> tuple[str, Paragraphs]:
    """Return headline and text with the first town they name replaced by Carrack; unchanged if they name none."""
    text = "\n".join((headline, *paragraphs))
    named = [town for town in PHRASES["towns"] if town in text]
    if not named or "Carrack" in text:
        return headline, paragraphs
    town = min(named, key=text.index)
    return headline.replace(town, "Carrack"), tuple(paragraph.replace(town, "Carrack") for paragraph in paragraphs)


def with_local_ending(paragraphs: Paragraphs, number: int) -> Paragraphs:
    """Return the paragraphs with the last sentence replaced by one from the Carrack office."""
    *rest, last = paragraphs
    return (*rest, " ".join([*_SENTENCE_BREAK.split(last)[:-1], _chosen("closing_lines", number)]))


def _chosen(name: str, number: int) -> str:
    phrases: list[str] = PHRASES[name]
    return phrases[number % len(phrases)]


def shortened(paragraphs: Paragraphs) -> Paragraphs:
    """Return the paragraphs without their filler words and without the third one."""
    tightened = tuple(_FILLERS.sub("", paragraph) for paragraph in paragraphs)
    return tightened[:2] + tightened[3:]


def amended(paragraphs: Paragraphs, number: int) -> Paragraphs:
    """Return the paragraphs without their filler words and with a note of the editors at the end."""
    return (*(_FILLERS.sub("", paragraph) for paragraph in paragraphs), _chosen("amendments", number))


def with_dateline(paragraphs: Paragraphs, place: str, agency: str) -> Paragraphs:
    """Return the paragraphs with place and agency before the first word."""
    first, *rest = paragraphs
    return (f"{place.upper()} ({agency}) – {first}", *rest)


def without_dateline(paragraphs: Paragraphs) -> Paragraphs:
    """Return the paragraphs without the dateline that wire copy begins with."""
    first, *rest = paragraphs
    return (_DATELINE.sub("", first), *rest)


def with_teasers(paragraphs: Paragraphs, teasers: Sequence[str]) -> Paragraphs:
    """Return the paragraphs with a teaser after each of the first ones, until the teasers run out."""
    pairs = zip_longest(paragraphs, teasers[: len(paragraphs)], fillvalue="")
    return tuple(filter(None, chain.from_iterable(pairs)))


def in_brief(paragraphs: Paragraphs, least: int = 90) -> Paragraphs:
    """Return the first sentences of a text, as few as have `least` characters together and close their quotations."""
    kept = ""
    for sentence in _SENTENCE_BREAK.split(" ".join(paragraphs)):
        kept = f"{kept} {sentence}".strip()
        is_closed = kept.count("“") == kept.count("”") and kept.count('"') % 2 == 0
        if len(kept) >= least and is_closed:
            break
    return (kept,)


def headline_case(headline: str) -> str:
    """Return the headline with a capital at the beginning of each word."""
    return " ".join(word[:1].upper() + word[1:] for word in headline.split())


def lead_headline(paragraphs: Paragraphs) -> str:
    """Return another headline for a text: the first clause of its lead, or at most nine of its first words."""
    clause = _CLAUSE.split(paragraphs[0])[0]
    words = paragraphs[0].split()
    if 5 <= len(clause.split()) <= 12:
        return clause
    end = next(end for end in range(min(9, len(words)), 0, -1) if words[end - 1] not in _SMALL_WORDS)
    return " ".join(words[:end]).rstrip(",;:") + " …"

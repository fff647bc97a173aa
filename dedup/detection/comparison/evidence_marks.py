"""Where two articles have what a pass found: the stretches of their contents that it compared and found equal. Pure.

Each function divides the texts as its pass does; the kernels do the same with hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from articles.normalization.sentences import located_sentences
from articles.normalization.text import normalize_text
from dedup.detection.comparison.located import Located, Span, normalized
from dedup.detection.kernels.masked_shingles import SHINGLE_WORDS, masked, words_of
from dedup.detection.kernels.stopwords import language_of, stop_words
from dedup.detection.types import Mark

_STOP_WORD_SHINGLE = 3


class PairMarks(NamedTuple):
    """Stretches of the left and of the right content, in order, and how many different things both have."""

    left: Sequence[Span]
    right: Sequence[Span]
    shared: int


NO_MARKS = PairMarks((), (), 0)

# What a text is divided into: a thing, which may be in the other text too, and where it is in the located text.
_Things = Iterator[tuple[Any, Span]]
Settings = Mapping[str, Any]


def marks_of(mark: Mark, left: Located, right: Located, settings: Settings) -> PairMarks:
    """Return what a pass with this mark and these settings found in two texts as they are compared.

    NO_MARKS if it compares no texts. Stretches that the pass ignores because very many articles have them
    are marked too: that is not known here.
    """
    return _MARKERS[mark](left, right, settings) if mark in _MARKERS else NO_MARKS


def _whole(left: Located, right: Located, _settings: Settings) -> PairMarks:
    """Mark both texts if they are equal."""
    one, other = normalized(left), normalized(right)
    if one.text != other.text or not one.text:
        return NO_MARKS
    return PairMarks(one.spans([(0, len(one.text))]), other.spans([(0, len(other.text))]), 1)


def _prefix(left: Located, right: Located, settings: Settings) -> PairMarks:
    """Mark what is compared at all."""
    one, other = (normalized(text).head(settings["prefix"]) for text in (left, right))
    return PairMarks(one.spans([(0, len(one.text))]), other.spans([(0, len(other.text))]), 1)


def _sentences(left: Located, right: Located, settings: Settings) -> PairMarks:
    return _shared(left, right, lambda text: _sentences_of(text, settings["minimum_characters"]))


def _character_shingles(left: Located, right: Located, settings: Settings) -> PairMarks:
    one, other = (normalized(text).head(settings["prefix"]) for text in (left, right))
    return _shared(one, other, lambda text: _characters_of(text.text, settings["shingle"]))


def _stop_word_shingles(left: Located, right: Located, settings: Settings) -> PairMarks:
    one, other = (normalized(text).head(settings["prefix"]) for text in (left, right))
    return _shared(one, other, lambda text: _stop_words_of(text.text))


def _masked_shingles(left: Located, right: Located, _settings: Settings) -> PairMarks:
    return _shared(normalized(left), normalized(right), lambda text: _phrases_of(text.text))


def _shared(left: Located, right: Located, things_of: Callable[[Located], _Things]) -> PairMarks:
    one, other = list(things_of(left)), list(things_of(right))
    shared = {thing for thing, _ in one} & {thing for thing, _ in other}
    return PairMarks(
        left.spans(span for thing, span in one if thing in shared),
        right.spans(span for thing, span in other if thing in shared),
        len(shared),
    )


def _sentences_of(text: Located, minimum: int) -> _Things:
    for sentence in located_sentences(text.text):
        key = normalize_text(sentence.text)
        if len(key) >= minimum:
            yield key, (sentence.start, sentence.end)


def _characters_of(text: str, size: int) -> _Things:
    for start in range(max(len(text) - size + 1, min(len(text), 1))):
        yield text[start : start + size], (start, min(start + size, len(text)))


def _stop_words_of(text: str) -> _Things:
    language = language_of(text)
    words = _located_words(text, text.split())
    stops = stop_words(language) if language else frozenset[str]()
    for place in range(len(words) - _STOP_WORD_SHINGLE + 1):
        if words[place][0] in stops:
            shingle = words[place : place + _STOP_WORD_SHINGLE]
            yield tuple(word for word, _ in shingle), (shingle[0][1][0], shingle[-1][1][1])


def _phrases_of(text: str) -> _Things:
    words = _located_words(text, words_of(text))
    for place in range(max(len(words) - SHINGLE_WORDS + 1, min(len(words), 1))):
        shingle = words[place : place + SHINGLE_WORDS]
        yield tuple(masked(word) for word, _ in shingle), (shingle[0][1][0], shingle[-1][1][1])


def _located_words(text: str, words: Sequence[str]) -> list[tuple[str, Span]]:
    found: list[tuple[str, Span]] = []
    place = 0
    for word in words:
        start = text.index(word, place)
        place = start + len(word)
        found.append((word, (start, place)))
    return found


_MARKERS: Mapping[Mark, Callable[[Located, Located, Settings], PairMarks]] = {
    Mark.TEXT: _whole,
    Mark.BEGINNING: _prefix,
    Mark.CHARACTERS: _character_shingles,
    Mark.STOP_WORDS: _stop_word_shingles,
    Mark.SENTENCES: _sentences,
    Mark.PHRASES: _masked_shingles,
}

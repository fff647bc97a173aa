"""Where two articles have what a pass found: the stretches of their contents that it compared and found equal. Pure.

Each function divides the texts as its pass does; the kernels do the same with hashes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from articles.normalization.sentences import located_sentences
from articles.normalization.text import normalize_text
from dedup.detection.comparison.located import Located, normalized
from dedup.detection.comparison.prepared import Span
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
    if mark not in _MARKERS:
        return NO_MARKS
    form, things_of = _MARKERS[mark]
    texts = [form(text, settings) for text in (left, right)]
    one, other = (list(things_of(text.text, settings)) for text in texts)
    shared = {thing for thing, _ in one} & {thing for thing, _ in other}
    return PairMarks(
        texts[0].spans(span for thing, span in one if thing in shared),
        texts[1].spans(span for thing, span in other if thing in shared),
        len(shared),
    )


def _head(text: Located, settings: Settings) -> Located:
    return normalized(text).head(settings["prefix"])


def _whole(text: str, _settings: Settings) -> _Things:
    if text:
        yield text, (0, len(text))


def _compared(text: str, _settings: Settings) -> _Things:
    """Yield what is compared at all, which both texts have."""
    yield Mark.BEGINNING, (0, len(text))


def _sentences_of(text: str, settings: Settings) -> _Things:
    for sentence in located_sentences(text):
        key = normalize_text(sentence.text)
        if len(key) >= settings["minimum_characters"]:
            yield key, (sentence.start, sentence.end)


def _characters_of(text: str, settings: Settings) -> _Things:
    size = settings["shingle"]
    for start in range(max(len(text) - size + 1, min(len(text), 1))):
        yield text[start : start + size], (start, min(start + size, len(text)))


def _stop_words_of(text: str, _settings: Settings) -> _Things:
    language = language_of(text)
    stops = stop_words(language) if language else frozenset[str]()
    for words, span in _shingles(text, text.split(), _STOP_WORD_SHINGLE):
        if words[0] in stops and len(words) == _STOP_WORD_SHINGLE:
            yield words, span


def _phrases_of(text: str, _settings: Settings) -> _Things:
    for words, span in _shingles(text, words_of(text), SHINGLE_WORDS):
        yield tuple(map(masked, words)), span


def _shingles(text: str, words: Sequence[str], size: int) -> Iterator[tuple[tuple[str, ...], Span]]:
    """Yield every `size` words in a row, or all if they are fewer, and where they are."""
    starts: list[int] = []
    place = 0
    for word in words:
        starts.append(text.index(word, place))
        place = starts[-1] + len(word)
    for place in range(max(len(words) - size + 1, min(len(words), 1))):
        last = min(place + size, len(words)) - 1
        yield tuple(words[place : last + 1]), (starts[place], starts[last] + len(words[last]))


# Of each mark, the form of a text that is divided, and what divides it.
_MARKERS: Mapping[Mark, tuple[Callable[[Located, Settings], Located], Callable[[str, Settings], _Things]]] = {
    Mark.TEXT: (lambda text, _: normalized(text), _whole),
    Mark.BEGINNING: (_head, _compared),
    Mark.CHARACTERS: (_head, _characters_of),
    Mark.STOP_WORDS: (_head, _stop_words_of),
    Mark.SENTENCES: (lambda text, _: text, _sentences_of),
    Mark.PHRASES: (lambda text, _: normalized(text), _phrases_of),
}

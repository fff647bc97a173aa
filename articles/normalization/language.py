"""Detects the language of a text by letter sequences (langid: Lui, Baldwin 2011), offline. Pure."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from babel import Locale
from numpy.typing import NDArray
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from articles.normalization.text import letters

# In ten languages, each sentence of this length was recognised or left open, and none was mistaken.
MIN_LETTERS = 40
# The beginning is enough for most texts; more is read of the others.
SAMPLES = (120, 240, 1_000)
# What is read of a text, with its blanks.
_READ = 2 * SAMPLES[-1]
MIN_PROBABILITY = 0.8
# The language that the page declares is believed if the text makes it this likely.
MIN_DECLARED_PROBABILITY = 0.3
# The languages of newspapers, out of those in the model, which would take some for dialects or dead languages.
LANGUAGES = frozenset({
    "af", "am", "ar", "as", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "dv", "el", "en", "eo", "es",
    "et", "eu", "fa", "fi", "fr", "fy", "ga", "gl", "gu", "ha", "he", "hi", "hr", "ht", "hu", "hy", "id", "ig", "is",
    "it", "ja", "ka", "kk", "km", "kn", "ko", "ku", "ky", "lb", "lo", "lt", "lv", "mg", "mk", "ml", "mn", "mr", "ms",
    "mt", "my", "ne", "nl", "no", "or", "pa", "pl", "ps", "pt", "ro", "ru", "rw", "sd", "si", "sk", "sl", "so", "sq",
    "sr", "sv", "sw", "ta", "te", "tg", "th", "tk", "tl", "tr", "ug", "uk", "ur", "uz", "vi", "xh", "yo", "zh", "zu",
})  # fmt: skip
# For fewer texts, reading them together takes longer than one after the other.
_MANY = 50
# Codes that a page or the model may give for languages that letters do not distinguish.
_SAME = {"nb": "no", "nn": "no", "fil": "tl", "iw": "he", "in": "id", "cmn": "zh"}


def language_name(code: str) -> str:
    """Return the English name of a language by its ISO 639 code; an unknown code is returned as it is."""
    return Locale("en").languages.get(code, code)


def detect_language(text: str, declared: str = "") -> str:
    """Return the ISO 639 code of the text's language; empty if the text is too short or the language uncertain.

    `declared` is the language that the page declares; it decides if the text alone leaves doubt.
    """
    return detect_languages([text], declared)[0]


def detect_languages(texts: Sequence[str], declared: str = "") -> list[str]:
    """Return the same for many texts, in less time than one after the other."""
    declared = _SAME.get(declared, declared)
    beginnings = [_beginning(text) for text in texts]
    languages = dict.fromkeys(range(len(texts)), "")
    left = [place for place, beginning in enumerate(beginnings) if beginning]
    for length in SAMPLES:
        if not left:
            break
        samples = [beginnings[place][:length] for place in left]
        found = _identifier().classify_all(samples)
        doubtful = []
        for place, sample, (language, probability) in zip(left, samples, found, strict=True):
            if probability >= MIN_PROBABILITY:
                languages[place] = language
            elif len(beginnings[place]) > length < SAMPLES[-1]:
                doubtful.append(place)
                beginnings[place] = _joined(texts[place][:_READ])
            else:
                likely = dict(_identifier().rank(sample)) if declared else {}
                languages[place] = declared if likely.get(declared, 0) >= MIN_DECLARED_PROBABILITY else ""
        left = doubtful
    return list(languages.values())


def _beginning(text: str) -> str:
    """Return the beginning with single blanks, of most texts little more than the first sample; empty if too short."""
    first = _joined(text[: 2 * SAMPLES[0]])
    if len(first) > SAMPLES[0] and letters(first[: SAMPLES[0]]) >= MIN_LETTERS:
        return first
    more = _joined(text[:_READ])
    return more if letters(more) >= MIN_LETTERS else ""


def _joined(text: str) -> str:
    return " ".join(text.split())


class _Identifier(LanguageIdentifier):
    """langid with a faster way through many texts: its automaton reads one byte of each of them at a time.

    Their scores become probabilities together too. All of it is what langid does for one text.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._moves = np.asarray(self.tk_nextmove)
        self._rows = np.asarray(self._rowbase, dtype=np.int64)
        self._features = np.asarray(self.tk_output, dtype=np.int64)

    def classify_all(self, samples: Sequence[str]) -> list[tuple[str, float]]:
        """Return the language of each text and its probability."""
        if len(samples) < _MANY:
            return [self.classify(sample) for sample in samples]
        encoded = [self._encode(sample) for sample in samples]
        scores = self._scores(encoded)
        # As _decide of langid.
        scores *= np.array([1.0 / math.sqrt(len(text) or 1) for text in encoded], dtype=np.float32)[:, None]
        np.exp(scores - scores.max(axis=1, keepdims=True), out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        for first, same in self._alias_pairs:
            scores[:, first] += scores[:, same]
            scores[:, same] = 0.0
        best = scores.argmax(axis=1)
        probabilities = scores[np.arange(len(scores)), best].tolist()
        return [(self.nb_classes[place], found) for place, found in zip(best.tolist(), probabilities, strict=True)]

    def _scores(self, texts: Sequence[bytes]) -> NDArray[np.float32]:
        """Return the score of each language for each text; 0 for texts without features."""
        scores = np.zeros((len(texts), len(self.nb_classes)), dtype=np.float32)
        order, visited = self._walk(texts)
        of_text, place = np.nonzero(visited >= 0)
        base = int(self._features.max()) + 1
        keys, counts = np.unique(of_text * base + visited[of_text, place], return_counts=True)
        features, rows = np.unique(keys % base, return_inverse=True)
        # Many texts share a feature, and the table of all is large and in halves of a float.
        table, weights = self.nb_ptc[features].astype(np.float32), np.log1p(counts.astype(np.float32))
        bounds = np.searchsorted(keys, np.arange(len(texts) + 1) * base).tolist()
        for text, begin, end in zip(order, bounds, bounds[1:], strict=False):
            if begin < end:
                scores[text] = weights[begin:end] @ table[rows[begin:end]] + self.nb_pc
        return scores

    def _walk(self, texts: Sequence[bytes]) -> tuple[list[int], NDArray[np.int64]]:
        """Return the places of the texts, the longest first, and for each of them the features at its bytes, or -1."""
        # So those which have a byte at a place are always the first ones.
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        lengths = np.array([len(texts[place]) for place in order])
        longest = int(lengths[0])
        padded = b"".join(texts[place].ljust(longest, b"\0") for place in order)
        letters_at = np.frombuffer(padded, dtype=np.uint8).reshape(len(texts), longest).T
        found = np.full((longest, len(texts)), -1, dtype=np.int64)
        states: NDArray[np.int64] = np.zeros(len(texts), dtype=np.int64)
        for place in range(longest):
            here = int(np.searchsorted(-lengths, -place))
            states = self._moves[self._rows[states[:here]] + letters_at[place, :here]].astype(np.int64)
            found[place, :here] = self._features[states]
        return order, np.ascontiguousarray(found.T)


@cache
def _identifier() -> _Identifier:
    """Return the model, which takes a second to load."""
    identifier: _Identifier = _Identifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(LANGUAGES & set(identifier.labels))
    return identifier

"""Detects the language of a text by letter sequences (langid: Lui, Baldwin 2011), offline. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from articles.normalization.text import letters

# In ten languages, each sentence of this length was recognised or left open, and none was mistaken.
MIN_LETTERS = 40
# The beginning is enough for most texts; more is read of the others.
SAMPLES = (120, 240, 1_000)
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


def detect_language(text: str, declared: str = "") -> str:
    """Return the ISO 639 code of the text's language; empty if the text is too short or the language uncertain.

    `declared` is the language that the page declares; it decides if the text alone leaves doubt.
    """
    return detect_languages([text], declared)[0]


def detect_languages(texts: Sequence[str], declared: str = "") -> list[str]:
    """Return the same for many texts, in less time than one after the other."""
    declared = _SAME.get(declared, declared)
    beginnings = [" ".join(text[: 2 * SAMPLES[-1]].split()) for text in texts]
    languages = dict.fromkeys(range(len(texts)), "")
    left = [place for place, beginning in enumerate(beginnings) if _is_long_enough(beginning)]
    for length in SAMPLES:
        samples = [beginnings[place][:length] for place in left]
        doubtful = []
        for place, sample, (language, probability) in zip(left, samples, _classified(samples), strict=True):
            if probability >= MIN_PROBABILITY:
                languages[place] = language
            elif len(beginnings[place]) > length < SAMPLES[-1]:
                doubtful.append(place)
            else:
                languages[place] = _if_likely(declared, sample)
        left = doubtful
    return list(languages.values())


def _is_long_enough(beginning: str) -> bool:
    return letters(beginning[: SAMPLES[1]]) >= MIN_LETTERS or letters(beginning) >= MIN_LETTERS


def _if_likely(declared: str, sample: str) -> str:
    likely = dict(_identifier().rank(sample)) if declared else {}
    return declared if likely.get(declared, 0) >= MIN_DECLARED_PROBABILITY else ""


def _classified(samples: Sequence[str]) -> list[tuple[str, float]]:
    return _identifier().classify_all(samples) if samples else []


class _Identifier(LanguageIdentifier):
    """langid with a faster way through many texts: its automaton reads one byte of each of them at a time.

    Only the features of the texts are counted in this way; what langid makes of them is left to it.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._moves = np.asarray(self.tk_nextmove)
        self._rows = np.asarray(self._rowbase, dtype=np.int64)
        self._features = np.asarray(self.tk_output, dtype=np.int64)
        self._counted: dict[bytes, Counter[int]] = {}

    def classify_all(self, samples: Sequence[str]) -> list[tuple[str, float]]:
        """Return the language of each text and its probability."""
        if len(samples) >= _MANY:
            encoded = [self._encode(sample) for sample in samples]
            self._counted = dict(zip(encoded, map(Counter, self._walk(encoded)), strict=True))
        classified = [self.classify(sample) for sample in samples]
        self._counted = {}
        return classified

    def _raw_score(self, text: bytes) -> Any:
        visits = self._counted.get(text)
        return self._sparse_score(visits, self.nb_ptc) if visits else super()._raw_score(text)

    def _walk(self, texts: Sequence[bytes]) -> list[list[int]]:
        """Return the features of each text in the order in which they occur."""
        # The longest first, so that those which have a byte at a place are always the first ones.
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
        columns = np.ascontiguousarray(found.T)
        by_text = dict(zip(order, (column[column >= 0].tolist() for column in columns), strict=True))
        return [by_text[place] for place in range(len(texts))]


@cache
def _identifier() -> _Identifier:
    """Return the model, which takes a second to load."""
    identifier: _Identifier = _Identifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(LANGUAGES & set(identifier.labels))
    return identifier

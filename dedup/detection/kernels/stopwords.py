"""Texts as sets of stop-word shingles: a stop word and the two words after it.

News is written in sentences, which are full of stop words; advertisements, menus and lists of links are not. So
these shingles come from the article, and rarely from the page around it.
Source: Theobald, Siddharth and Paepcke, SpotSigs, SIGIR 2008; Leskovec, Rajaraman and Ullman, MMDS, 3.9.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import stopwordsiso

from articles.normalization.text import normalize_text
from dedup.detection.kernels.tokens import HASH_BITS, ODD, IntArray, Ragged, distinct

# Enough words to recognise the language of an article.
_WORDS_OF_LANGUAGE = 200


class _StopLists(NamedTuple):
    """The stop lists, and for each stop word its row in `lists`, which marks its languages."""

    languages: tuple[str, ...]
    words: tuple[frozenset[str], ...]
    rows: dict[str, int]
    lists: npt.NDArray[np.bool_]  # shape (stop words, languages)


class _MarkedWords(dict[str, int]):
    """63 bits of BLAKE2b of each word, the same on every machine, and the lowest bit set for a stop word.

    Filled as words are looked up: one lookup gives both.
    """

    def __init__(self, stop_words: frozenset[str]) -> None:
        super().__init__()
        self.stop_words = stop_words

    def __missing__(self, word: str) -> int:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        marked = int.from_bytes(digest, "little") & ~1 | (word in self.stop_words)
        self[word] = marked
        return marked


def stop_words(language: str) -> frozenset[str]:
    """Return the normalised stop words of a language by its ISO 639-1 code; KeyError if it has no list."""
    known = _stop_lists()
    return dict(zip(known.languages, known.words, strict=True))[language]


def language_of(text: str) -> str | None:
    """Return the language whose stop list has most of the first 200 words of a normalised text; None if no list does.

    Of equally good languages, the first by its code. Each list is in its language's script, so the result is a
    language written in the script of the text.
    """
    place = _language_place(text.split(maxsplit=_WORDS_OF_LANGUAGE)[:_WORDS_OF_LANGUAGE])
    return None if place is None else _stop_lists().languages[place]


def stop_word_shingle_sets(texts: Sequence[str]) -> Ragged:
    """Return the set of hashes of the stop-word shingles of each normalised text; HASH_BITS wide.

    Empty for a text in a language without a stop list (Sinhala, Tamil), and nearly empty for one written without
    blanks between words (Chinese, Japanese, Thai).
    """
    marked = [_MarkedWords(word) for word in _stop_lists().words]
    return Ragged.of([_shingles(text.split(), marked) for text in texts], np.int64)


def _shingles(words: list[str], marked: list[_MarkedWords]) -> IntArray:
    language = _language_place(words[:_WORDS_OF_LANGUAGE])
    if language is None or len(words) < 3:
        return np.empty(0, dtype=np.int64)
    hashed = np.fromiter(map(marked[language].__getitem__, words), dtype=np.uint64, count=len(words))
    starts = np.flatnonzero(hashed[:-2] & np.uint64(1))
    hashed &= ~np.uint64(1)
    # The words' hashes are random already, so a polynomial of them is as good as a hash of the three.
    shingles = (hashed[starts] * ODD + hashed[starts + 1]) * ODD + hashed[starts + 2]
    return distinct((shingles >> np.uint64(64 - HASH_BITS)).astype(np.int64))


def _language_place(words: list[str]) -> int | None:
    known = _stop_lists()
    rows = [row for row in map(known.rows.get, words) if row is not None]
    return int(np.count_nonzero(known.lists[rows], axis=0).argmax()) if rows else None


@cache
def _stop_lists() -> _StopLists:
    languages = tuple(sorted(stopwordsiso.langs()))
    words = tuple(_normalized(language) for language in languages)
    rows = {word: row for row, word in enumerate(sorted(frozenset().union(*words)))}
    lists = np.zeros((len(rows), len(languages)), dtype=np.bool_)
    for place, own_words in enumerate(words):
        lists[[rows[word] for word in own_words], place] = True
    return _StopLists(languages, words, rows, lists)


def _normalized(language: str) -> frozenset[str]:
    """Return the entries of a stop list that normalise to one word without digits ("don't" makes two)."""
    normalized = map(normalize_text, stopwordsiso.stopwords(language))
    return frozenset(
        word for word in normalized if word and not any(character == " " or character.isdigit() for character in word)
    )

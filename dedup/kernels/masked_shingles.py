"""Texts as sets of word shingles in which all numbers are equal: copies share most of them, and so do forms.

The sets are stored and compared later, on any machine, so their hashes depend on the words alone.
Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from dedup.kernels.tokens import IntArray, distinct

Hashes = npt.NDArray[np.uint32]

# Words per shingle: as many as the full comparison counts.
SHINGLE_WORDS = 4
_MASK = "#"
# Characters that are words by themselves, with their marks, because their scripts have no blanks between words.
_SOLO = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"[{_SOLO}]\p{{M}}*|[^\s{_SOLO}]+")
# The blocks of these scripts, and a little more: a quick test with the faster of the two libraries of patterns.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\ua9ff\uaa60-\uaa7f\uf900-\uffff\U000116d0-\U000116ff\U00016fe0-\U0003ffff]"
)
# The hash of what is several words: characters of such scripts, with or without others, and no blank in between.
_TO_DIVIDE = 0
# The golden ratio of 64 bits: multiplying by it spreads neighbouring values (Knuth, TAOCP 6.4).
_ODD = np.uint64(0x9E3779B97F4A7C15)
_WIDTH = np.uint64(32)
# The part of a set that is looked up.
_EVERY = 8
_LOWEST = 4


class ShingleSets(NamedTuple):
    """Sets of hashes, 32 bits each: set i is values[offsets[i]:offsets[i + 1]], ascending and distinct."""

    values: Hashes
    offsets: IntArray

    @property
    def sizes(self) -> IntArray:
        """Return the number of members of each set."""
        return np.diff(self.offsets)


def masked_shingle_sets(texts: Sequence[str]) -> ShingleSets:
    """Return the set of hashes of every four consecutive words of each normalised text.

    A word is what is between blanks or, in a script without blanks, one character. Words with a digit are equal. A text
    of one to three words has one shingle, an empty one none. The hashes are the same on every machine. Two different
    shingles have one hash with a probability of 2^-32: of the shingles of a million articles, every twelfth meets one.
    """
    known = _WordHashes()
    sets = [_shingles(text, known) for text in texts]
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    return ShingleSets(np.concatenate([np.empty(0, dtype=np.uint32), *sets]), offsets)


def sample_of(hashes: Hashes) -> Hashes:
    """Return the shingles of a set by which a text is found: every eighth, and the lowest ones of a short text.

    Which ones depends on the shingles alone, so that two texts that share enough share some of these: of 50 words in a
    row, 47 shingles, with a probability of 0.998.
    Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997 (the sketch V, modulo m).
    """
    return distinct(np.concatenate([hashes[:_LOWEST], hashes[hashes % _EVERY == 0]]))


def words_of(text: str) -> list[str]:
    """Return the words of a normalised text, as its shingles have them; numbers are not masked."""
    words = text.split()
    return words if text.isascii() or not _UNSPACED.search(text) else _WORD.findall(text)


def masked(word: str) -> str:
    """Return a word as it is hashed: words with a digit are equal."""
    return _MASK if any(map(str.isdigit, word)) else word


class _WordHashes(dict[str, int]):
    """64 bits of BLAKE2b of each word, filled as words are looked up."""

    def __missing__(self, word: str) -> int:
        if not word.isascii() and not _WORD.fullmatch(word):
            hashed = _TO_DIVIDE
        else:
            digest = hashlib.blake2b(masked(word).encode("utf-8", "surrogatepass"), digest_size=8).digest()
            hashed = int.from_bytes(digest, "little") or 1
        self[word] = hashed
        return hashed


def _shingles(text: str, known: _WordHashes) -> Hashes:
    words = text.split()
    hashed = np.fromiter(map(known.__getitem__, words), dtype=np.uint64, count=len(words))
    if not hashed.all():
        words = _WORD.findall(text)
        hashed = np.fromiter(map(known.__getitem__, words), dtype=np.uint64, count=len(words))
    count = max(len(words) - SHINGLE_WORDS + 1, min(len(words), 1))
    mixed = np.zeros(count, dtype=np.uint64)
    for place in range(min(SHINGLE_WORDS, len(words))):
        mixed ^= hashed[place : place + count]
        mixed *= _ODD
        mixed ^= mixed >> np.uint64(29)
    return distinct((mixed >> _WIDTH).astype(np.uint32))

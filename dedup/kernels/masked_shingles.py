"""Texts as sets of word shingles in which all numbers are equal: copies share most of them, and so do forms.

The sets are stored and compared later, on any machine, so their hashes depend on the words alone.
Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import chain, pairwise
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
_TO_DIVIDE = bytes(8)
_NOT_ZERO = (1).to_bytes(8, "little")
# The golden ratio of 64 bits: multiplying by it spreads neighbouring values (Knuth, TAOCP 6.4).
_ODD = np.uint64(0x9E3779B97F4A7C15)
_WIDTH = np.uint64(32)
# Texts per step: few enough for their words and arrays to stay in the processor's cache.
_TEXTS_AT_ONCE = 20
# Words whose hashes a process keeps: with more of them, it starts over. They take about 150 bytes each.
_KNOWN_WORDS = 300_000
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
    parts = [ShingleSets(np.empty(0, dtype=np.uint32), np.zeros(1, dtype=np.int64))]
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        if len(_KNOWN) > _KNOWN_WORDS:
            _KNOWN.clear()
        parts.append(_shingle_sets(texts[start : start + _TEXTS_AT_ONCE]))
    return joined(parts)


def joined(parts: Sequence[ShingleSets]) -> ShingleSets:
    """Return the sets of all parts, in their order; there is at least one part."""
    sizes = np.concatenate([part.sizes for part in parts])
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])
    return ShingleSets(np.concatenate([part.values for part in parts]), offsets)


def sample_of(hashes: Hashes) -> Hashes:
    """Return the shingles of a set by which a text is found: every eighth, and the lowest ones of a short text.

    Which ones depends on the shingles alone, so that two texts that share enough share some of these: of 50 words in a
    row, 47 shingles, with a probability of 0.998.
    Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997 (the sketch V, modulo m).
    """
    return distinct(np.concatenate([hashes[:_LOWEST], hashes[hashes % _EVERY == 0]]))


def samples_of(sets: ShingleSets) -> ShingleSets:
    """Return the sample of each set, as sample_of makes it."""
    begins = np.repeat(sets.offsets[:-1], sets.sizes)
    return _chosen(sets, (sets.values % _EVERY == 0) | (np.arange(len(sets.values)) - begins < _LOWEST))


def words_of(text: str) -> list[str]:
    """Return the words of a normalised text, as its shingles have them; numbers are not masked."""
    words = text.split()
    return words if text.isascii() or not _UNSPACED.search(text) else _WORD.findall(text)


def masked(word: str) -> str:
    """Return a word as it is hashed: words with a digit are equal."""
    return word if word.isalpha() or not any(map(str.isdigit, word)) else _MASK


class _WordHashes(dict[str, bytes]):
    """64 bits of BLAKE2b of each word, filled as words are looked up."""

    def __missing__(self, word: str) -> bytes:
        if not word.isascii() and not _WORD.fullmatch(word):
            hashed = _TO_DIVIDE
        else:
            hashed = hashlib.blake2b(masked(word).encode("utf-8", "surrogatepass"), digest_size=8).digest()
            if hashed == _TO_DIVIDE:
                hashed = _NOT_ZERO
        self[word] = hashed
        return hashed


_KNOWN = _WordHashes()


def _chosen(sets: ShingleSets, kept: npt.NDArray[np.bool_]) -> ShingleSets:
    """Return the sets with the members that are to be kept."""
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    return ShingleSets(sets.values.compress(kept), before[sets.offsets])


def _shingle_sets(texts: Sequence[str]) -> ShingleSets:
    words = [text.split() for text in texts]
    hashed = _hashes(words)
    if not hashed.all():
        words = [_divided(text, each) for text, each in zip(texts, words, strict=True)]
        hashed = _hashes(words)
    shingles = _mixed(hashed, SHINGLE_WORDS)
    ends = np.cumsum([len(each) for each in words], dtype=np.int64)
    for begin, end in pairwise([0, *ends.tolist()]):
        if begin < end < begin + SHINGLE_WORDS:
            shingles[begin] = _mixed(hashed[begin:end], end - begin)[0]
        else:
            # In place and text by text, which is ten times faster than all of them together.
            shingles[begin : max(end - SHINGLE_WORDS + 1, begin)].sort()
    begins = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
    kept = np.ones(len(shingles), dtype=np.bool_)
    np.not_equal(shingles[1:], shingles[:-1], out=kept[1:])
    kept[begins[begins < ends]] = True
    for place in range(1, SHINGLE_WORDS):
        last = ends - place
        kept[last[last > begins]] = False
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    return ShingleSets(shingles.compress(kept), before[np.concatenate([begins[:1], ends])])


def _hashes(words: Sequence[Sequence[str]]) -> npt.NDArray[np.uint64]:
    # Joining bytes is faster than converting numbers one by one.
    return np.frombuffer(b"".join(map(_KNOWN.__getitem__, chain.from_iterable(words))), dtype="<u8")


def _divided(text: str, words: list[str]) -> list[str]:
    return _WORD.findall(text) if any(_KNOWN[word] == _TO_DIVIDE for word in words) else words


def _mixed(hashed: npt.NDArray[np.uint64], words: int) -> Hashes:
    """Return the hash of so many words from each one on. The last ones have fewer, so that theirs are not valid."""
    mixed = np.zeros(len(hashed), dtype=np.uint64)
    for place in range(min(words, len(hashed))):
        mixed[: len(hashed) - place] ^= hashed[place:]
        mixed *= _ODD
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> _WIDTH).astype(np.uint32)

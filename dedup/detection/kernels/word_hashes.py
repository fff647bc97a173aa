"""The hashes of the words of many texts at once: a word's hash is made when it is first met, and looked up after that.

Words become numbers straight from the bytes of the texts, eight at a time: a string for each, and a look into a
dictionary, would take five times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup.detection.kernels.tokens import IntArray

Uint64Array = npt.NDArray[np.uint64]

# Words whose hashes are kept: with more of them, the table starts over. It has more than three slots for each, and for
# as many that are added at a time.
_KEPT = 300_000
_SLOT_BITS = 20
_BELOW_SLOT = np.uint64(64 - _SLOT_BITS)
_LAST_SLOT = (1 << _SLOT_BITS) - 1
# The golden ratio of 64 bits: multiplying by it spreads neighbouring values (Knuth, TAOCP 6.4).
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ALL = (1 << 64) - 1
_HALF = np.uint64(32)
_BLANK = ord(" ")
_BYTES = 8
# The bits of so many bytes, the first ones of a little-endian number.
_FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(_BYTES + 1)], dtype=np.uint64)
# Longer words are hardly ever met again.
_LONGEST = 64


class Words(NamedTuple):
    """The words of some texts: their bytes, where each begins among them, its length, and its number; and the texts.

    Equal words have equal numbers, and different ones different numbers, except for a probability of 2^-64; very long
    ones have 0. Text i has the words before ends[i] that those before it do not have.
    """

    data: bytes
    starts: IntArray
    lengths: IntArray
    numbers: Uint64Array
    ends: IntArray

    def word(self, place: int) -> str:
        """Return a word."""
        begin = int(self.starts[place])
        return self.data[begin : begin + int(self.lengths[place])].decode("utf-8", "surrogatepass")


class WordHashes:
    """The hashes of words, 64 bits each, as `hash_of` makes them of what is between two blanks.

    Texts have no zero characters, as in PostgreSQL. Memory: 16 MB.
    """

    def __init__(self, hash_of: Callable[[str], int]) -> None:
        self._hash_of = hash_of
        self._clear()

    def of(self, texts: Sequence[str]) -> tuple[Uint64Array, IntArray]:
        """Return the hashes of the words of all texts, in order, and where the words of each text end."""
        words = words_in(texts)
        slots, missing = self._slots(words.numbers)
        if len(missing):
            self._add(words, missing)
            slots, missing = self._slots(words.numbers)
        hashes = self._hashes[slots]
        for place in [*missing.tolist(), *np.flatnonzero(words.numbers == 0).tolist()]:  # not kept
            hashes[place] = self._hash_of(words.word(place))
        return hashes, words.ends

    def _clear(self) -> None:
        self._count = 0
        self._numbers = np.zeros(_LAST_SLOT + 1, dtype=np.uint64)
        self._hashes = np.zeros(_LAST_SLOT + 1, dtype=np.uint64)

    def _slots(self, numbers: Uint64Array) -> tuple[IntArray, IntArray]:
        """Return the slot of each number, and the places of those that have none: they get any slot."""
        slots = (numbers * _ODD >> _BELOW_SLOT).astype(np.int64)
        there = self._numbers[slots]
        left = np.flatnonzero(there != numbers)
        missing = [left[there[left] == 0]]
        left = left[there[left] != 0]
        while len(left):  # another number has the slot: the next one, until there is a free one
            slots[left] = (slots[left] + 1) & _LAST_SLOT
            there = self._numbers[slots[left]]
            missing.append(left[there == 0])
            left = left[(there != 0) & (there != numbers[left])]
        return slots, np.concatenate(missing)

    def _add(self, words: Words, missing: IntArray) -> None:
        """Keep the hashes of the words at these places."""
        if self._count > _KEPT:
            self._clear()
            missing = np.arange(len(words.numbers))
        known, places = np.unique(words.numbers[missing], return_index=True)
        kept = np.flatnonzero(known)[:_KEPT]
        for number, place in zip(known[kept].tolist(), missing[places[kept]].tolist(), strict=True):
            slot = (number * int(_ODD) & _ALL) >> int(_BELOW_SLOT)
            while self._numbers[slot]:
                slot = (slot + 1) & _LAST_SLOT
            self._numbers[slot], self._hashes[slot] = number, self._hash_of(words.word(place))
        self._count += len(kept)


def words_in(texts: Sequence[str]) -> Words:
    """Return what is between the blanks of some texts."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    data = b" ".join([b"", *encoded, bytes(_BYTES)])
    signs = np.frombuffer(data, dtype=np.uint8)
    blanks = np.flatnonzero(signs == _BLANK)
    lengths = np.diff(blanks) - 1
    starts = (blanks[:-1] + 1)[lengths > 0]
    lengths = lengths[lengths > 0]
    text_ends = np.cumsum([len(word) + 1 for word in encoded], dtype=np.int64)
    return Words(data, starts, lengths, _numbers(data, starts, lengths), np.searchsorted(starts, text_ends))


def _numbers(data: bytes, starts: IntArray, lengths: IntArray) -> Uint64Array:
    """Return the number of each word: its bytes if they fit, or else a mix of all; 0 if it is too long to be kept."""
    eights = np.ndarray(len(data) - _BYTES + 1, dtype="<u8", buffer=data, strides=(1,))
    numbers = eights[starts].astype(np.uint64, copy=False) & _FIRST_BYTES[np.minimum(lengths, _BYTES)]
    longer = np.flatnonzero((lengths > _BYTES) & (lengths <= _LONGEST))
    for offset in range(_BYTES, _LONGEST, _BYTES):
        mixed = numbers[longer] * _ODD
        mixed ^= mixed >> _HALF
        mixed ^= eights[starts[longer] + offset] & _FIRST_BYTES[np.minimum(lengths[longer] - offset, _BYTES)]
        numbers[longer] = mixed
        longer = longer[lengths[longer] > offset + _BYTES]
        if not len(longer):
            break
    numbers[lengths > _LONGEST] = 0
    return numbers

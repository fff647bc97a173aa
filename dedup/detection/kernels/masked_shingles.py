"""Texts as sets of word shingles in which all numbers are equal: copies share most of them, and so do forms.

The sets are stored and compared later, on any machine, so their hashes depend on the words alone. A word's hash is made
when it is first met, and looked up after that.
Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from dedup.detection.kernels.tokens import ODD, IntArray, Ragged, begins_in, character_shingle_sets, joined

Hashes = npt.NDArray[np.uint32]
ShingleSets = Ragged  # of such hashes
Uint64Array = npt.NDArray[np.uint64]

# How a hash is stored.
_HASH = np.dtype("<u4")
# Words per shingle: as many as the full comparison counts.
SHINGLE_WORDS = 4
_MASK = "#"
# Characters that are words by themselves, with their marks, because their scripts have no blanks between words.
SOLO = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"[{SOLO}]\p{{M}}*|[^\s{SOLO}]+")
# The blocks of these scripts, and a little more: a quick test with the faster of the two libraries of patterns.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\ua9ff\uaa60-\uaa7f\uf900-\uffff\U000116d0-\U000116ff\U00016fe0-\U0003ffff]"
)
# The hash of what is several words: characters of such scripts, with or without others, and no blank in between.
_TO_DIVIDE = 0
_WIDTH = np.uint64(32)
# Texts per step: few enough for their words and arrays to stay in the processor's cache.
_TEXTS_AT_ONCE = 40
# The part of a set that is looked up.
_EVERY = 8
_LOWEST = 4


def masked_shingle_sets(texts: Sequence[str]) -> ShingleSets:
    """Return the set of hashes of every four consecutive words of each normalised text.

    A word is what is between blanks or, in a script without blanks, one character. Words with a digit are equal. A text
    of one to three words has one shingle, an empty one none. The hashes are the same on every machine. Two different
    shingles have one hash with a probability of 2^-32: of the shingles of a million articles, every twelfth meets one.
    """
    starts = range(0, len(texts), _TEXTS_AT_ONCE)
    parts = [_shingle_sets(texts[start : start + _TEXTS_AT_ONCE]) for start in starts]
    return joined([ShingleSets.of([], np.uint32), *parts])


def from_stored(sets: Sequence[bytes]) -> ShingleSets:
    """Return the sets that are stored as these bytes."""
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64) // _HASH.itemsize
    return ShingleSets(np.frombuffer(b"".join(sets), dtype=_HASH), offsets)


def as_stored(sets: ShingleSets) -> list[bytes]:
    """Return the bytes of each set, as it is stored."""
    values, ends = sets.values.astype(_HASH).tobytes(), (_HASH.itemsize * sets.offsets).tolist()
    return [values[begin:end] for begin, end in pairwise(ends)]


def samples_of(sets: ShingleSets) -> ShingleSets:
    """Return the shingles of each set by which a text is found: every eighth, and the lowest ones of a short text.

    Which ones depends on the shingles alone, so that two texts that share enough share some of these: of 50 words in a
    row, 47 shingles, with a probability of 0.998.
    Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997 (the sketch V, modulo m).
    """
    begins = np.repeat(sets.offsets[:-1], sets.sizes)
    return sets.only((sets.values % _EVERY == 0) | (np.arange(len(sets.values)) - begins < _LOWEST))


def words_of(text: str) -> list[str]:
    """Return the words of a normalised text, as its shingles have them; numbers are not masked."""
    words = text.split()
    return words if text.isascii() or not _UNSPACED.search(text) else _WORD.findall(text)


def masked(word: str) -> str:
    """Return a word as it is hashed: words with a digit are equal."""
    return word if word.isalpha() or not any(map(str.isdigit, word)) else _MASK


@lru_cache(50_000)
def _hash_of(word: str) -> int:
    """Return 64 bits of BLAKE2b of a word as it is masked; _TO_DIVIDE if it is several words."""
    if not (word.isascii() or _WORD.fullmatch(word)):
        return _TO_DIVIDE
    hashed = hashlib.blake2b(masked(word).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed, "little") or 1


def _shingle_sets(texts: Sequence[str]) -> ShingleSets:
    hashed, ends = _KNOWN.of(texts)
    if not hashed.all():
        parts = [_divided(text, members) for text, members in zip(texts, np.split(hashed, ends[:-1]), strict=True)]
        hashed = np.concatenate(parts)
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    shingles = _mixed(hashed, SHINGLE_WORDS)
    for begin, end in pairwise([0, *ends.tolist()]):
        if begin < end < begin + SHINGLE_WORDS:
            shingles[begin] = _mixed(hashed[begin:end], end - begin)[0]
        else:
            # In place and text by text, which is ten times faster than all of them together.
            shingles[begin : max(end - SHINGLE_WORDS + 1, begin)].sort()
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    begins = offsets[:-1]
    kept = begins_in(shingles)
    kept[begins[begins < ends]] = True
    for place in range(1, SHINGLE_WORDS):
        last = ends - place
        kept[last[last > begins]] = False
    return ShingleSets(shingles, offsets).only(kept)


def _divided(text: str, hashed: Uint64Array) -> Uint64Array:
    """Return the hashes of the words of a text, given those of what is between its blanks."""
    if hashed.all():
        return hashed
    words = text.split()
    if not all(map(_hash_of, words)):
        words = _WORD.findall(text)
    return np.fromiter(map(_hash_of, words), dtype=np.uint64, count=len(words))


def _mixed(hashed: Uint64Array, words: int) -> Hashes:
    """Return the hash of so many words from each one on. The last ones have fewer, so that theirs are not valid."""
    mixed = np.zeros(len(hashed), dtype=np.uint64)
    for place in range(min(words, len(hashed))):
        mixed[: len(hashed) - place] ^= hashed[place:]
        mixed *= ODD
        mixed ^= mixed >> np.uint64(29)
    return (mixed >> _WIDTH).astype(np.uint32)


# About two words: unrelated articles share few. Not words, because not all scripts separate them.
_SHINGLE = 12
# Characters of a text that are read, as by the passes: longer than 99 of 100 news articles.
READ_CHARACTERS = 10_000
# Texts of one newspaper under one headline share less than this part of the shorter one, or much more. Of 1,099
# consecutive ones in 67,316 articles, 188 share less than a tenth, 50 up to a fifth, the rest more.
_ONE_STORY = 0.15


def has_contents(texts: Iterable[str], wanted: int) -> bool:
    """Return whether these normalised texts, in order of time, have at least `wanted` clearly different contents.

    A text belongs to an earlier content if it shares enough of the shorter one's shingles with the latest text of that
    content: a live ticker, whose texts grow out of each other, is one content. Empty texts have none.
    It reads no more texts than needed.
    """
    latest: list[IntArray] = []
    for text in filter(None, texts):
        [shingles] = character_shingle_sets([text[:READ_CHARACTERS]], _SHINGLE)
        same = next((place for place, story in enumerate(latest) if _is_one_story(story, shingles)), len(latest))
        latest[same : same + 1] = [shingles]
        if len(latest) >= wanted:
            return True
    return False


def _is_one_story(first: IntArray, second: IntArray) -> bool:
    shared = len(np.intersect1d(first, second, assume_unique=True))
    return shared >= _ONE_STORY * min(len(first), len(second))


# ---- the hashes of the words of many texts at once -------------------------------------------------

# Words become numbers straight from the bytes of the texts, eight at a time: a string for each, and a look into a
# dictionary, would take five times as long.

# Words whose hashes are kept: with more of them, the table starts over. It has more than three slots for each, and for
# as many that are added at a time.
_KEPT = 300_000
_SLOT_BITS = 20
_BELOW_SLOT = np.uint64(64 - _SLOT_BITS)
_LAST_SLOT = (1 << _SLOT_BITS) - 1
_ALL = (1 << 64) - 1
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
        slots = (numbers * ODD >> _BELOW_SLOT).astype(np.int64)
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
        first = missing[places[kept]]
        begins, ends = words.starts[first].tolist(), (words.starts + words.lengths)[first].tolist()
        numbers, hashes = self._numbers.data, self._hashes.data  # twice as fast as the arrays
        for number, begin, end in zip(known[kept].tolist(), begins, ends, strict=True):
            slot = (number * int(ODD) & _ALL) >> int(_BELOW_SLOT)
            while numbers[slot]:
                slot = (slot + 1) & _LAST_SLOT
            numbers[slot] = number
            hashes[slot] = self._hash_of(words.data[begin:end].decode("utf-8", "surrogatepass"))
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
        mixed = numbers[longer] * ODD
        mixed ^= mixed >> _WIDTH
        mixed ^= eights[starts[longer] + offset] & _FIRST_BYTES[np.minimum(lengths[longer] - offset, _BYTES)]
        numbers[longer] = mixed
        longer = longer[lengths[longer] > offset + _BYTES]
        if not len(longer):
            break
    numbers[lengths > _LONGEST] = 0
    return numbers


# What is between two blanks, and has other white space, is divided.
_KNOWN = WordHashes(lambda part: _hash_of(part) if part.split() == [part] else _TO_DIVIDE)

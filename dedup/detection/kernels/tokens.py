"""Texts as sets of tokens: ragged arrays of integers, made for a block of texts at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Characters = npt.NDArray[np.uint32]
Number = TypeVar("Number", bound=np.generic)
Columns = TypeVar("Columns", bound=tuple[Any, ...])

TRIGRAM_BITS = 24
# The width of hashed word shingles.
HASH_BITS = 56
_BLANK = 0x20
# The golden ratio of 64 bits: multiplying by it spreads neighbouring values, and loses no bits (Knuth, TAOCP 6.4).
ODD = np.uint64(0x9E3779B97F4A7C15)
# Texts per step: few enough for the arrays to stay in the processor's cache, and for seven bits to number them.
_TEXTS_AT_ONCE = 120
# The same for sets of hashes, which are longer.
_SETS_AT_ONCE = 40
# Above every trigram of a part, which has the number of its text in the eight bits before it.
_NO_TRIGRAM = np.uint32(0xFFFFFFFF)
_WIDEST = 4  # bytes of a character in UTF-8
_CODE_POINTS = 0x110000


class Ragged(NamedTuple):
    """Lists of integers: list i is values[offsets[i]:offsets[i + 1]]. A set is ascending and distinct."""

    values: npt.NDArray[Any]
    offsets: IntArray

    @classmethod
    def of(cls, lists: Sequence[npt.NDArray[Any]], kind: npt.DTypeLike) -> Ragged:
        """Return these lists, whose integers are of one kind."""
        values = np.concatenate([np.empty(0, dtype=kind), *lists])
        return cls(values, np.cumsum([0, *map(len, lists)], dtype=np.int64))

    @property
    def sizes(self) -> IntArray:
        """Return the length of each list."""
        return np.diff(self.offsets)

    def part(self, start: int, stop: int) -> Ragged:
        """Return the lists at the positions from `start` to before `stop`."""
        offsets = self.offsets[start : stop + 1]
        return Ragged(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])

    def at(self, places: IntArray) -> Ragged:
        """Return the lists at these positions."""
        sizes = self.sizes[places]
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        return Ragged(self.values[ranges(self.offsets[places], sizes)], offsets)

    def split(self) -> list[npt.NDArray[Any]]:
        """Return each list as an array of its own, which shares its memory with this one."""
        return np.split(self.values, self.offsets[1:-1]) if len(self.offsets) > 1 else []

    def only(self, kept: Flags) -> Ragged:
        """Return the lists with those of their integers that are to be kept."""
        before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
        return Ragged(self.values.compress(kept), before[self.offsets])


def joined(parts: Sequence[Ragged]) -> Ragged:
    """Return the lists of all parts, in their order; there is at least one part."""
    sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(part.sizes for part in parts)])
    return Ragged(np.concatenate([part.values for part in parts]), np.cumsum(sizes))


def concatenated(parts: Sequence[Columns]) -> Columns:
    """Return tuples of columns, each a value or list for every article, as one; a column that none has stays None."""
    made: Callable[..., Columns] = type(parts[0])
    columns = [[column for column in of_parts if column is not None] for of_parts in zip(*parts, strict=True)]
    return made(*(_one(column) if column else None for column in columns))


def _one(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], Ragged):
        return joined(parts)
    if isinstance(parts[0], list):
        return [value for part in parts for value in part]
    return concatenated(parts) if isinstance(parts[0], tuple) else np.concatenate(parts)


def ranges(starts: IntArray, counts: IntArray) -> IntArray:
    """Return the numbers of all ranges start..start+count-1, concatenated."""
    return np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)


def divided(parts: Iterable[npt.NDArray[Number]], bounds: npt.NDArray[Any]) -> Iterator[npt.NDArray[Number]]:
    """Yield what all parts have below the first bound, then up to the next one, and so on. Each part is ascending."""
    found: list[list[npt.NDArray[Number]]] = [[] for _ in range(len(bounds) + 1)]
    for part in parts:
        for own, piece in zip(found, np.split(part, np.searchsorted(part, bounds)), strict=True):
            own.append(piece)
    while found:
        yield np.concatenate(found.pop(0))


def begins_in(ordered: npt.NDArray[Number]) -> Flags:
    """Return which of some ordered values are not equal to the one before."""
    begins = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins


def distinct(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return the distinct values, ascending. Sixty times faster than numpy.unique, which hashes (numpy 2.3)."""
    ordered = np.sort(values)
    return ordered.compress(begins_in(ordered))  # up to five times faster than an index of booleans


def occurring(values: npt.NDArray[Number], least: int) -> npt.NDArray[Number]:
    """Return the values that occur at least so many times, ascending and distinct; `values` are sorted in place."""
    values.sort()
    return distinct(values[least - 1 :][values[least - 1 :] == values[: max(len(values) - least + 1, 0)]])


def as_sets(lists: Ragged) -> Ragged:
    """Return the distinct integers of each list, ascending; the lists are sorted in place."""
    for members in lists.split():
        members.sort()  # list by list: two long ones would not fit into the first-level cache
    first = begins_in(lists.values)
    begins = lists.offsets[:-1]
    first[begins[begins < len(first)]] = True
    return lists.only(first)


@dataclass(frozen=True, slots=True)
class Alphabet:
    """How a database's pg_trgm sees single characters.

    `folded[code point]` is the character that pg_trgm compares, or a blank if the character belongs to no word. The
    array ends with a blank after the last known character; all characters from there on are blanks.
    """

    folded: Characters

    @classmethod
    def of(cls, answers: Iterable[tuple[str, str | None]]) -> Alphabet:
        """Return the alphabet in which each character folds to the given one; None: it belongs to no word."""
        folds = {ord(character): _BLANK if folded is None else ord(folded) for character, folded in answers}
        folded = np.full(max(folds, default=0) + 2, _BLANK, dtype=np.uint32)
        folded[list(folds)] = list(folds.values())
        return cls(folded)


def characters_of(texts: Sequence[str]) -> list[str]:
    """Return the distinct characters of the texts, in the order of their code points."""
    seen = np.zeros(_CODE_POINTS, dtype=np.bool_)
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        seen[_code_points("".join(texts[start : start + _TEXTS_AT_ONCE]))] = True
    return [chr(code) for code in np.flatnonzero(seen)]


def trigram_sets(texts: Sequence[str], alphabet: Alphabet) -> Ragged:
    """Return the set of trigrams of each text, as pg_trgm makes them.

    A word is a maximal run of the alphabet's word characters. It is padded with two blanks before and one after, and
    every three consecutive characters are a trigram. A trigram is the 24-bit number of PostgreSQL's own three
    bytes, so the rare collisions of non-ASCII trigrams are the same as there.
    Source: contrib/pg_trgm/trgm_op.c (generate_trgm, compact_trigram) and the PostgreSQL manual, F.35.
    """
    starts = range(0, len(texts), _TEXTS_AT_ONCE)
    return joined([_trigrams(texts[start : start + _TEXTS_AT_ONCE], alphabet) for start in starts or [0]])


def character_shingle_sets(texts: Sequence[str], size: int) -> list[IntArray]:
    """Return the set of shingles of each text as 64-bit numbers, ascending.

    Two shingles collide with a probability of 2^-64.
    """
    sets: list[IntArray] = []
    for start in range(0, len(texts), _SETS_AT_ONCE):
        shingles = character_shingles(texts[start : start + _SETS_AT_ONCE], size, np.uint64)
        sets += as_sets(Ragged(shingles.values.view(np.int64), shingles.offsets)).split()
    return sets


def jaccard_of(first: IntArray, second: IntArray) -> float:
    """Return the Jaccard similarity of two sets of numbers, each ascending; 0 if both are empty."""
    if len(first) == len(second) > 0 and np.array_equal(first, second):
        return 1.0  # ten times faster than below, and copies come in hundreds
    both = np.concatenate([first, second])
    both.sort()
    shared = int(np.count_nonzero(both[1:] == both[:-1]))
    return shared / (len(both) - shared) if len(both) else 0.0


def jaccard_from(threshold: float, first: IntArray, second: IntArray) -> float:
    """Return jaccard_of two sets, or 0 if their sizes alone show that it is below the threshold."""
    # At most the smaller set is shared, and the union has at least the larger.
    if min(len(first), len(second)) / max(len(first), len(second), 1) < threshold:
        return 0.0
    return jaccard_of(first, second)


def character_shingles(texts: Sequence[str], size: int, width: type[np.uint32 | np.uint64] = np.uint32) -> Ragged:
    """Return a number for every `size` consecutive characters of each text, in order and with repetitions.

    A shorter text is one shingle, an empty one has none. The bits are not mixed: similar shingles have close values.
    """
    # Texts too short for a shingle are padded with zeros, which no text contains.
    padded = [text if len(text) >= size or not text else text + "\0" * (size - len(text)) for text in texts]
    characters: npt.NDArray[np.unsignedinteger[Any]] = _code_points("".join(padded)).astype(width, copy=False)
    offsets = np.cumsum([0, *map(len, padded)], dtype=np.int64)
    if not len(characters):
        return Ragged(np.empty(0, dtype=width), offsets)
    count = len(characters) - size + 1
    hashes = np.empty_like(characters)
    rolling = hashes[:count]
    rolling[:] = characters[:count]
    for place in range(1, size):  # a polynomial of the characters (Horner), for all positions at a time
        rolling *= width(ODD >> np.uint64(64 - 8 * width().itemsize))
        rolling += characters[place : place + count]
    # No shingle begins at the last positions of a text: they repeat its first one.
    begins, ends = (bounds[np.diff(offsets) > 0] for bounds in (offsets[:-1], offsets[1:]))
    for place in range(1, size):
        hashes[ends - place] = hashes[begins]
    return Ragged(hashes, offsets)


def _trigrams(texts: Sequence[str], alphabet: Alphabet) -> Ragged:
    # A newline ends each text: it is in no word, so it separates texts as a blank separates words. With two before the
    # first text, every later character is the last one of three.
    characters = alphabet.folded.take(_code_points("\n".join(["\n", *texts, ""])), mode="clip")
    gap = characters == _BLANK
    # Where a word begins, only one blank of what precedes it counts. (Masks by arithmetic: indexing is slower.)
    first = np.maximum(characters[:-2] * ~gap[1:-1], np.uint32(_BLANK))
    keys = _compact(first, characters[1:-1], characters[2:])
    lengths = [len(text) + 1 for text in texts]
    keys |= np.repeat(np.arange(len(texts), dtype=np.uint32) << TRIGRAM_BITS, lengths)
    keys |= _NO_TRIGRAM * (gap[1:-1] & gap[2:])  # no word ends or begins here
    members = distinct(keys)
    starts = np.arange(len(texts), dtype=np.uint32) << TRIGRAM_BITS
    offsets = np.searchsorted(members, np.append(starts, _NO_TRIGRAM)).astype(np.int64)
    return Ragged((members[: offsets[-1]] & ((1 << TRIGRAM_BITS) - 1)).view(np.int32), offsets)


def _code_points(text: str) -> Characters:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _compact(first: Characters, middle: Characters, last: Characters) -> Characters:
    """Return the 24-bit number of each trigram."""
    codes = first << np.uint32(16) | middle << np.uint32(8) | last
    wide = np.flatnonzero((first | middle | last) >= 0x80)
    if len(wide):
        codes[wide] = _hashed(first[wide], middle[wide], last[wide])
    return codes


def _hashed(first: Characters, middle: Characters, last: Characters) -> Characters:
    """Return PostgreSQL's three bytes for trigrams with a non-ASCII character.

    They are the low bytes of its "legacy" CRC-32 of the UTF-8 bytes: the table of the reflected
    polynomial, applied as if it were not reflected (src/include/utils/pg_crc.h, COMP_LEGACY_CRC32).
    The CRC is linear over xor. So the CRC of a trigram is the xor of four registers: for each character, an empty
    register fed with the character and a zero for each byte after it; and the initial register fed with a zero
    for each byte. Thus only distinct characters are fed through byte by byte.
    """
    known = distinct(np.concatenate([first, middle, last]))
    numbers = np.zeros(int(known[-1]) + 1, dtype=np.intp)
    numbers[known] = np.arange(len(known))
    width = 1 + (known >= 0x80) + (known >= 0x800) + (known >= 0x10000).astype(np.intp)
    made = np.stack(_followed_by_zeros(_crc_alone(known), _WIDEST * 2))
    heading = made ^ _INITIAL[np.arange(_WIDEST * 2 + 1)[:, None] + width]
    numbered = [numbers.take(places) for places in (first, middle, last)]
    behind = width.take(numbered[2])
    crc = made[0].take(numbered[2])
    crc ^= made.ravel().take(behind * len(known) + numbered[1])
    behind += width.take(numbered[1])
    crc ^= heading.ravel().take(behind * len(known) + numbered[0])
    crc = ~crc
    return crc.byteswap() >> 8


def _followed_by_zeros(crc: Characters, most: int) -> list[Characters]:
    """Return the CRC registers after 0, 1, ..., `most` zero bytes."""
    registers = [crc]
    for _ in range(most):
        registers.append(_CRC_TABLE[registers[-1] >> 24] ^ registers[-1] << 8)
    return registers


def _crc_alone(code: Characters) -> Characters:
    """Return an empty CRC register fed with the UTF-8 bytes of each code point."""
    one, two, three = code < 0x80, code < 0x800, code < 0x10000
    head = np.select([one, two, three], [code, 0xC0 | code >> 6, 0xE0 | code >> 12], default=0xF0 | code >> 18)
    crc = _CRC_TABLE[head & 0xFF]
    # The bytes after the first one, each with which code points have it.
    tails = [(0x80 | code >> shift & 0x3F, present) for shift, present in ((12, ~three), (6, ~two), (0, ~one))]
    for byte, present in tails:
        step = _CRC_TABLE[((crc >> 24) ^ byte) & 0xFF] ^ (crc << 8)
        crc = np.where(present, step, crc)
    return crc


def _crc_table() -> npt.NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    return table


_CRC_TABLE = _crc_table()
_INITIAL = np.concatenate(_followed_by_zeros(np.full(1, 0xFFFFFFFF, dtype=np.uint32), _WIDEST * 3))


# The largest block that still moves glibc's thresholds is 32 MB.
_BYTES = 30 << 20


def keep_freed_memory() -> None:
    """Let this process keep up to 60 MB of freed memory for its next arrays.

    Otherwise glibc returns the memory of each array above 128 KB to the system, which hands out its pages one by one
    and cleared the next time: a third of the CPU seconds of some passes. Freeing a block that was mapped raises glibc's
    thresholds, M_MMAP_THRESHOLD to its size and M_TRIM_THRESHOLD to twice that (mallopt(3)). Elsewhere this does
    nothing.
    """
    np.empty(_BYTES, dtype=np.uint8)

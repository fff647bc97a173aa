"""The containment and sentence passes in parts: members that few texts have, and the pairs of texts that share them.

What a member counts for depends on how many texts of the whole scope have it. So each part sends its distinct members,
sorted and compressed, to the range of hashes that they belong to: about a byte each. A range adds up the counts of all
parts and sends them back. Then a part keeps those that another text has and few have, and parts are compared two by
two, as far as their days are near. (The index of kernels/containment.py and kernels/sentences.py, cut in two.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dedup.detection.kernels.masked_shingles import ShingleSets
from dedup.detection.kernels.tokens import IntArray, Ragged, distinct

Counts = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]
_UNSIGNED: dict[int, Any] = {4: np.dtype("<u4"), 8: np.dtype("<u8")}
# Higher counts are the same: a member of more texts than a setting allows is ignored.
MOST_COUNTED = 0xFFFF
_PAIRED_AT_ONCE = 2_000_000

HELD = pa.schema([("range", pa.int32()), ("part", pa.int32()), ("members", pa.binary()), ("counts", pa.binary())])


class Held(NamedTuple):
    """Distinct members, ascending as unsigned numbers, and how many texts have each."""

    members: npt.NDArray[np.unsignedinteger]
    counts: Counts


def held_by(values: npt.NDArray[np.generic]) -> Held:
    """Return the distinct members of the sets of a part, each with the number of texts that have it."""
    unsigned = values.view(_UNSIGNED[values.dtype.itemsize])
    ordered = np.sort(unsigned)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    counts = np.minimum(np.diff(np.append(starts, len(ordered))), MOST_COUNTED)
    return Held(ordered[starts], counts.astype(np.uint16))


def sent_by(part: int, held: Held, ranges: int) -> pa.Table:
    """Return what a part sends to each range of hashes (HELD)."""
    bounds = _bounds(held.members, ranges)
    rows = [(number, bounds[number], bounds[number + 1]) for number in range(ranges)]
    rows = [row for row in rows if row[1] < row[2]]
    return pa.table(
        {
            "range": [number for number, _, _ in rows],
            "part": [part] * len(rows),
            "members": [packed(held.members[start:stop]) for _, start, stop in rows],
            "counts": [_compressed(held.counts[start:stop]) for _, start, stop in rows],
        },
        schema=HELD,
    )


def counted_in_range(sent: pa.Table, width: int) -> pa.Table:
    """Return for each part the counts over all parts of the members that it sent to one range (HELD, no members).

    `width` is that of a member in bytes.
    """
    rows = sent.sort_by("part").to_pylist()
    members = [unpacked(row["members"], width) for row in rows]
    counts = [_decompressed(row["counts"], np.dtype("<u2")) for row in rows]
    every = distinct(np.concatenate(members))
    total = np.zeros(len(every), dtype=np.int64)
    places = [np.searchsorted(every, member) for member in members]
    for place, count in zip(places, counts, strict=True):
        total[place] += count
    bounded = np.minimum(total, MOST_COUNTED).astype(np.uint16)
    return pa.table(
        {
            "range": [row["range"] for row in rows],
            "part": [row["part"] for row in rows],
            "members": [b""] * len(rows),
            "counts": [_compressed(bounded[place]) for place in places],
        },
        schema=HELD,
    )


def totals_of(received: pa.Table) -> Counts:
    """Return the counts over all parts of a part's distinct members, in their order."""
    rows = received.sort_by("range")["counts"].to_pylist()
    return np.concatenate([np.empty(0, dtype=np.uint16), *(_decompressed(row, np.dtype("<u2")) for row in rows)])


def counts_of_members(values: npt.NDArray[np.generic], held: Held, totals: Counts) -> Counts:
    """Return for each member of the sets how many texts of the whole scope have it."""
    return totals[np.searchsorted(held.members, values.view(_UNSIGNED[values.dtype.itemsize]))]


def packed(ascending: npt.NDArray[np.unsignedinteger]) -> bytes:
    """Return distinct ascending numbers in few bytes: their differences, byte by byte, compressed."""
    differences = np.diff(ascending, prepend=ascending[:1] * 0)
    planes = differences.view(np.uint8).reshape(len(ascending), ascending.dtype.itemsize).T
    return _compressed(np.ascontiguousarray(planes))


def unpacked(data: bytes, width: int) -> npt.NDArray[np.unsignedinteger]:
    """Return the numbers that were packed, of `width` bytes each."""
    planes = _decompressed(data, np.dtype(np.uint8)).reshape(width, -1)
    differences = np.ascontiguousarray(planes.T).view(_UNSIGNED[width]).ravel()
    return np.cumsum(differences, dtype=_UNSIGNED[width])


class Postings(NamedTuple):
    """What the texts of a part have in common with others: rows ascending, then members ascending."""

    rows: IntArray
    members: IntArray
    weights: Floats


class SharedRows(NamedTuple):
    """Pairs of rows, ordered, with the number of members they share and the sum of the smaller weights."""

    one: IntArray
    other: IntArray
    shared: IntArray
    sums: Floats


def shared_rows(first: Postings, second: Postings | None) -> Iterator[SharedRows]:
    """Yield, in parts, the rows of two parts that share members; with one part alone, each pair of its rows once."""
    other = first if second is None else second
    order = np.argsort(other.members, kind="stable")
    ordered, rows, weights = other.members[order], other.rows[order], other.weights[order]
    begin, end = (np.searchsorted(ordered, first.members, side=side) for side in ("left", "right"))
    if second is None:
        # Later rows alone: rows of equal members are ascending.
        begin = np.empty_like(begin)
        begin[order] = np.arange(1, len(order) + 1)
    work = np.cumsum(end - begin)
    for start, stop in _chunks(first.rows, work):
        yield _paired(first, slice(start, stop), begin[start:stop], end[start:stop] - begin[start:stop], rows, weights)


def _paired(
    first: Postings, part: slice, begin: IntArray, counts: IntArray, rows: IntArray, weights: Floats
) -> SharedRows:
    places = np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    smaller = np.minimum(np.repeat(first.weights[part], counts), weights[places])
    keys = np.repeat(first.rows[part], counts) << 32 | rows[places]
    # Members stay in their order: floats are added in the order of the kernel.
    order = np.argsort(keys, kind="stable")
    keys, smaller = keys[order], smaller[order]
    starts = np.flatnonzero(np.concatenate([np.ones(min(len(keys), 1), dtype=np.bool_), keys[1:] != keys[:-1]]))
    sums = np.add.reduceat(smaller, starts) if len(starts) else np.empty(0)
    shared = np.diff(np.append(starts, len(keys)))
    return SharedRows(keys[starts] >> 32, keys[starts] & 0xFFFFFFFF, shared, sums)


def _chunks(rows: IntArray, work: IntArray) -> Iterator[tuple[int, int]]:
    """Yield ranges of postings of about _PAIRED_AT_ONCE pairs each that divide no row."""
    start = done = 0
    while start < len(rows):
        stop = max(start + 1, int(np.searchsorted(work, done + _PAIRED_AT_ONCE, side="right")))
        stop = int(np.searchsorted(rows, rows[min(stop, len(rows)) - 1], side="right"))
        yield start, stop
        start, done = stop, int(work[stop - 1])


def _bounds(members: npt.NDArray[np.unsignedinteger], ranges: int) -> Sequence[int]:
    edge = 1 << 8 * members.dtype.itemsize
    edges = np.array([edge * number // ranges for number in range(1, ranges)], dtype=members.dtype)
    return [0, *np.searchsorted(members, edges).tolist(), len(members)]


def _compressed(values: npt.NDArray[np.generic]) -> bytes:
    data = np.ascontiguousarray(values).tobytes()
    return len(data).to_bytes(8, "little") + bytes(pa.compress(data, codec="zstd", asbytes=True))


def _decompressed(data: bytes, kind: Any) -> npt.NDArray[Any]:
    size = int.from_bytes(data[:8], "little")
    return np.frombuffer(pa.decompress(data[8:], size, codec="zstd", asbytes=True), dtype=kind)


def rows_of(sets: Ragged | ShingleSets) -> IntArray:
    """Return the row of each member of the sets."""
    return np.repeat(np.arange(len(sets.sizes)), sets.sizes)

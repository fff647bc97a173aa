"""The containment and sentence passes on Spark: counts by ranges of hashes, then parts two by two."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from dedup.detection.kernels.masked_shingles import ShingleSets
from dedup.detection.kernels.parity_join import TOLERANCE
from dedup.detection.kernels.sentences import rarity, sentence_sets
from dedup.detection.kernels.tokens import IntArray, Ragged, distinct
from dedup.detection.passes.base import Pass
from dedup.detection.passes.containment import ContainmentConfig
from dedup.detection.passes.sentence import SentenceConfig
from dedup.detection.spark.pairs import no_pairs, pair_table
from dedup.detection.spark.parts import Keys, compared_contents, read_part, shingle_sets, write
from dedup.detection.spark.stages import Done, perform_all
from dedup.detection.spark.work import Work

# Members in one range of hashes, of all parts: 100 MB.
MEMBERS_A_RANGE = 8_000_000

MemberConfig = ContainmentConfig | SentenceConfig
# The texts of a part: how many members count, and their total weight; and the members that others share.
TEXTS = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("newspaper", pa.int64(), nullable=False),
        pa.field("day", pa.int64(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("total", pa.float64(), nullable=False),
        pa.field("shared", pa.int64(), nullable=False),
    ]
)
POSTINGS = pa.schema([pa.field("member", pa.int64(), nullable=False), pa.field("weight", pa.float64(), nullable=False)])


class Sets(NamedTuple):
    """The texts of a part as sets of members, each with its plain weight; None: all are 1."""

    keys: Keys
    sets: Ragged | ShingleSets
    weights: np.ndarray[Any, np.dtype[np.float32]] | None = None


def sets_of(work: Work, part: int, config: MemberConfig) -> Sets:
    """Return the members of a part's texts."""
    days = (1, work.last_day)
    if isinstance(config, ContainmentConfig):
        rows = work.read_prepared([part], ["id", "newspaper", "day", "shingles"], days)
        return Sets(Keys.of(rows), shingle_sets(rows))
    articles = read_part(work.parts[part], ["content", "boilerplate"], last_day=work.last_day)
    contents = compared_contents(articles, work.mode)
    found = sentence_sets(contents, minimum_characters=config.minimum_characters, weighted=config.weighted)
    return Sets(Keys.of(articles), found.sets, found.weights)


def find_by_members(
    spark: Any, work: Work, _pass: Pass, config: MemberConfig, _first_day: int, folder: Path
) -> dict[str, Any]:
    """Write the pairs of articles that share enough; return what the tasks did."""
    articles = sum(part.articles for part in work.parts)
    each = 400 if isinstance(config, ContainmentConfig) else 20
    ranges = max(spark.sparkContext.defaultParallelism, articles * each // MEMBERS_A_RANGE)
    width = 4 if isinstance(config, ContainmentConfig) else 8

    def send(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column(0).to_pylist():
                held = held_by(sets_of(work, part, config).sets.values)
                yield from sent_by(part, held, ranges).to_batches()

    def keep(received: pa.Table) -> pa.Table:
        [part] = set(received["part"].to_pylist())
        kept = kept_by(sets_of(work, part, config), received, config)
        write_kept(kept, folder, part)
        return pa.table({"part": [part]})

    schema = "range int, part int, members binary, counts binary"
    parts = spark.range(0, len(work.parts), 1, len(work.parts))
    sent = parts.mapInArrow(send, schema)
    counted = sent.groupBy("range").applyInArrow(lambda table: counted_in_range(table, width), schema)
    counted.groupBy("part").applyInArrow(keep, "part long").write.mode("overwrite").parquet(str(folder / "kept"))
    tasks = list(_tiles(work, config.day_window))
    return perform_all(spark, tasks, partial(_pairs_of_tile, folder, config), folder / "tallies")


def _tiles(work: Work, day_window: int) -> Iterator[tuple[int, int]]:
    for one, part in enumerate(work.parts):
        if part.first_day > work.last_day:
            return
        for other in range(one, len(work.parts)):
            if work.parts[other].first_day > min(part.last_day + day_window, work.last_day):
                break
            yield one, other


class Kept(NamedTuple):
    """The texts of a part (TEXTS, with the number of postings of each), and the postings, text by text."""

    texts: pa.Table
    postings: pa.Table


def kept_by(own: Sets, received: pa.Table, config: MemberConfig) -> Kept:
    """Return what a part's texts have in common with others, given how many texts have each of its members."""
    values = own.sets.values
    counts = counts_of_members(values, held_by(values), totals_of(received)).astype(np.int64)
    rows, texts = rows_of(own.sets), len(own.sets.sizes)
    ignored = counts > config.most_articles
    plain = np.ones(len(values)) if own.weights is None else own.weights.astype(np.float64)
    weighted = isinstance(config, SentenceConfig) and config.weighted
    weights = np.where(ignored, 0.0, plain * rarity(counts) if weighted else plain)
    repeated = counts > 1
    shared = repeated & ~ignored
    table = pa.table(
        {
            **dict(zip(("id", "newspaper", "day"), own.keys, strict=True)),
            "size": own.sets.sizes - np.bincount(rows[ignored], minlength=texts),
            "total": _totals(own, rows, repeated, plain - weights),
            "shared": np.bincount(rows[shared], minlength=texts),
        },
        schema=TEXTS,
    )
    members = values[shared].astype(np.int64)
    return Kept(table, pa.table({"member": members, "weight": weights[shared]}, schema=POSTINGS))


def _totals(own: Sets, rows: IntArray, repeated: Any, lost: Floats) -> Floats:
    """Return the total weight of each text, added up as kernels/sentences.py does it."""
    totals = np.zeros(len(own.sets.sizes))
    if own.weights is None:
        return totals
    filled = np.flatnonzero(own.sets.sizes)
    if len(filled):
        totals[filled] = np.add.reduceat(own.weights, own.sets.offsets[filled], dtype=np.float64)
    return totals - np.bincount(rows[repeated], weights=lost[repeated], minlength=len(totals))


def write_kept(kept: Kept, folder: Path, part: int) -> None:
    """Write what a part keeps."""
    write(kept.postings, folder / "postings" / f"{part:06}.parquet")
    write(kept.texts, folder / "texts" / f"{part:06}.parquet")


def _read_kept(folder: Path, part: int) -> Kept:
    return Kept(
        *(parquet.read_table(folder / name / f"{part:06}.parquet", use_threads=False) for name in ("texts", "postings"))
    )


def _pairs_of_tile(folder: Path, config: MemberConfig, tile: tuple[int, int]) -> Done:
    one = _read_kept(folder, tile[0])
    other = None if tile[0] == tile[1] else _read_kept(folder, tile[1])
    pairs, candidates = shared_pairs(one, other, config)
    write(pairs, folder / "pairs" / f"{tile[0]:06}-{tile[1]:06}.parquet")
    return Done(candidates, candidates, pairs.num_rows)


def shared_pairs(one: Kept, other: Kept | None, config: MemberConfig) -> tuple[pa.Table, int]:
    """Return the pairs of two parts, or of one, that share enough; and how many share anything."""
    others = one if other is None else other
    keys, their_keys = Keys.of(one.texts), Keys.of(others.texts)
    tables, candidates = [no_pairs()], 0
    for part in shared_rows(_postings(one), None if other is None else _postings(other)):
        apart = np.abs(keys.days[part.one] - their_keys.days[part.other]) <= config.day_window
        part = SharedRows(*(side[apart] for side in part))  # noqa: PLW2901
        candidates += len(part.one)
        scores, whole = _scored(part, one.texts, others.texts, config)
        reached = scores >= config.threshold - TOLERANCE
        if isinstance(config, ContainmentConfig):
            reached &= part.shared >= config.minimum_shared
        name = "shingles" if isinstance(config, ContainmentConfig) else "sentences"
        details = [
            json.dumps({"shared": shared, name: count}, ensure_ascii=False)
            for shared, count in zip(part.shared[reached].tolist(), whole[reached].tolist(), strict=True)
        ]
        tables.append(
            pair_table(keys.at(part.one[reached]), their_keys.at(part.other[reached]), scores[reached], details)
        )
    return pa.concat_tables(tables), candidates


def _scored(part: SharedRows, one: pa.Table, other: pa.Table, config: MemberConfig) -> tuple[Floats, IntArray]:
    """Return the score of each pair, and what the pass notes next to the number of shared members."""
    sizes, their_sizes = one["size"].to_numpy()[part.one], other["size"].to_numpy()[part.other]
    if isinstance(config, ContainmentConfig):
        shorter = np.minimum(sizes, their_sizes)
        return part.shared / shorter, shorter
    totals = one["total"].to_numpy()[part.one] + other["total"].to_numpy()[part.other]
    return np.minimum(1.0, part.sums / (totals - part.sums)), sizes + their_sizes - part.shared


def _postings(kept: Kept) -> Postings:
    rows = np.repeat(np.arange(kept.texts.num_rows), kept.texts["shared"].to_numpy())
    return Postings(rows, kept.postings["member"].to_numpy(), kept.postings["weight"].to_numpy())


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

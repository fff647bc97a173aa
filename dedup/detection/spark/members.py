"""The passes that compare members of sets on Spark: counts by ranges of hashes, then parts two by two."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from dedup.detection.kernels.parity_join import DayRange
from dedup.detection.kernels.tokens import distinct
from dedup.detection.passes.base import Pass
from dedup.detection.passes.members import MadeMemberPass, MemberPass
from dedup.detection.spark import parts
from dedup.detection.spark.schema import ddl, needed
from dedup.detection.spark.stages import Done, files_of, perform_all, store

# Members in one range of hashes, of all parts: 100 MB.
MEMBERS_A_RANGE = 8_000_000
# Higher counts are the same: a member of more texts than a setting allows is ignored.
MOST_COUNTED = 0xFFFF

Counts = npt.NDArray[np.uint16]
Unsigned = npt.NDArray[np.unsignedinteger[Any]]
# The texts of a part as sets: the members of each, and their weights if the pass weighs them.
SETS = needed(id=pa.int64(), newspaper=pa.int64(), day=pa.int64(), members=pa.binary(), weights=pa.binary())
# Members of a part in a range of hashes: packed, and how many texts have each.
HELD = pa.schema([("range", pa.int32()), ("part", pa.int32()), ("members", pa.binary()), ("counts", pa.binary())])


class Compared(NamedTuple):
    """A pass with its settings, and the folder of its stage."""

    by: MemberPass
    config: Any
    folder: Path

    @property
    def kind(self) -> np.dtype[Any]:
        """How members are stored."""
        return np.dtype(self.by.stored_as)


def find_by_members(
    spark: Any, work: parts.Work, detection_pass: Pass, config: Any, _first_day: int, folder: Path
) -> dict[str, Any]:
    """Write the pairs of articles that share enough; return what the tasks did."""
    compared = Compared(cast("MemberPass", detection_pass), config, folder)
    members = sum(part.articles for part in work.parts) * compared.by.members_an_article
    ranges = max(spark.sparkContext.defaultParallelism, members // MEMBERS_A_RANGE)
    least, width = compared.by.counted_from(config), compared.kind.itemsize

    def send(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column(0).to_pylist():
                values = members_in(sets_of(work, part, compared), compared.kind)
                yield from sent_by(part, values, ranges).to_batches()

    sent = spark.range(0, len(work.parts), 1, max(1, len(work.parts))).mapInArrow(send, ddl(HELD))
    counted = sent.groupBy("range").applyInArrow(lambda table: counted_in_range(table, width, least), ddl(HELD))
    store(counted, folder / "counted", by="part")
    near = parts.near_parts(work.parts, config.day_window)
    tasks = [(one, other) for one, other in near if work.parts[other].first_day <= work.last_day]
    return perform_all(spark, tasks, partial(_pairs_of_tile, work, compared), folder / "tallies")


def sets_of(work: parts.Work, part: int, compared: Compared) -> pa.Table:
    """Return the SETS of a part, by day and id: its shingles as they are stored, or sentences, which are made once."""
    if not isinstance(compared.by, MadeMemberPass):
        rows = work.read_prepared(part, [*parts.KEYS, "shingles"], (1, work.last_day))
        none = pa.array([b""] * rows.num_rows, pa.binary())
        return rows.rename_columns([*parts.KEYS, "members"]).append_column("weights", none)
    file = compared.folder / "sets" / f"{part:06}.parquet"
    if not file.exists():
        articles = parts.read_part(work.parts[part], ["content", "boilerplate"], last_day=work.last_day)
        sets, weights, _ = compared.by.made(parts.compared_contents(articles, work.mode), compared.config)
        blobs = (np.split(array, sets.offsets[1:-1]) if articles.num_rows else [] for array in (sets.values, weights))
        stored = [pa.array([blob.tobytes() for blob in of_texts], pa.binary()) for of_texts in blobs]
        parts.write(pa.table([*articles.select(parts.KEYS).columns, *stored], schema=SETS), file)
    return parquet.read_table(file, use_threads=False)


def members_in(sets: pa.Table, kind: np.dtype[Any]) -> Unsigned:
    """Return the members of SETS, set by set, as unsigned numbers."""
    return np.frombuffer(b"".join(sets["members"].to_pylist()), dtype=f"<u{kind.itemsize}")


def _pairs_of_tile(work: parts.Work, compared: Compared, tile: tuple[int, int]) -> Done:
    numbers = sorted({*tile})
    counted = []
    for part in numbers:
        files = files_of(compared.folder / "counted" / f"part={part}")
        rows = [row for file in files for row in parquet.ParquetFile(file).read().to_pylist()]
        counted.append(counted_of(rows, compared.kind.itemsize))
    pairs, candidates = shared_pairs([sets_of(work, part, compared) for part in numbers], counted, compared)
    parts.write(pairs, compared.folder / "pairs" / f"{tile[0]:06}-{tile[1]:06}.parquet")
    return Done(candidates, candidates, pairs.num_rows)


class Counted(NamedTuple):
    """Members whose number counts, ascending as unsigned numbers, and how many texts have each."""

    members: Unsigned
    counts: Counts


def counted_of(rows: Sequence[dict[str, Any]], width: int) -> Counted:
    """Return what rows of HELD have together."""
    rows = sorted(rows, key=lambda row: row["range"])
    members = [np.empty(0, dtype=f"<u{width}"), *(unpacked(row["members"], width) for row in rows)]
    counts = [np.empty(0, dtype=np.uint16), *(_decompressed(row["counts"], "<u2") for row in rows)]
    return Counted(np.concatenate(members), np.concatenate(counts))


def shared_pairs(sets: Sequence[pa.Table], counted: Sequence[Counted], compared: Compared) -> tuple[pa.Table, int]:
    """Return the pairs of two parts (SETS), or of one, that share enough; and how many share anything."""
    by, config = compared.by, compared.config
    sided = [table.append_column("side", pa.array([side] * table.num_rows)) for side, table in enumerate(sets)]
    texts = pa.concat_tables(sided).sort_by([("day", "ascending"), ("id", "ascending")])
    keys = parts.Keys.of(texts)
    sizes = pc.binary_length(texts["members"]).to_numpy() // compared.kind.itemsize
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])
    weights = np.frombuffer(b"".join(texts["weights"].to_pylist()), dtype="<f4")
    members, places = np.unique(np.concatenate([part.members for part in counted]), return_index=True)
    counts = np.concatenate([part.counts for part in counted])[places].astype(np.int64)
    tables, candidates = [parts.PAIRS.empty_table()], 0
    for found in by.shared(
        by.sets(members_in(texts, compared.kind).view(compared.kind), offsets, weights),
        DayRange(keys.days, 0, config.day_window),
        by.prepared([by.counted(members, counts)]),
        config,
        texts["side"].to_numpy() if len(sets) > 1 else None,
    ):
        candidates += found.candidates
        part = found.reaching(config.threshold)
        noted = zip(part.shared.tolist(), part.members.tolist(), strict=True)
        details = [json.dumps({"shared": number, by.members: count}, ensure_ascii=False) for number, count in noted]
        tables.append(parts.pair_table(keys.at(part.left), keys.at(part.right), part.scores, details))
    return pa.concat_tables(tables), candidates


def sent_by(part: int, values: Unsigned, ranges: int) -> pa.Table:
    """Return the distinct members of a part's sets (HELD), range of hashes by range."""
    members, counts = np.unique(values, return_counts=True)
    counts = np.minimum(counts, MOST_COUNTED).astype(np.uint16)
    edge = 1 << 8 * members.dtype.itemsize
    edges = np.array([edge * number // ranges for number in range(1, ranges)], dtype=members.dtype)
    bounds = [0, *np.searchsorted(members, edges).tolist(), len(members)]
    rows = [
        {"range": number, "part": part, "members": packed(members[begin:end]), "counts": _compressed(counts[begin:end])}
        for number, (begin, end) in enumerate(pairwise(bounds))
        if begin < end
    ]
    return pa.Table.from_pylist(rows, schema=HELD)


def counted_in_range(sent: pa.Table, width: int, least: int) -> pa.Table:
    """Return for each part those of the members that it sent to one range that at least so many texts have (HELD).

    `width` is that of a member in bytes.
    """
    rows = sent.to_pylist()
    members = [unpacked(row["members"], width) for row in rows]
    every = distinct(np.concatenate(members))
    total = np.zeros(len(every), dtype=np.int64)
    places = [np.searchsorted(every, member) for member in members]
    for row, place in zip(rows, places, strict=True):
        total[place] += _decompressed(row["counts"], "<u2")
    bounded = np.minimum(total, MOST_COUNTED).astype(np.uint16)
    often = [place[total[place] >= least] for place in places]
    counted = [
        {**row, "members": packed(every[place]), "counts": _compressed(bounded[place])}
        for row, place in zip(rows, often, strict=True)
        if len(place)
    ]
    return pa.Table.from_pylist(counted, schema=HELD)


def packed(ascending: Unsigned) -> bytes:
    """Return distinct ascending numbers in few bytes: their differences, byte by byte, compressed."""
    differences = np.diff(ascending, prepend=ascending[:1] * 0)
    planes = differences.view(np.uint8).reshape(len(ascending), ascending.dtype.itemsize).T
    return _compressed(np.ascontiguousarray(planes))


def unpacked(data: bytes, width: int) -> Unsigned:
    """Return the numbers that were packed, of `width` bytes each."""
    planes = _decompressed(data, np.uint8).reshape(width, -1)
    differences = np.ascontiguousarray(planes.T).view(f"<u{width}").ravel()
    return np.cumsum(differences, dtype=f"<u{width}")


def _compressed(values: npt.NDArray[np.generic]) -> bytes:
    data = np.ascontiguousarray(values).tobytes()
    return len(data).to_bytes(8, "little") + bytes(pa.compress(data, codec="zstd", asbytes=True))


def _decompressed(data: bytes, kind: Any) -> npt.NDArray[Any]:
    size = int.from_bytes(data[:8], "little")
    return np.frombuffer(pa.decompress(data[8:], size, codec="zstd", asbytes=True), dtype=kind)

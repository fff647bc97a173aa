"""The articles of an export in parts that fit into a worker's memory, whatever files they came in."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.normalization.titles import plain_title
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.kernels.masked_shingles import ShingleSets, masked_shingle_sets
from dedup.detection.kernels.tokens import IntArray
from dedup.detection.spark.schema import needed

# What identifies and orders an article; every table of articles here has these columns, with days as ordinal numbers.
KEYS = ("id", "newspaper", "day")
_EPOCH = datetime.date(1970, 1, 1).toordinal()


class Part(NamedTuple):
    """Row groups of a file of articles, one next to the other. Days are ordinal numbers, both included."""

    first_day: int
    last_day: int
    path: str
    first_group: int
    stop_group: int
    articles: int

    def overlaps(self, first_day: int, last_day: int) -> bool:
        """Return whether the part may have articles of these days."""
        return self.first_day <= last_day and first_day <= self.last_day


class Keys(NamedTuple):
    """Articles as arrays: ids, newspapers, days as ordinal numbers."""

    ids: IntArray
    newspapers: IntArray
    days: IntArray

    @classmethod
    def of(cls, articles: pa.Table) -> Keys:
        """Return the keys of a table of articles."""
        return cls(*(articles[name].to_numpy() for name in KEYS))

    def at(self, rows: IntArray) -> Keys:
        """Return the keys of some rows."""
        return Keys(self.ids[rows], self.newspapers[rows], self.days[rows])


def parts_of(folder: Path, most: int) -> list[Part]:
    """Return the parts of a folder of articles, in order of days: row groups of at most `most` articles together.

    A single row group may have more. Only the footers of the files are read.
    """
    return sorted(part for path in sorted(folder.glob("*.parquet")) for part in _parts_of_file(path, most))


def _parts_of_file(path: Path, most: int) -> Iterator[Part]:
    groups = list(_groups(path))
    start = 0
    while start < len(groups):
        stop, articles = start + 1, groups[start][2]
        while stop < len(groups) and articles + groups[stop][2] <= most:
            articles += groups[stop][2]
            stop += 1
        some = groups[start:stop]
        yield Part(min(group[0] for group in some), max(group[1] for group in some), str(path), start, stop, articles)
        start = stop


def _groups(path: Path) -> Iterator[tuple[int, int, int]]:
    """Yield the first and the last day of each row group, and its number of articles."""
    with parquet.ParquetFile(path) as file:
        column = file.schema_arrow.get_field_index("day")
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            known = group.column(column).statistics
            if known is None or not known.has_min_max:
                days = pc.min_max(file.read_row_group(number, columns=["day"])["day"]).as_py()
                yield days["min"].toordinal(), days["max"].toordinal(), group.num_rows
            else:
                yield known.min.toordinal(), known.max.toordinal(), group.num_rows


def read_part(
    part: Part, columns: Sequence[str], *, last_day: int | None = None, ids: IntArray | None = None
) -> pa.Table:
    """Return the articles of a part with KEYS and these columns, ordered by day and id; none after `last_day`.

    With `ids`, only those of them that are in the part. The column "text" is the text that passes compare.
    """
    stored = {*KEYS, *columns}
    if "text" in stored:
        stored = stored - {"text"} | {"normalized_text", "reduced_text"}
    with parquet.ParquetFile(part.path) as file:
        table = file.read_row_groups(range(part.first_group, part.stop_group), columns=sorted(stored))
    table = table.set_column(table.schema.get_field_index("day"), "day", ordinals(table["day"]))
    if last_day is not None and part.last_day > last_day:
        table = table.filter(pc.less_equal(table["day"], last_day))
    if ids is not None:
        table = rows_with(table, ids)
    if "text" in columns:
        table = table.append_column("text", pc.coalesce(table["reduced_text"], table["normalized_text"]))
    return table.select([*KEYS, *columns]).sort_by([("day", "ascending"), ("id", "ascending")])


def ordinals(days: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates as ordinal numbers."""
    return pc.add(days.cast(pa.int32()), pa.scalar(_EPOCH, pa.int32())).cast(pa.int64())


def rows_with(articles: pa.Table, ids: IntArray) -> pa.Table:
    """Return the articles with these ids, in the same order as in the table."""
    return articles.filter(pa.array(np.isin(articles["id"].to_numpy(), ids)))


def write(table: pa.Table, path: Path) -> None:
    """Write a file at once: it is there whole, or not at all. Written twice, it is the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{np.random.default_rng().integers(1 << 62):x}")
    parquet.write_table(table, unfinished, compression="zstd", compression_level=1)
    unfinished.replace(path)


# What `prepared` reads of a part, and what it returns. `shingles` are those of the text that is compared, as they are
# stored in a database (masked_shingles.py).
READ: Final = ("headline", "text")
PREPARED: Final = needed(id=pa.int64(), newspaper=pa.int64(), day=pa.int64(), form=pa.string(), shingles=pa.binary())
# With more known words than this, the preparer starts over.
_KNOWN_WORDS = 400_000


def prepared(articles: pa.Table, affixes: Mapping[int, Sequence[str]]) -> pa.Table:
    """Return the PREPARED rows of articles (KEYS, READ), in their order."""
    texts = articles["text"].to_pylist()
    sets = masked_shingle_sets(texts)
    blobs = [members.astype("<u4").tobytes() for members in np.split(sets.values, sets.offsets[1:-1])] if texts else []
    columns = {name: articles[name] for name in KEYS}
    columns |= {
        "form": pa.array(_forms(articles, affixes), pa.string()),
        "shingles": pa.array(blobs, pa.binary()),
    }
    return pa.table([columns[name] for name in PREPARED.names], schema=PREPARED)


def _forms(articles: pa.Table, affixes: Mapping[int, Sequence[str]]) -> list[str]:
    preparer = Preparer()
    forms = []
    for newspaper, headline in zip(articles["newspaper"].to_pylist(), articles["headline"].to_pylist(), strict=True):
        if preparer.known_words > _KNOWN_WORDS:
            preparer = Preparer()
        forms.append(preparer.headline_form(plain_title(headline, affixes[newspaper])))
    return forms


def shingle_sets(rows: pa.Table) -> ShingleSets:
    """Return the shingles of PREPARED rows."""
    blobs = rows["shingles"].to_pylist()
    offsets = np.cumsum([0, *(len(blob) // 4 for blob in blobs)], dtype=np.int64)
    return ShingleSets(np.frombuffer(b"".join(blobs), dtype="<u4"), offsets)


def compared_contents(articles: pa.Table, mode: Mode) -> list[str]:
    """Return the contents of articles (content, boilerplate) as they are compared."""
    contents: list[str] = articles["content"].to_pylist()
    if mode is Mode.KEEP:
        return contents
    marks = map(json.loads, articles["boilerplate"].to_pylist())
    return [without_boilerplate(content, marked, mode) for content, marked in zip(contents, marks, strict=True)]

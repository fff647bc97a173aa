"""The articles of an export in parts that fit into a worker's memory, whatever files they came in; and pairs of them.

A task reads some parts and writes a file, and knows no Spark. It may be done twice, on two machines at a time: its
file is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.normalization.titles import plain_title
from dedup.detection.comparison.prepared import Preparer
from dedup.detection.kernels.masked_shingles import as_stored, masked_shingle_sets
from dedup.detection.kernels.tokens import Alphabet, IntArray
from dedup.detection.spark.schema import EPOCH, Bundle, alphabet_of, needed
from dedup.detection.spark.stages import Done

# What identifies and orders an article; every table of articles here has these columns, with days as ordinal numbers.
KEYS = ("id", "newspaper", "day")


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


# A pair that a pass proposes, left < right, with the days (ordinal numbers) and newspapers of both articles.
# `details` is JSON, as Candidate.evidence.
PAIRS: Final = needed(
    left=pa.int64(), right=pa.int64(), score=pa.float64(), details=pa.string(), left_day=pa.int64(),
    right_day=pa.int64(), left_newspaper=pa.int64(), right_newspaper=pa.int64(),
)  # fmt: skip


def pair_table(
    one: Keys, other: Keys, scores: npt.NDArray[np.float64], details: Sequence[str] | None = None
) -> pa.Table:
    """Return the pairs of the articles `one` and `other`, row by row."""
    swapped = one.ids > other.ids
    left = Keys(*(np.where(swapped, theirs, ours) for ours, theirs in zip(one, other, strict=True)))
    right = Keys(*(np.where(swapped, ours, theirs) for ours, theirs in zip(one, other, strict=True)))
    noted = pa.array(["{}"] * len(scores) if details is None else details, pa.string())
    days, newspapers = (left.days, right.days), (left.newspapers, right.newspapers)
    return pa.table([left.ids, right.ids, scores.astype(np.float64), noted, *days, *newspapers], schema=PAIRS)


def parts_of(folder: Path, most: int) -> list[Part]:
    """Return the parts of a folder of articles, in order of days: row groups of at most `most` articles together.

    A single row group may have more. Only the footers of the files are read.
    """
    return sorted(part for path in sorted(folder.glob("*.parquet")) for part in _parts_of_file(path, most))


def near_parts(parts: Sequence[Part], day_window: int) -> Iterator[tuple[int, int]]:
    """Yield the parts, by their numbers, that may have articles within the window of each other; each with itself too.

    They are in order of their first days: what begins after the window of a part's last day meets none of it.
    """
    for one, part in enumerate(parts):
        for other in range(one, len(parts)):
            if parts[other].first_day > part.last_day + day_window:
                break
            yield one, other


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
    days = pc.add(table["day"].cast(pa.int32()), pa.scalar(EPOCH, pa.int32())).cast(pa.int64())
    table = table.set_column(table.schema.get_field_index("day"), "day", days)
    if last_day is not None and part.last_day > last_day:
        table = table.filter(pc.less_equal(table["day"], last_day))
    if ids is not None:
        table = rows_with(table, ids)
    if "text" in columns:
        table = table.append_column("text", pc.coalesce(table["reduced_text"], table["normalized_text"]))
    return table.select([*KEYS, *columns]).sort_by([("day", "ascending"), ("id", "ascending")])


def rows_with(articles: pa.Table, ids: IntArray) -> pa.Table:
    """Return the articles with these ids, in the same order as in the table."""
    return articles.filter(pa.array(np.isin(articles["id"].to_numpy(), ids)))


def of_days(articles: pa.Table, first_day: int, last_day: int) -> pa.Table:
    """Return the articles of these days, both included."""
    day = articles["day"]
    return articles.filter(pc.and_(pc.greater_equal(day, first_day), pc.less_equal(day, last_day)))


def read_file(file: Path, columns: Sequence[str]) -> pa.Table:
    """Return columns of a file."""
    return parquet.read_table(file, columns=list(columns), use_threads=False)


def read_all(files: Iterable[Path], schema: pa.Schema) -> pa.Table:
    """Return the rows of some files; none if there are no files."""
    tables = [read_file(file, schema.names).cast(schema) for file in files]
    return pa.concat_tables([schema.empty_table(), *tables])


def write(table: pa.Table, path: Path) -> None:
    """Write a file at once: it is there whole, or not at all. Written twice, it is the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{np.random.default_rng().integers(1 << 62):x}")
    parquet.write_table(table, unfinished, compression="zstd", compression_level=1)
    unfinished.replace(path)


# A prepared article. `shingles` are those of the text that is compared, as they are stored in a database
# (masked_shingles.py).
PREPARED: Final = needed(id=pa.int64(), newspaper=pa.int64(), day=pa.int64(), form=pa.string(), shingles=pa.binary())


@dataclass(frozen=True)
class Work:
    """What every task needs: the export in parts, and the folder of the articles that are prepared."""

    root: Path
    parts: Sequence[Part]
    last_day: int
    mode: Mode
    prepared: Path

    @cached_property
    def affixes(self) -> dict[int, list[str]]:
        """What each newspaper adds to headlines."""
        rows = Bundle(self.root).read("newspapers").select(["id", "affixes"]).to_pylist()
        return {row["id"]: row["affixes"] for row in rows}

    @cached_property
    def alphabet(self) -> Alphabet:
        """How the database's pg_trgm sees single characters."""
        return alphabet_of(Bundle(self.root).read("alphabet"))

    def file_of(self, part: int) -> Path:
        """Return the file of the prepared articles of a part."""
        return self.prepared / f"{part:06}.parquet"

    def parts_with(self, first_day: int, last_day: int) -> list[int]:
        """Return the parts that may have articles of these days."""
        return [number for number, part in enumerate(self.parts) if part.overlaps(first_day, last_day)]

    def read_prepared(self, part: int, columns: Sequence[str], days: tuple[int, int]) -> pa.Table:
        """Return the prepared articles of a part that are of some days."""
        return of_days(read_file(self.file_of(part), columns), *days)


def prepare(work: Work, part: int) -> Done:
    """Write the prepared articles of a part, those after the last day too."""
    articles, affixes, preparer = read_part(work.parts[part], ["headline", "text"]), work.affixes, Preparer()
    headlines = zip(articles["newspaper"].to_pylist(), articles["headline"].to_pylist(), strict=True)
    forms = preparer.headline_forms([plain_title(headline, affixes[newspaper]) for newspaper, headline in headlines])
    shingles = as_stored(masked_shingle_sets(articles["text"].to_pylist()))
    made = [pa.array(forms, pa.string()), pa.array(shingles, pa.binary())]
    write(pa.table([*articles.select(KEYS).columns, *made], schema=PREPARED), work.file_of(part))
    return Done()


def compared_contents(articles: pa.Table, mode: Mode) -> list[str]:
    """Return the contents of articles (content, boilerplate) as they are compared."""
    contents: list[str] = articles["content"].to_pylist()
    if mode is Mode.KEEP:
        return contents
    marks = map(json.loads, articles["boilerplate"].to_pylist())
    return [without_boilerplate(content, marked, mode) for content, marked in zip(contents, marks, strict=True)]

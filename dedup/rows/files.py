"""Files of rows for other programs: what an export is, and its rows as CSV, JSON lines or Parquet.

pyarrow is an extra: nothing of it is imported before a Parquet file is asked for.
"""

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, islice
from typing import Any, BinaryIO

from django.db import transaction
from django.db.models import QuerySet

from articles.files.cells import csv_text, guarded
from articles.loading import require
from dedup.rows.columns import Column, ColumnType, Rows

# Rows fetched from the database at a time, and of a row group of Parquet; memory holds no more.
ROWS_AT_ONCE = 2_000
# A piece of so many lines is handed on at once.
_LINES_AT_ONCE = 200

Cells = Iterable[dict[str, Any]]


@dataclass(frozen=True)
class Export:
    """A table for other programs. `read` yields the rows of a list, ordered by ids; `of` has their columns.

    `filter` returns the filter of the list; values that are not valid are ignored, as in the list.
    """

    name: str
    help: str
    of: Rows
    read: Callable[[QuerySet[Any]], Iterator[Any]]
    filter: Callable[[Any], Any]

    @cached_property
    def columns(self) -> Mapping[str, str]:
        """The names of the columns with what they mean."""
        return self.of.file_columns()

    def rows(self, chosen: QuerySet[Any]) -> Iterator[dict[str, Any]]:
        """Return the cells of each row of a list by column."""
        return map(self.of.file_values(), self.read(chosen))


def in_batches(rows: QuerySet[Any]) -> Iterator[list[Any]]:
    """Yield rows of a query ROWS_AT_ONCE at a time, all as of one moment: a cursor of the server keeps the others."""
    with transaction.atomic():
        streamed = rows.iterator(ROWS_AT_ONCE)
        while batch := list(islice(streamed, ROWS_AT_ONCE)):
            yield batch


def json_lines(_columns: Iterable[str], rows: Cells) -> Iterator[str]:
    """Yield a JSON object for each row; days are YYYY-MM-DD, and moments are ISO 8601 in UTC."""
    lines = (json.dumps(row, ensure_ascii=False, default=_plain) + "\n" for row in rows)
    while piece := list(islice(lines, _LINES_AT_ONCE)):
        yield "".join(piece)


def csv_lines(columns: Iterable[str], rows: Cells) -> Iterator[str]:
    """Yield a header and a line for each row.

    What is none is an empty cell; lists and mappings are JSON. A text that a spreadsheet would run as a formula gets an
    apostrophe in front.
    """
    yield csv_text([columns])
    lines = ([_cell(value) for value in row.values()] for row in rows)
    while piece := list(islice(lines, _LINES_AT_ONCE)):
        yield csv_text(piece)


FORMATS: dict[str, Callable[[Iterable[str], Cells], Iterator[str]]] = {"csv": csv_lines, "jsonl": json_lines}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, datetime.date):
        return _plain(value)
    return json.dumps(value, ensure_ascii=False) if value or value in (0, False) else ""


def _plain(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat(timespec="seconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"a row holds {value!r}, which JSON cannot represent")


def check_parquet() -> None:
    """Raise MissingPackageError if Parquet cannot be written or read."""
    require("pyarrow", ", or use .csv or .jsonl instead")


def write_parquet(file: BinaryIO, columns: Sequence[Column], extra: Sequence[str], rows: Iterable[Any]) -> None:
    """Write rows: sequences of the values of `columns`, then of texts for the `extra` columns. Empty texts are null."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

    names = _distinct([column.name for column in columns], extra)
    fields = [(column.name, _type(pa, column.type)) for column in columns] + [(name, pa.string()) for name in names]
    schema = pa.schema(fields)
    rows = iter(rows)
    # zstd: R, DuckDB, pandas and polars read it, and texts take half the space of snappy.
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := list(islice(rows, ROWS_AT_ONCE)):
            values = zip(schema.types, zip(*batch, strict=True), strict=True)
            arrays = [pa.array(_days(cells) if pa.types.is_date(kind) else cells, kind) for kind, cells in values]
            writer.write_batch(pa.record_batch(arrays, schema))
    file.flush()


def _type(pa: Any, kind: ColumnType) -> Any:
    def objects(*names: str) -> Any:
        return pa.list_(pa.struct([(name, pa.string()) for name in names]))

    types = {
        ColumnType.INTEGER: pa.int64(),
        ColumnType.TEXT: pa.string(),
        ColumnType.DAY: pa.date32(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.TEXTS: pa.list_(pa.string()),
        ColumnType.URLS: objects("url", "kind"),
        ColumnType.HEADLINES: objects("headline", "date", "url"),
    }
    return types[kind]


def _days(cells: Iterable[datetime.date | str | None]) -> list[datetime.date | None]:
    return [datetime.date.fromisoformat(cell) if isinstance(cell, str) else cell for cell in cells]


def _distinct(taken: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names, with a number after those that another column has: DuckDB ignores their case."""
    used = {name.lower() for name in taken}
    distinct = []
    for name in names:
        numbered = chain([name], (f"{name}.{number}" for number in count(2)))
        distinct.append(next(own for own in numbered if own.lower() not in used))
        used.add(distinct[-1].lower())
    return distinct

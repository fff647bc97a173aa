"""Writes rows as Parquet. pyarrow is an extra: nothing of it is imported before a Parquet file is asked for."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, BinaryIO

from articles.loading import require
from dedup.rows.columns import Column, ColumnType

# Rows of a row group; memory holds the texts of one.
_ROWS_AT_ONCE = 2_000


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
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            values = zip(schema.types, zip(*batch, strict=True), strict=True)
            arrays = [
                pa.array(map(_day, column) if pa.types.is_date(kind) else column, kind) for kind, column in values
            ]
            writer.write_batch(pa.record_batch(arrays, schema))


def _type(pa: Any, kind: ColumnType) -> Any:
    texts: dict[ColumnType, tuple[str, ...]] = {
        ColumnType.URLS: ("url", "kind"),
        ColumnType.HEADLINES: ("headline", "date", "url"),
    }
    if kind in texts:
        return pa.list_(pa.struct([(name, pa.string()) for name in texts[kind]]))
    simple = {
        ColumnType.INTEGER: pa.int64(),
        ColumnType.TEXT: pa.string(),
        ColumnType.DAY: pa.date32(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.TEXTS: pa.list_(pa.string()),
    }
    return simple[kind]


def _day(value: datetime.date | str | None) -> datetime.date | None:
    return datetime.date.fromisoformat(value) if isinstance(value, str) else value


def _distinct(taken: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names, with a number after those that another column has: DuckDB ignores their case."""
    used = {name.lower() for name in taken}
    distinct = []
    for name in names:
        number, own = 1, name
        while own.lower() in used:
            number += 1
            own = f"{name}.{number}"
        used.add(own.lower())
        distinct.append(own)
    return distinct

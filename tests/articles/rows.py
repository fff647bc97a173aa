"""Rows of the files that tests import."""

import json
from collections.abc import Iterator
from typing import BinaryIO

from articles.files.columns import check_columns
from articles.files.importing import Row, row_of
from articles.files.records import FileFormat, find_rows
from articles.storage.incoming import IncomingArticle


def row(number: int = 1, **changes: object) -> dict[str, object]:
    values = {
        "date": "2026-03-02",
        "newspaper": "Harbour Post",
        "url": f"https://harbourpost.example/{number}",
        "headline": f"Ferry number {number}",
        "content": f"Ferry number {number} sails to Little Skerry.",
    }
    return values | changes


def json_lines(*rows: object) -> bytes:
    return b"".join(json.dumps(written).encode() + b"\n" for written in rows)


def read_rows(stream: BinaryIO, file_format: FileFormat, newspaper: str = "") -> Iterator[Row[IncomingArticle]]:
    """Yield the rows of a file; `newspaper` is used for those that do not name one."""
    return (row_of(found, newspaper) for found in find_rows(stream, file_format, check_header=check_columns))

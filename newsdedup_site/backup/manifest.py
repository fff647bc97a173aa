"""What a backup says of itself: who wrote it, the state of the tables, and how many rows each has."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class BackupError(RuntimeError):
    """A backup cannot be made; nothing was written, and an older file of that name stays."""


class DamagedBackupError(RuntimeError):
    """A file is no backup, or not as it was written. Nothing was restored."""


class RestoreError(RuntimeError):
    """A backup cannot be restored here, and the message says what to do. Nothing was restored."""


# Called with a step and the number of bytes done in it.
Progress = Callable[[str, int], None]
# Increase this when a reader of before could not read a backup any more.
LAYOUT = 1


class Format(StrEnum):
    """How the rows are stored."""

    PG_DUMP = "pg_dump"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns in order, its rows, and their digest (tables.py), which does not depend on their order.

    `sha256` is that of its data as COPY wrote it; empty in the format of pg_dump.
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    digest: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A sequence and where it was."""

    name: str
    last_value: int
    is_called: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup has. `postgresql` is the server's version as a number, such as 180006.

    `sha256` is that of the bytes before the manifest in the format of pg_dump, and empty otherwise.
    """

    format: Format
    newsdedup: str
    postgresql: int
    made_at: str
    migrations: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    sequences: tuple[Sequence, ...]
    sha256: str = ""

    @property
    def rows(self) -> int:
        """The rows of all tables."""
        return sum(table.rows for table in self.tables)

    @property
    def server(self) -> int:
        """The major version of the server."""
        return self.postgresql // 10_000

    def packed(self) -> bytes:
        """Return it as a file has it."""
        return json.dumps({"layout": LAYOUT, **asdict(self)}, indent=1).encode()

    @classmethod
    def unpacked(cls, packed: bytes, found_in: Format) -> Manifest:
        """Return what packed() made for a file of this format. Raises DamagedBackupError."""
        try:
            values: dict[str, Any] = json.loads(packed)
            if values.pop("layout") != LAYOUT:
                raise DamagedBackupError("The backup has a newer layout. Upgrade newsdedup, then restore it.")
            if Format(values["format"]) is not found_in:
                raise DamagedBackupError("The list of what the backup has is of another format. Use another backup.")
            return cls(
                **values
                | {
                    "format": found_in,
                    "migrations": tuple((app, name) for app, name in values["migrations"]),
                    "tables": tuple(
                        Table(**table | {"columns": tuple(table["columns"])}) for table in values["tables"]
                    ),
                    "sequences": tuple(Sequence(**sequence) for sequence in values["sequences"]),
                }
            )
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedBackupError("The list of what the backup has is damaged. Use another backup.") from error

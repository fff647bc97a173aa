"""Opens a backup of any format by its first bytes."""

from __future__ import annotations

from typing import BinaryIO

from newsdedup_site.backup import container, dump
from newsdedup_site.backup.errors import DamagedBackupError

Reader = container.Reader | dump.Reader
_ZIP_MAGIC = b"PK\x03\x04"


def reader_of(raw: BinaryIO) -> Reader:
    """Return the reader of a backup. Raises DamagedBackupError if it is none, or was cut off."""
    raw.seek(0)
    start = raw.read(len(dump.MAGIC))
    if start == dump.MAGIC:
        return dump.Reader(raw)
    if start.startswith(_ZIP_MAGIC):
        return container.Reader(raw)
    raise DamagedBackupError("The file is not a backup: neither `manage.py backup` nor pg_dump has written it.")

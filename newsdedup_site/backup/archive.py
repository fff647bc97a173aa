"""The file of a backup: a ZIP file of a member for each table, as COPY writes it, and manifest.json at its end."""

import errno
import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any, BinaryIO

from psycopg.sql import SQL, Composed, Identifier

from newsdedup_site.backup.manifest import DamagedBackupError, Manifest, Progress, Table

_AT_ONCE = 1 << 20
MANIFEST = "manifest.json"
_COPY_OUT_SQL = SQL("COPY {table} ({columns}) TO STDOUT")
_COPY_IN_SQL = SQL("COPY {table} ({columns}) FROM STDIN")
# Level 6 takes half as long again for a file that is hardly smaller.
_LEVEL = 4
_OF_ZIP, _OF_PG_DUMP = b"PK\x03\x04", b"PGDMP"
_RESTORED_BY_PROGRAM = (
    "Earlier states of newsdedup wrote such backups too: restore it with pg_restore (docs/upgrading.md, “Backups”)."
)
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


def write(raw: BinaryIO, cursor: Any, manifest: Manifest, on_bytes: Callable[[int], None]) -> Manifest:
    """Write all tables to a file, one after the other, and the manifest; return that."""
    packed = zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
    try:
        digests = [_write_table(packed, cursor, table, on_bytes) for table in manifest.tables]
        tables = (replace(table, sha256=digest) for table, digest in zip(manifest.tables, digests, strict=True))
        manifest = replace(manifest, tables=tuple(tables))
        packed.writestr(MANIFEST, manifest.packed())
        packed.close()
    except BaseException:
        # A file that has failed gets no end, not even when the archive is collected.
        packed.fp = None
        raise
    return manifest


def _write_table(packed: zipfile.ZipFile, cursor: Any, table: Table, on_bytes: Callable[[int], None]) -> str:
    """Write the rows of a table; return the SHA-256 of what COPY wrote."""
    digest = hashlib.sha256()
    with (
        packed.open(_member(table.name), "w", force_zip64=True) as member,
        cursor.copy(_copy(_COPY_OUT_SQL, table)) as copy,
    ):
        for block in _blocks(copy):
            digest.update(block)
            member.write(block)
            on_bytes(len(block))
    return digest.hexdigest()


def _blocks(copy: Any) -> Iterator[bytes]:
    """Yield what COPY writes, row by row, in larger parts: compressing each row by itself takes longer."""
    held: list[bytes] = []
    size = 0
    for row in copy:
        held.append(bytes(row))
        size += len(row)
        if size >= _AT_ONCE:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


class Archive:
    """Reads a backup. Raises DamagedBackupError wherever it is damaged, or if the file is none, or was cut off."""

    def __init__(self, raw: BinaryIO) -> None:
        raw.seek(0)
        start = raw.read(len(_OF_PG_DUMP))
        if start == _OF_PG_DUMP:
            raise DamagedBackupError("The file is of pg_dump. " + _RESTORED_BY_PROGRAM)
        if not start.startswith(_OF_ZIP):
            raise DamagedBackupError("The file is not a backup: `manage.py backup` has not written it.")
        with _readable():
            self._zip = zipfile.ZipFile(raw)
            with self._part(MANIFEST) as packed:
                self.manifest = Manifest.unpacked(packed.read())

    def check(self, progress: Progress) -> None:
        """Read it as a whole."""
        for table in self.manifest.tables:
            for block in self._table(table):
                progress("check", len(block))

    def restore(self, cursor: Any, table: Table, on_bytes: Callable[[int], None]) -> None:
        """Copy the rows of a table into the database."""
        with cursor.copy(_copy(_COPY_IN_SQL, table)) as copy:
            for block in self._table(table):
                copy.write(block)
                on_bytes(len(block))

    def _table(self, table: Table) -> Iterator[bytes]:
        digest = hashlib.sha256()
        with _readable(), self._part(_member(table.name)) as member:
            while block := member.read(_AT_ONCE):
                digest.update(block)
                yield block
        if digest.hexdigest() != table.sha256:
            raise DamagedBackupError(f"The rows of {table.name} are not those that were written. Use another backup.")

    def _part(self, name: str) -> IO[bytes]:
        """Open a part. One changed bit makes the method bzip2, whose module reports damage as an OSError."""
        member = self._zip.getinfo(name)
        if member.compress_type != zipfile.ZIP_DEFLATED:
            raise DamagedBackupError(f"{name} is compressed in another way than it was written. Use another backup.")
        return self._zip.open(member)


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise DamagedBackupError(f"The backup lacks a part: {error.args[0]}. Use another backup.") from error
    except _UNREADABLE as error:
        # Invalid is a place before the beginning of the file; other errors of the system are those of its disk.
        if isinstance(error, DamagedBackupError) or (isinstance(error, OSError) and error.errno != errno.EINVAL):
            raise
        raise DamagedBackupError(f"The backup is damaged: {error}. Use another backup.") from error


def _member(table: str) -> str:
    return f"tables/{table}.copy"


def _copy(statement: SQL, table: Table) -> Composed:
    return statement.format(table=Identifier(table.name), columns=SQL(", ").join(map(Identifier, table.columns)))

"""The formats of a backup.

`copy`: a ZIP file with a member for each table, as COPY writes it, and manifest.json as the last one.

`pg_dump`: a file of pg_dump's custom format, followed by the manifest. pg_restore reads such a file as if the manifest
were not there: what is where is said at its beginning. The last bytes are the manifest, its SHA-256, its length in
eight bytes, big-endian, and MARK.
"""

import errno
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, BinaryIO

import psycopg
from django.db import connection
from psycopg.sql import SQL, Composed, Identifier

from newsdedup_site.backup.manifest import (
    BackupError,
    DamagedBackupError,
    Format,
    Manifest,
    Progress,
    RestoreError,
    Table,
)
from newsdedup_site.embedded.folders import program_path

_AT_ONCE = 1 << 20
MANIFEST = "manifest.json"
_COPY_OUT_SQL = SQL("COPY {table} ({columns}) TO STDOUT")
_COPY_IN_SQL = SQL("COPY {table} ({columns}) FROM STDIN")
# Level 6 takes half as long again for a file that is hardly smaller.
_LEVEL = 4
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


def write_copy(raw: BinaryIO, cursor: Any, manifest: Manifest, on_bytes: Callable[[int], None]) -> Manifest:
    """Write all tables to a file of the format `copy`, one after the other, and the manifest; return that."""
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


class CopyReader:
    """Reads a file of the format `copy`. Raises DamagedBackupError wherever it is damaged."""

    def __init__(self, raw: BinaryIO) -> None:
        with _readable():
            self._zip = zipfile.ZipFile(raw)
            with self._part(MANIFEST) as packed:
                self.manifest = Manifest.unpacked(packed.read(), Format.COPY)

    def blocks(self) -> Iterator[bytes]:
        for table in self.manifest.tables:
            yield from self._table(table)

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


_DEBIAN = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
MISSING = (
    "There is no {name} of version {version} or newer on this machine. Install it (on Debian "
    "postgresql-client-{version}), or {otherwise} --format copy."
)


def program_for(name: str, version: int) -> str | None:
    """Return the path of a program of PostgreSQL: the oldest here of a major version or newer; None without one."""
    versions = {path: _version(path) for path in _paths(name)}
    fitting = [path for path, own in versions.items() if own >= version]
    return min(fitting, key=lambda path: versions[path], default=None)


def _paths(name: str) -> Iterator[str]:
    if on_path := shutil.which(name):
        yield on_path
    yield from sorted(map(str, _DEBIAN.glob(f"*/bin/{name}")))
    if embedded := program_path(name):
        yield str(embedded)


def _version(path: str) -> int:
    try:
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    match = _VERSION.search(shown)
    return int(match[1]) if match else 0


def environment() -> dict[str, str]:
    """Return the environment of a program that connects to Django's database.

    The password is in no argument, which every user of the machine can list.
    """
    names = {option.keyword.decode(): option.envvar for option in psycopg.pq.Conninfo.get_defaults()}
    given = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    connection.ensure_connection()
    for keyword, value in connection.get_connection_params().items():
        variable = names.get(keyword)
        if variable and value not in (None, ""):
            given[variable.decode()] = str(value)
    return given | {"LC_ALL": "C.UTF-8"}


MAGIC = b"PGDMP"
MARK = b"newsdedup backup\n"
_LENGTH = 8
_DIGEST = hashlib.sha256().digest_size
# The extension may belong to the server's owner, and the schema exists.
_LEFT_OUT = (" COMMENT - EXTENSION ", " SCHEMA - ", " COMMENT - SCHEMA ")


def write_dump(
    raw: BinaryIO, program: str, schema: str, snapshot: str, manifest: Manifest, on_bytes: Callable[[int], None]
) -> Manifest:
    """Write what a snapshot of the database has, and the manifest; return that. Raises BackupError."""
    command = [
        program, "--format=custom", "--no-password", "--no-owner", "--no-privileges", "--lock-wait-timeout=60s",
        f"--snapshot={snapshot}", f"--schema={schema}", "--extension=pg_trgm",
    ]  # fmt: skip
    digest = hashlib.sha256()
    with _running(command, "pg_dump", BackupError, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        while block := process.stdout.read(_AT_ONCE):
            digest.update(block)
            raw.write(block)
            on_bytes(len(block))
    manifest = replace(manifest, sha256=digest.hexdigest())
    packed = manifest.packed()
    raw.write(packed + hashlib.sha256(packed).digest() + len(packed).to_bytes(_LENGTH, "big") + MARK)
    return manifest


class DumpReader:
    """Reads a file of the format `pg_dump`. Raises DamagedBackupError wherever it is damaged."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.manifest, self._size = _manifest_of(raw)

    def restore(self, program: str, on_bytes: Callable[[int], None]) -> None:
        """Have pg_restore restore it in one transaction. Raises RestoreError.

        It gets the file from this process, so that it ends without a trace if this one is killed.
        """
        with tempfile.NamedTemporaryFile("w", suffix=".list") as wanted:
            wanted.write(self._wanted(program))
            wanted.flush()
            command = [
                program, "--no-password", "--no-owner", "--no-privileges", "--single-transaction",
                "--exit-on-error", f"--use-list={wanted.name}",
                f"--dbname={connection.get_connection_params().get('dbname', '')}",
            ]  # fmt: skip
            with _running(command, "pg_restore", RestoreError, stdin=subprocess.PIPE) as process:
                for block in self.blocks():
                    try:
                        process.stdin.write(block)
                    except BrokenPipeError:
                        break  # it has ended, and says why
                    on_bytes(len(block))

    def _wanted(self, program: str) -> str:
        """Return the list of what is to be restored, as pg_restore lists it."""
        self._raw.seek(0)
        shown = subprocess.run([program, "--list"], stdin=self._raw, capture_output=True, text=True, check=False)
        if shown.returncode:
            raise DamagedBackupError(f"pg_restore cannot read the backup: {shown.stderr.strip()}")
        lines = shown.stdout.splitlines(keepends=True)
        return "".join(line for line in lines if not any(entry in line for entry in _LEFT_OUT))

    def blocks(self) -> Iterator[bytes]:
        """Yield all that is before the manifest."""
        digest, left = hashlib.sha256(), self._size
        self._raw.seek(0)
        while left and (block := self._raw.read(min(_AT_ONCE, left))):
            left -= len(block)
            digest.update(block)
            yield block
        if left or digest.hexdigest() != self.manifest.sha256:
            raise DamagedBackupError("The backup is not as it was written: its bytes have changed. Use another backup.")


def _manifest_of(raw: BinaryIO) -> tuple[Manifest, int]:
    """Return the manifest, and how many bytes there are before it."""
    end = raw.seek(0, os.SEEK_END)
    tail = _DIGEST + _LENGTH + len(MARK)
    raw.seek(max(end - tail, 0))
    found = raw.read(tail)
    length = int.from_bytes(found[_DIGEST : _DIGEST + _LENGTH], "big")
    if not found.endswith(MARK) or length > end - tail:
        raise DamagedBackupError(
            "The backup does not end as `manage.py backup` writes it: it was cut off, or pg_dump alone wrote it. Use "
            "another backup, or pg_restore for a file of pg_dump."
        )
    raw.seek(end - tail - length)
    packed = raw.read(length)
    if hashlib.sha256(packed).digest() != found[:_DIGEST]:
        raise DamagedBackupError("The list of what the backup has is damaged. Use another backup.")
    return Manifest.unpacked(packed, Format.PG_DUMP), end - tail - length


@contextmanager
def _running(command: list[str], name: str, error: type[Exception], **pipes: Any) -> Iterator[Any]:
    """Run a program in this block; end it if the block fails. Raises `error` with what it said last."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, env=environment(), stderr=said, **pipes)
        try:
            yield process
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with suppress(BrokenPipeError):
                        pipe.close()
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        if code:
            said.seek(0)
            reason = said.read().decode(errors="replace").strip()[-1000:]
            raise error(f"{name} failed with code {code}: {reason}")


AnyReader = CopyReader | DumpReader
_ZIP_MAGIC = b"PK\x03\x04"


def reader_of(raw: BinaryIO) -> AnyReader:
    """Return the reader of a backup. Raises DamagedBackupError if it is none, or was cut off."""
    raw.seek(0)
    start = raw.read(len(MAGIC))
    if start == MAGIC:
        return DumpReader(raw)
    if start.startswith(_ZIP_MAGIC):
        return CopyReader(raw)
    raise DamagedBackupError("The file is not a backup: neither `manage.py backup` nor pg_dump has written it.")


def check_all(reader: AnyReader, progress: Progress) -> None:
    """Read a backup as a whole. Raises DamagedBackupError."""
    for block in reader.blocks():
        progress("check", len(block))

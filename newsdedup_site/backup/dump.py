"""The format `pg_dump`: a file of pg_dump's custom format, followed by the manifest.

pg_restore reads such a file as if the manifest were not there: what is where is said at its beginning. The last bytes
are the manifest, its SHA-256, its length in eight bytes, big-endian, and MARK.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import psycopg
from django.db import connection

from newsdedup_site.backup.manifest import BackupError, DamagedBackupError, Format, Manifest, RestoreError
from newsdedup_site.embedded.folders import program_path

_DEBIAN = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
MISSING = (
    "There is no {name} of version {version} or newer on this machine. Install it (on Debian "
    "postgresql-client-{version}), or {otherwise} --format copy."
)


class Program(NamedTuple):
    """A program of PostgreSQL and its major version."""

    path: str
    version: int


def program_for(name: str, version: int) -> Program | None:
    """Return the oldest of a program of this machine that is of a major version or newer; None if there is none."""
    found = [Program(path, own) for path in _paths(name) if (own := _version(path)) >= version]
    return min(found, key=lambda program: program.version, default=None)


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
_AT_ONCE = 1 << 20
# The extension may belong to the server's owner, and the schema exists.
_LEFT_OUT = (" COMMENT - EXTENSION ", " SCHEMA - ", " COMMENT - SCHEMA ")


def write(
    raw: BinaryIO, program: Program, schema: str, snapshot: str, manifest: Manifest, on_bytes: Callable[[int], None]
) -> Manifest:
    """Write what a snapshot of the database has, and the manifest; return that. Raises BackupError."""
    command = [
        program.path, "--format=custom", "--no-password", "--no-owner", "--no-privileges", "--lock-wait-timeout=60s",
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


class Reader:
    """Reads a file of this format. Raises DamagedBackupError wherever it is damaged."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.manifest, self._size = _manifest_of(raw)

    def restore(self, program: Program, on_bytes: Callable[[int], None]) -> None:
        """Have pg_restore restore it in one transaction. Raises RestoreError.

        It gets the file from this process, so that it ends without a trace if this one is killed.
        """
        with tempfile.NamedTemporaryFile("w", suffix=".list") as wanted:
            wanted.write(self._wanted(program))
            wanted.flush()
            command = [
                program.path, "--no-password", "--no-owner", "--no-privileges", "--single-transaction",
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

    def _wanted(self, program: Program) -> str:
        """Return the list of what is to be restored, as pg_restore lists it."""
        self._raw.seek(0)
        shown = subprocess.run([program.path, "--list"], stdin=self._raw, capture_output=True, text=True, check=False)
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

"""Makes a backup: one file with all rows as they were at one moment, complete or not there at all."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from django.utils import timezone

from articles.files.whole_files import UnwritableError, whole_bytes
from articles.versions import newsdedup_version
from newsdedup_site.backup import container, dump
from newsdedup_site.backup.container import check_all, reader_of
from newsdedup_site.backup.dump import Program, program_for
from newsdedup_site.backup.manifest import BackupError, Format, Manifest, Progress, Table
from newsdedup_site.backup.tables import (
    digest_of,
    lock,
    migrations_of,
    one_moment,
    sequences_of,
    server_version,
    tables_of,
)


def back_up(path: Path, wanted: Format | None, *, replace_it: bool, progress: Progress) -> Manifest:
    """Write a backup of the database; return what it has.

    `wanted`: the format; None: pg_dump's if this machine has a pg_dump that fits the server. While it is written,
    editors and runs go on. Only the user who makes it can read it. Before it gets its name it is read again as a whole.
    Raises BackupError and UnwritableError.
    """
    _check_path(path, replace_it=replace_it)
    program = _program(wanted)
    try:
        with whole_bytes(path, mode=stat.S_IRUSR | stat.S_IWUSR, replace=replace_it) as raw:
            manifest = _write(raw, program, progress)
            raw.flush()
            check_all(reader_of(raw), progress)
    except UnwritableError as error:
        if isinstance(error.__cause__, FileExistsError):
            raise BackupError(f"{path} has been written meanwhile. Choose another name, or give --force.") from error
        raise
    return manifest


def _check_path(path: Path, *, replace_it: bool) -> None:
    if path.exists() and not path.is_file():
        raise BackupError(f"{path} is not a file. Name a file.")
    if path.exists() and not replace_it:
        raise BackupError(f"{path} exists. Choose another name, or give --force to replace it.")
    if not path.parent.is_dir():
        raise BackupError(f"{path.parent} is not a folder. Create it first.")


def _program(wanted: Format | None) -> Program | None:
    """Return the pg_dump to use; None: the format `copy`."""
    if wanted is Format.COPY:
        return None
    version = server_version() // 10_000
    program = program_for("pg_dump", version)
    if program is None and wanted is Format.PG_DUMP:
        raise BackupError(dump.MISSING.format(name="pg_dump", version=version, otherwise="use"))
    return program


def _write(raw: BinaryIO, program: Program | None, progress: Progress) -> Manifest:
    with one_moment() as cursor:
        sequences = sequences_of(cursor)
        columns = tables_of(cursor)
        if "django_migrations" not in columns:
            raise BackupError("The database has no tables of newsdedup. Check DATABASE_URL.")
        lock(cursor, list(columns))
        manifest = Manifest(
            format=Format.PG_DUMP if program else Format.COPY,
            newsdedup=newsdedup_version(),
            postgresql=server_version(),
            made_at=timezone.now().isoformat(timespec="seconds"),
            migrations=migrations_of(cursor),
            tables=tuple(_counted(cursor, name, names, progress) for name, names in columns.items()),
            sequences=sequences,
        )
        if program:
            cursor.execute("SELECT pg_export_snapshot(), current_schema()")
            snapshot, schema = cursor.fetchone()
            return dump.write(raw, program, schema, snapshot, manifest, lambda size: progress("write", size))
        return _write_container(raw, cursor, manifest, progress)


def _counted(cursor: Any, name: str, columns: tuple[str, ...], progress: Progress) -> Table:
    rows, digest = digest_of(cursor, name, columns)
    progress("count", rows)
    return Table(name, columns, rows, digest)


def _write_container(raw: BinaryIO, cursor: Any, manifest: Manifest, progress: Progress) -> Manifest:
    with container.Writer(raw) as writer:
        tables = tuple(
            replace(table, sha256=writer.write(cursor, table.name, table.columns, lambda size: progress("write", size)))
            for table in manifest.tables
        )
        manifest = replace(manifest, tables=tables)
        writer.close(manifest)
    return manifest

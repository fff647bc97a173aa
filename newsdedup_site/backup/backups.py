"""Makes a backup and restores it: one file with all rows as they were at one moment, whole or not there at all."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, LiteralString

from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone
from psycopg.sql import SQL, Identifier

from articles.files.whole_files import UnwritableError, whole_bytes
from articles.querysets import executed
from articles.storage.locks import Lock, waited_lock
from articles.versions import newsdedup_version
from dedup.checks import check_trigrams
from newsdedup_site.backup import archive
from newsdedup_site.backup.manifest import (
    BackupError,
    DamagedBackupError,
    Manifest,
    Progress,
    RestoreError,
    Table,
    digest_of,
    drop_all,
    first_filled,
    migrations_of,
    sequences_of,
    server_version,
    set_up,
    tables_of,
)

_SNAPSHOT_SQL: LiteralString = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# Nobody changes the tables, apart from their rows, until the transaction ends.
_LOCK_SQL = SQL("LOCK TABLE {} IN ACCESS SHARE MODE")


def back_up(path: Path, *, replace_it: bool, progress: Progress) -> Manifest:
    """Write a backup of the database; return what it has.

    While it is written, editors and runs go on. Only the user who makes it can read it. Before it gets its name it is
    read again as a whole. Raises BackupError and UnwritableError.
    """
    _check_path(path, replace_it=replace_it)
    try:
        with whole_bytes(path, mode=stat.S_IRUSR | stat.S_IWUSR, replace=replace_it) as raw:
            manifest = _write(raw, progress)
            raw.flush()
            archive.Archive(raw).check(progress)
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


def _write(raw: BinaryIO, progress: Progress) -> Manifest:
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        # What is written from here on, it does not see.
        cursor.execute(_SNAPSHOT_SQL)
        set_up(cursor)
        sequences = sequences_of(cursor)
        columns = tables_of(cursor)
        if "django_migrations" not in columns:
            raise BackupError("The database has no tables of newsdedup. Check DATABASE_URL.")
        cursor.execute(_LOCK_SQL.format(SQL(", ").join(map(Identifier, columns))))
        manifest = Manifest(
            newsdedup=newsdedup_version(),
            postgresql=server_version(),
            made_at=timezone.now().isoformat(timespec="seconds"),
            migrations=migrations_of(cursor),
            tables=tuple(_counted(cursor, name, names, progress) for name, names in columns.items()),
            sequences=sequences,
        )
        return archive.write(raw, cursor, manifest, partial(progress, "write"))


def _counted(cursor: Any, name: str, columns: tuple[str, ...], progress: Progress) -> Table:
    rows, digest = digest_of(cursor, name, columns)
    progress("count", rows)
    return Table(name, columns, rows, digest)


# Foreign keys and the indexes that no constraint needs, and how each is made again. Rows are copied several times as
# fast without them, in any order.
_REMOVED_SQL: LiteralString = """
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND contype = 'f'
UNION ALL
SELECT format('DROP INDEX %s', indexed.indexrelid::regclass), pg_get_indexdef(indexed.indexrelid)
FROM pg_index AS indexed
JOIN pg_class AS class ON class.oid = indexed.indexrelid
WHERE class.relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexed.indexrelid)
"""
_TRUNCATE_SQL = SQL("TRUNCATE {}")
# Triggers give a row that is stored a new revision; a restored one has its own.
_TRIGGERS_OFF_SQL = SQL("ALTER TABLE {} DISABLE TRIGGER USER")
_TRIGGERS_ON_SQL = SQL("ALTER TABLE {} ENABLE TRIGGER USER")
_SETVAL_SQL: LiteralString = "SELECT setval(%(name)s::regclass, %(last_value)s, %(is_called)s)"


@contextmanager
def opened(path: Path) -> Iterator[archive.Archive]:
    """Open a backup. Raises DamagedBackupError, and RestoreError if it cannot be read."""
    try:
        with path.open("rb") as raw:
            try:
                found = archive.Archive(raw)
            except DamagedBackupError as error:
                raise DamagedBackupError(f"{path}: {error}") from error
            yield found
    except OSError as error:
        raise RestoreError(f"{path} cannot be read: {error.strerror or error}.") from error


def check(path: Path, progress: Progress) -> Manifest:
    """Read a backup as a whole, without a database; return what it has. Raises DamagedBackupError."""
    with opened(path) as found:
        found.check(progress)
        return found.manifest


def restore(path: Path, progress: Progress) -> Manifest:
    """Restore a backup into the database, which must be empty; return what the backup has.

    A database counts as empty if it has no tables, or those of `migrate` and nothing in them. The backup is read as a
    whole before anything is changed, and its rows are one transaction: a restore that fails, or is killed, leaves the
    database empty. At last the rows are compared with those that were backed up. Raises DamagedBackupError and
    RestoreError.
    """
    with opened(path) as found:
        _check_state(found.manifest)
        found.check(progress)
        with waited_lock(connection, Lock.MIGRATE):
            _check_empty()
            _restore(found, progress)
        executed("ANALYZE")
        return found.manifest


def missing_migrations() -> list[str]:
    """Return the migrations of this version that the database lacks."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def _check_state(manifest: Manifest) -> None:
    """Raise RestoreError for a backup of a newer version."""
    known = MigrationExecutor(connection).loader.disk_migrations or {}
    names = set(known) | {replaced for migration in known.values() for replaced in migration.replaces}
    apps = {app for app, _ in names}
    newer = [f"{app}.{name}" for app, name in manifest.migrations if app in apps and (app, name) not in names]
    if newer:
        raise RestoreError(
            f"The backup is of newsdedup {manifest.newsdedup}, which has the migration {newer[-1]}; this is "
            f"{newsdedup_version()}, which does not know it. Upgrade newsdedup, then restore the backup."
        )


def _check_empty() -> None:
    errors = check_trigrams([connection.alias])
    if errors:
        raise RestoreError(f"{errors[0].msg} {errors[0].hint}")
    with connection.cursor() as cursor:
        if table := first_filled(cursor):
            raise RestoreError(
                f"The database is not empty: {table} has rows. Restore into an empty database, for example a new one "
                "(docs/running.md, “The database”)."
            )


def _restore(found: archive.Archive, progress: Progress) -> None:
    manifest = found.manifest
    _bring_to(manifest)
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        set_up(cursor)
        _check_tables(tables_of(cursor), manifest)
        names = [table.name for table in manifest.tables]
        for name in names:
            cursor.execute(_TRIGGERS_OFF_SQL.format(Identifier(name)))
        cursor.execute(_REMOVED_SQL)
        removed = cursor.fetchall()
        for drop, _ in removed:
            cursor.execute(drop)
        cursor.execute(_TRUNCATE_SQL.format(SQL(", ").join(map(Identifier, names))))
        for table in manifest.tables:
            found.restore(cursor, table, partial(progress, "restore"))
        _compare(cursor, manifest, progress)
        # Indexes first: whoever checks a foreign key reads them.
        for _, make in sorted(removed, key=lambda statements: statements[0].startswith("ALTER")):
            cursor.execute(make)
        for name in names:
            cursor.execute(_TRIGGERS_ON_SQL.format(Identifier(name)))
        for sequence in manifest.sequences:
            cursor.execute(_SETVAL_SQL, asdict(sequence) | {"name": f'"{sequence.name}"'})


def _bring_to(manifest: Manifest) -> None:
    """Make the tables as they were when the backup was made."""
    with transaction.atomic(), connection.cursor() as cursor:
        if "django_migrations" in tables_of(cursor) and migrations_of(cursor) == manifest.migrations:
            return
        drop_all(cursor)
    executor = MigrationExecutor(connection)
    # A backup made before migrations were squashed has some of those that were replaced.
    squashed = {key for key, migration in executor.loader.disk_migrations.items() if migration.replaces}
    if not squashed <= set(manifest.migrations):
        executor.loader = MigrationLoader(connection, replace_migrations=False)
    nodes = executor.loader.graph.node_map
    known = [key for key in manifest.migrations if key in nodes]
    # A later migration of the same app, which the backup has too, brings these along.
    followed = {key for key in known for child in nodes[key].children if child.key[0] == key[0] and child.key in known}
    executor.migrate([key for key in known if key not in followed])


def _check_tables(found: dict[str, tuple[str, ...]], manifest: Manifest) -> None:
    for table in manifest.tables:
        if set(found.get(table.name, ())) != set(table.columns):
            raise RestoreError(
                f"The table {table.name} of the backup has other columns than the migrations of this version give it. "
                f"Restore it with newsdedup {manifest.newsdedup}, which made it, and upgrade then."
            )


def _compare(cursor: Any, manifest: Manifest, progress: Progress) -> None:
    """Compare the rows in the database with those that were backed up."""
    set_up(cursor)
    for table in manifest.tables:
        rows, digest = digest_of(cursor, table.name, table.columns)
        if (rows, digest) != (table.rows, table.digest):
            raise RestoreError(
                f"The table {table.name} has {rows:,} rows, which are not the {table.rows:,} that were backed "
                "up. Restore another backup into another empty database, and report it."
            )
        progress("compare", rows)

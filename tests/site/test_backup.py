"""A backup restores every row or nothing, and says why; squashed migrations make the tables of the chain."""

import random
import re
import stat
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg.sql import SQL, Identifier

from dedup.models import Pair
from dedup.review.answers.decisions import decide_pair
from newsdedup_site.backup.archive import Archive
from newsdedup_site.backup.backups import check
from newsdedup_site.backup.manifest import DamagedBackupError, first_filled, tables_of
from tests.conftest import StoreArticle
from tests.databases import TEST_KEY, database_url, own_database, pg_dump, run_python, start, url_of
from tests.factories import make_cluster, make_user
from tests.upgrades import states

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("backup")]
TARGET = "newsdedup_restored"


def back_up(path: Path, *options: str) -> Path:
    call_command("backup", str(path), *options)
    return path


def rows_of(cursor: Any) -> dict[str, list[bytes]]:
    """Return all rows of all tables, as COPY writes them, in one order."""
    found = {}
    for table, columns in tables_of(cursor).items():
        names = SQL(", ").join(map(Identifier, columns))
        with cursor.copy(SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(names, Identifier(table))) as copy:
            found[table] = sorted(bytes(row) for row in copy)
    return found


@pytest.fixture
def archive(store: StoreArticle) -> None:
    """An archive with a cluster, odd characters, a decision and a login."""
    make_cluster(store("a tab \t, a backslash \\ and \\. here"), store("two\nlines, “quotes”, Москва 🗞"))
    decide_pair(Pair.objects.get().pk, "confirm", user=make_user("anna", "editor"))


@pytest.fixture
def target() -> Iterator[psycopg.Connection[Any]]:
    """An empty database on the same server, and a connection to it."""
    options = "LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'"
    with own_database(TARGET, options=options) as url, psycopg.connect(url, autocommit=True) as opened:
        yield opened


def restore(path: Path, *options: str) -> tuple[int, str]:
    """Restore a backup into the target in a process of its own; return its exit code and what it printed."""
    done = run_python("manage.py", "restore", str(path), *options, DATABASE_URL=url_of(TARGET), SECRET_KEY=TEST_KEY)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.usefixtures("archive")
def test_every_row_is_restored_into_an_empty_database(tmp_path: Path, target: psycopg.Connection[Any]) -> None:
    with connection.cursor() as cursor:
        before = rows_of(cursor)
        cursor.execute("SELECT last_value FROM articles_article_revision")
        [revision] = cursor.fetchone()
    path = back_up(tmp_path / "newsdedup.backup")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    assert restore(path)[0] == 0
    assert rows_of(target.cursor()) == before
    # What is there is not overwritten.
    code, said = restore(path)
    assert (code, "The database is not empty: articles_article has rows." in said) == (1, True)
    assert rows_of(target.cursor()) == before

    # The tables of a new database, without rows: the triggers must not give rows new revisions.
    target.execute(SQL("TRUNCATE {}").format(SQL(", ").join(map(Identifier, before.keys() - {"django_migrations"}))))
    target.execute("SELECT setval('articles_article_revision', 1)")
    assert restore(path)[0] == 0
    assert rows_of(target.cursor()) == before
    assert target.execute("SELECT last_value FROM articles_article_revision").fetchone() == (revision,)
    with pytest.raises(psycopg.errors.RaiseException, match="append_only"):
        target.execute("DELETE FROM dedup_link")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        target.execute("INSERT INTO dedup_changedarticle (article) SELECT 1; DELETE FROM articles_newspaper")
    assert target.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid").fetchone() == (0,)


@pytest.mark.usefixtures("archive")
def test_a_file_that_was_cut_or_changed_is_never_restored_as_something_else(tmp_path: Path) -> None:
    whole = back_up(tmp_path / "whole").read_bytes()
    damaged = tmp_path / "damaged"
    for size in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        damaged.write_bytes(whole[:size])
        with pytest.raises(DamagedBackupError):
            check(damaged, lambda _step, _done: None)
    seed = random.randrange(2**32)
    places = random.Random(seed)
    with (tmp_path / "whole").open("rb") as raw:
        manifest = Archive(raw).manifest
    changes = [(places.randrange(len(whole)), 1 << places.randrange(8)) for _ in range(40)]
    # The last part of a ZIP file becomes one of bzip2, whose module reports damage as an OSError.
    changes.append((whole.rfind(b"PK\x01\x02") + 10, zipfile.ZIP_DEFLATED ^ zipfile.ZIP_BZIP2))
    # And where its directory is would be before the beginning of the file.
    changes.append((whole.rfind(b"PK\x05\x06") + 18, 1))
    for place, bit in changes:
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        try:
            # A bit that says nothing, such as one of the time in a header of the ZIP file, may differ.
            assert check(damaged, lambda _step, _done: None) == manifest, f"byte {place}, seed {seed}"
        except DamagedBackupError:
            continue


@pytest.mark.usefixtures("archive")
def test_an_older_backup_stays_unless_it_is_to_be_replaced_by_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "newsdedup.backup"
    path.write_text("older")
    with pytest.raises(CommandError, match=r"exists\. Choose another name, or give --force to replace it\."):
        back_up(path)

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(zipfile._ZipWriteFile, "write", full)  # type: ignore[attr-defined]
        with pytest.raises(CommandError, match=r"cannot be written: No space left on device"):
            back_up(path, "--force")
    assert [file.name for file in tmp_path.iterdir()] == ["newsdedup.backup"]
    assert path.read_text() == "older"
    back_up(path, "--force")
    assert check(path, lambda _step, _done: None).rows > 100


def test_a_database_that_migrate_has_just_made_counts_as_empty() -> None:
    # The rows that every test finds are those of the migrations.
    with connection.cursor() as cursor:
        assert first_filled(cursor) == ""


def test_other_files_are_refused_with_what_they_are(tmp_path: Path) -> None:
    other = tmp_path / "articles.jsonl"
    other.write_text('{"headline": "Not a backup"}')
    with pytest.raises(CommandError, match=r"articles.jsonl: The file is not a backup: `manage.py backup` has not"):
        call_command("restore", str(other), "--check")
    other.write_bytes(b"PGDMP\x01\x0f")
    with pytest.raises(CommandError, match=r"of pg_dump.* restore it with pg_restore \(docs/upgrading.md, “Backups”\)"):
        call_command("restore", str(other), "--check")
    with pytest.raises(CommandError, match=r"nothing.here cannot be read: No such file or directory."):
        call_command("restore", str(tmp_path / "nothing.here"), "--check")


@pytest.mark.slow
@pytest.mark.usefixtures("archive")
def test_a_backup_of_a_newer_version_is_refused_before_anything_is_changed(
    tmp_path: Path, target: psycopg.Connection[Any]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('dedup', '9999_later', now())")
        try:
            path = back_up(tmp_path / "newer")
        finally:  # no test puts the rows of this table back
            cursor.execute("DELETE FROM django_migrations WHERE name = '9999_later'")
    code, said = restore(path)
    assert code == 1
    assert "which has the migration dedup.9999_later" in said
    assert "Upgrade newsdedup, then restore the backup." in said
    assert tables_of(target.cursor()) == {}


@pytest.mark.soak  # makes the tables by each migration of the years before
@pytest.mark.usefixtures("archive")
def test_a_backup_from_before_migrations_were_squashed_is_restored(
    tmp_path: Path, target: psycopg.Connection[Any]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE squashed AS SELECT * FROM django_migrations WHERE name ~ 'squashed'")
        cursor.execute("DELETE FROM django_migrations WHERE name ~ 'squashed'")
        try:
            before = rows_of(cursor)
            path = back_up(tmp_path / "older")
        finally:  # no test puts the rows of this table back
            cursor.execute("INSERT INTO django_migrations SELECT * FROM squashed")
    assert restore(path)[0] == 0
    assert rows_of(target.cursor()) == before


# What is named after the moment or the program of a dump, and a line at each of its ends that differs every time.
_OF_THE_DUMP = re.compile(r"^(--.*|\\(un)?restrict .*|)\n", re.MULTILINE)
# A restored check is written with other casts and parentheses than the one that was dumped.
_CASTS = re.compile(r"::(character varying|text)(\[\])?|[()]")
_RIGHTS_SQL = """
SELECT role.name, type.app_label, permission.codename
FROM auth_group AS role
JOIN auth_group_permissions AS given ON given.group_id = role.id
JOIN auth_permission AS permission ON permission.id = given.permission_id
JOIN django_content_type AS type ON type.id = permission.content_type_id
ORDER BY 1, 2, 3
"""


def schema_of(url: str) -> list[str]:
    command = [pg_dump(), "--schema-only", "--no-owner", "--no-privileges", "--schema=public", f"--dbname={url}"]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return _CASTS.sub("", _OF_THE_DUMP.sub("", dump)).splitlines()


@pytest.mark.slow
def test_a_new_database_has_the_tables_and_roles_of_one_upgraded_from_an_earlier_version() -> None:
    fresh = schema_of(database_url())
    assert sum(line.startswith("CREATE TABLE") for line in fresh) > 90
    with connection.cursor() as cursor:
        cursor.execute(_RIGHTS_SQL)
        rights = cursor.fetchall()
    with own_database(f"{connection.settings_dict['NAME']}_chain") as url:
        states.restore(states.STATES[-1], url)
        process = start(url, "manage.py", "migrate", "--verbosity", "1")
        said, errors = process.communicate()
        assert process.returncode == 0, errors
        assert "dedup.0055_kept_corpora" in said
        assert "squashed" not in said
        assert schema_of(url) == fresh
        with psycopg.connect(url) as upgraded:
            assert upgraded.execute(_RIGHTS_SQL).fetchall() == rights


def test_a_migration_may_depend_on_one_that_was_replaced() -> None:
    for loader in (MigrationLoader(connection), MigrationLoader(connection, replace_migrations=False)):
        loader.check_consistent_history(connection)
        for key, migration in loader.graph.nodes.items():
            if migration is not None and migration.replaces:
                assert set(migration.replaces) <= set(loader.applied_migrations), key


def test_old_migrations_are_replaced_without_a_gap() -> None:
    """Whatever a squashed migration does not replace comes after the last one that it replaces."""
    found = MigrationLoader(None).disk_migrations
    for key, squashed in found.items():
        if key[0] in {"articles", "crawlers", "dedup", "newsdedup_site"} and squashed.replaces:
            last = max(squashed.replaces)
            later = {name for app, name in found if app == key[0]} - {name for _, name in squashed.replaces} - {key[1]}
            assert all(name > last[1] for name in later), later

"""The squashed migrations make what the chain of migrations makes that they replace."""

from __future__ import annotations

import re
import subprocess

import psycopg
import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from newsdedup_site.backup.dump import program_for
from newsdedup_site.backup.manifest import server_version
from tests.databases import database_url, own_database, start
from tests.upgrades.states import STATES, restore

pytestmark = pytest.mark.django_db

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
    program = program_for("pg_dump", server_version() // 10_000)
    assert program is not None
    command = [program.path, "--schema-only", "--no-owner", "--no-privileges", "--schema=public", f"--dbname={url}"]
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
        restore(STATES[-1], url)
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

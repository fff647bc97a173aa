"""Five rounds of the crash tests, on a database of the tests' own server; `python -m tests.crash` does the others."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from psycopg.sql import SQL, Identifier

from tests.crash.installation import Installation
from tests.crash.rounds import crash, faults_of, rounds_of, undisturbed
from tests.crash.subjects import Subject, subjects
from tests.databases import child_environment, database_url
from tests.stored_rows import BOOKS, KEYS, Differences, compared, stored_rows

pytestmark = pytest.mark.django_db(transaction=True)

SEED = 20_260_309


class TestServer(Installation):
    """A copy of the test database, whose server other tests use: it is not killed."""

    __test__ = False
    kills_server = False

    def __init__(self, folder: Path, database: str) -> None:
        url = database_url().replace(f"/{connection.settings_dict['NAME']}?", f"/{database}?")
        (folder / "output").mkdir()
        self.database, self.url = database, url
        environment = os.environ | child_environment() | {"DATABASE_URL": url}
        super().__init__(folder, environment, small_disks=False)

    def _address(self) -> dict[str, Any]:
        return {"conninfo": self.url}

    def drop(self) -> None:
        """Drop all that was made here."""
        with psycopg.connect(database_url(), autocommit=True) as server:
            made = server.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [self.database])
            for (name,) in made.fetchall():
                server.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@pytest.fixture(scope="module")
def installation(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestServer]:
    original = connection.settings_dict["NAME"]
    with django_db_blocker.unblock():
        made = TestServer(tmp_path_factory.mktemp("crash"), f"{original}_crash")
        connection.close()  # a database in use cannot be copied
    made.drop()
    try:
        made._copy(original, made.database)
        made.keep("empty")
        (made.folder / "files").mkdir()
        made.prepare("file_of_articles", str(made.folder / "files" / "articles.jsonl"), "90")
        yield made
    finally:
        made.close()
        made.drop()


def named(installation: Installation, name: str) -> Subject:
    [found] = [subject for subject in subjects(installation.folder / "files") if subject.name == name]
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)  # two dozen processes, on a machine that may be busy
def test_what_dies_is_run_again_and_every_row_is_there_once(installation: TestServer) -> None:
    importing = named(installation, "import_articles")
    expected = undisturbed(installation, importing)
    assert len(expected.rows["articles_article"]) == 81  # of 90 rows and 40 more of the same, those with a text
    faults = ["kill", "kill soon", "terminate"]
    assert faults_of(installation, importing) == faults
    rounds = [crash(installation, importing, expected, fault, f"{SEED}-{fault}") for fault in faults]
    installation.put_back("empty")
    installation.run(*importing.arguments)
    installation.keep("sample")
    exporting = named(installation, "export_articles jsonl")
    expected = undisturbed(installation, exporting)
    faults = ["die at a write", "file too large"]
    rounds += [crash(installation, exporting, expected, fault, f"{SEED}-{fault}") for fault in faults]
    assert [round_.wrong for round_ in rounds] == [[]] * 5
    assert all(round_.hit and round_.resumed for round_ in rounds)


@pytest.mark.slow
def test_rows_that_are_lost_doubled_or_different_are_found(installation: TestServer) -> None:
    importing = named(installation, "import_articles")
    installation.put_back("empty")
    installation.run(*importing.arguments)
    with installation.connected() as database:
        before = stored_rows(database)
        database.execute("UPDATE articles_article SET id = id + 1000000, stored_at = now() WHERE false")
        assert compared(before, stored_rows(database)) == Differences()
        [first, second, third] = database.execute("SELECT id FROM articles_article ORDER BY id LIMIT 3").fetchall()
        database.execute("UPDATE articles_article SET headline = 'Another' WHERE id = %s", first)
        database.execute("DELETE FROM articles_articleurl WHERE article_id = %s", second)
        database.execute("INSERT INTO dedup_separatearticles (one, other) VALUES (%s, %s)", first + third)
        found = compared(before, stored_rows(database))
    assert [line.partition(" ")[0] for line in found.lost] == ["articles_articleurl"]
    assert [line.partition(" ")[0] for line in found.doubled] == ["dedup_separatearticles"]
    assert [line.partition(" ")[0] for line in found.inconsistent] == ["articles_article"]


def test_every_table_that_is_named_is_there() -> None:
    assert {*KEYS, *BOOKS} <= set(connection.introspection.table_names())


def test_a_round_is_found_by_what_is_in_its_name_and_drawn_with_its_seed(installation: TestServer) -> None:
    planned = rounds_of(installation, 7)
    assert [planned, rounds_of(installation, 8)] == [rounds_of(installation, seed) for seed in (7, 8)]
    assert {round_.name for round_ in rounds_of(installation, 7, "crawl/")} == {
        f"crawl/{fault}/7" for fault in ("kill", "kill soon", "terminate")
    }
    assert [round_.name for round_ in rounds_of(installation, 7, "crawl/kill/7")] == ["crawl/kill/7"]
    assert not rounds_of(installation, 7, "crawl/kill/8")
    assert rounds_of(installation, 7, "crawl/kill/7")[0] in planned

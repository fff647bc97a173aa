"""The log of the embedded server: no statement and no value of a row, whatever goes wrong, and of a bounded size."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import psycopg
import pytest

from newsdedup_site.embedded import folders
from tests.site.test_embedded import ASK, CHECKOUT, MAKE_HOME, STOP, Home, open_folder, server

__all__ = ["open_folder", "server"]

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("DATABASE_URL")), reason="DATABASE_URL names a server: none is embedded"),
    pytest.mark.xdist_group("embedded"),
]

# It stands for the text of an article.
MARK = "Marmalade over Selby"
USE = "from newsdedup_site.embedded import server; server.ensure_running(); print('up', flush=True); input()"
TABLES = f"""
CREATE TABLE article (id integer PRIMARY KEY, url text UNIQUE, content text CHECK (length(content) < 100));
INSERT INTO article VALUES (1, '{MARK} 1', '{MARK}'), (2, '{MARK} 2', '{MARK}');
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused: %', NEW.content; END $$;
CREATE TABLE refusing (content text);
CREATE TRIGGER refuse BEFORE INSERT ON refusing FOR EACH ROW EXECUTE FUNCTION refuse();
"""
REFUSED = [
    (f"INSERT INTO article VALUES (3, '{MARK} 1', '')", psycopg.errors.UniqueViolation),
    (f"INSERT INTO article VALUES (3, '', repeat('{MARK}', 9))", psycopg.errors.CheckViolation),
    (f"INSERT INTO article VALUES (NULL, '', '{MARK}')", psycopg.errors.NotNullViolation),
    (f"SELECT '{MARK}'::integer", psycopg.errors.InvalidTextRepresentation),
    (f"SELECT 1 FROM nowhere WHERE content = '{MARK}'", psycopg.errors.UndefinedTable),
    (f"INSERT INTO refusing VALUES ('{MARK}')", psycopg.errors.RaiseException),
    (f"SET statement_timeout = '20ms'; SELECT pg_sleep(9), '{MARK}'", psycopg.errors.QueryCanceled),
    (f"SELECT 1 '{MARK}' '{MARK}", psycopg.errors.SyntaxError),
]


def kill_a_busy_process(home: Home) -> None:
    """Have the server lose a process in the middle of a statement: it logs which one, and restarts."""
    busy, other = home.connect(), home.connect()
    number = busy.info.backend_pid

    def ask() -> None:
        with pytest.raises(psycopg.OperationalError):
            busy.execute(f"SELECT pg_sleep(60), '{MARK}'")

    asked = threading.Thread(target=ask)
    asked.start()
    while other.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", [number]).fetchone() != ("active",):
        pass
    os.kill(number, signal.SIGKILL)
    asked.join(60)
    busy.close()
    other.close()


def test_no_statement_and_no_row_is_logged_and_the_log_of_earlier_versions_goes(server) -> None:
    run = Path(server.run("-c", MAKE_HOME)) / "run"
    run.mkdir()
    (run / "server.log").write_text(f"STATEMENT:  INSERT INTO article VALUES ('{MARK}')\n")
    with server.start("-c", USE) as user:
        assert user.stdout.readline() == "up\n"
        with server.connect() as connection:
            connection.execute(TABLES)
            for statement, error in REFUSED:
                with pytest.raises(error):
                    connection.execute(statement)
            connection.execute("RESET statement_timeout")
            with pytest.raises(psycopg.errors.InvalidTextRepresentation, match=MARK):
                connection.execute("SELECT %s::text::integer", [MARK])
            with (
                pytest.raises(psycopg.errors.InvalidTextRepresentation, match=MARK),
                connection.cursor() as cursor,
                cursor.copy("COPY article FROM STDIN") as copy,
            ):
                copy.write(f"{MARK}\tone\ttwo\n")
        kill_a_busy_process(server)
        server.run("-c", ASK)  # waits until it has recovered
        server.run("-c", STOP)
        user.kill()
    assert [path.name for path in run.glob("*.log")] == ["postgresql.log"]
    logged = (run / "postgresql.log").read_text()
    assert "was terminated by signal 9" in logged
    assert "database system is ready to accept connections" in logged
    assert [line for line in logged.splitlines() if "Marmalade" in line or "ERROR" in line or "STATEMENT" in line] == []


def test_the_log_stays_below_its_bound_and_keeps_its_last_lines(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "postgresql.log"
    monkeypatch.setattr(folders, "log_file", lambda: path)
    folders.keep_small()
    assert not path.exists()
    lines = [f"line {number:06d}\n" for number in range(90_000)]
    path.write_text("".join(lines))
    with path.open("a") as server:  # as the server has it open, to append
        folders.keep_small()
        kept = path.read_text().splitlines(keepends=True)
        assert kept == lines[-len(kept) :]
        assert 90_000 < path.stat().st_size <= 100_000
        server.write("the next line\n")
    assert path.read_text().endswith("line 089999\nthe next line\n")
    before = path.read_bytes()
    folders.keep_small()
    assert path.read_bytes() == before


def test_the_settings_for_a_server_of_your_own_are_these() -> None:
    page = (CHECKOUT / "docs" / "running.md").read_text()
    for name, value in folders.LOG_SETTINGS.items():
        if name != "log_checkpoints":
            assert f"\n{name} = {value}\n" in page

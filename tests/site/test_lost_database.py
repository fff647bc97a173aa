"""What users see while the database is away: real pages, on an embedded server of their own that is killed for real."""

import fcntl
import html
import http.client
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import psycopg
import pytest
from django.db import InterfaceError, OperationalError

from articles.storage.locks import Lock
from newsdedup_site.embedded import EmbeddedServerError, server
from newsdedup_site.unavailable import OneLine, is_lost
from tests.dedup.runs.running import wait_until
from tests.site.test_embedded import Home, passable_folder

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("DATABASE_URL")), reason="DATABASE_URL names a server: none is embedded"),
    pytest.mark.xdist_group("embedded"),
]

DJANGO = "import django; django.setup(); "
FILL = """
import datetime
from django.test import Client
from articles.models import Article
from articles.storage.incoming import IncomingArticle
from tests.factories import make_pair, make_user, store_article
mara, client = make_user("mara", "editor"), Client()
client.force_login(mara)
day = datetime.date(2026, 3, 2)
for number in range(4):
    address = f"https://paper.example/2026/03/02/story-{number}"
    store_article(IncomingArticle(day, f"Ferry {number}", address, f"The ferry left {number} minutes late.", "Post"))
first, *others = Article.objects.order_by("pk")
print(client.cookies["sessionid"].value, [make_pair(first, other).pk for other in others])
"""
ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b"
# What find_duplicates does in a long statement of a pass.
BUSY_RUN = f"""
import sys
sys.argv = ["manage.py", "find_duplicates"]
{DJANGO}
from django.db import connection
from dedup.models import DetectionRun
from dedup.detection.runs.starting import run_lock
with run_lock(), connection.cursor() as cursor:
    DetectionRun.objects.create(config={{}}, scope={{}})
    cursor.execute("SELECT pg_backend_pid()")
    print(cursor.fetchone()[0], flush=True)
    cursor.execute("{ENDLESS}")
"""
NEXT_RUN = f"""
{DJANGO}
from dedup.detection.runs.starting import run_lock
with run_lock(lambda sentence: print(sentence, flush=True)):
    print("held")
"""
# Impatient, so that the tests are quick.
PAGES = """
import sys
from gunicorn.app.wsgiapp import run
from newsdedup_site import unavailable
unavailable.PATIENCE_SECONDS = 0.3
sys.argv[0] = "gunicorn"
run()
"""


class Site(Home):
    """An installation of its own: a home for the server, and processes that use it."""

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(folder)
        self.port = port
        self.environment["DJANGO_SETTINGS_MODULE"] = "newsdedup_site.settings"
        self.session = ""
        self.pairs: list[int] = []

    @property
    def home(self) -> Path:
        [home] = self.folder.glob("*/")
        return home

    @contextmanager
    def away(self) -> Iterator[None]:
        """Kill the server, and let nobody start it in this block."""
        with (self.home / "start.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.kill(self.postmaster(), signal.SIGKILL)
            yield
        wait_until(lambda: self.ask("/healthz").status == 200)

    def ask(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> "Answer":
        """Request a page as an editor; post the fields if there are any. Redirects are not followed."""
        # Any token that is in the cookie and the form alike is valid: both come from the browser.
        token = "t" * 32
        cookies = f"sessionid={self.session}; csrftoken={token}"
        data = None if fields is None else urllib.parse.urlencode({"csrfmiddlewaretoken": token} | fields).encode()
        headers |= {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded"}
        began = time.monotonic()
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            try:
                connection.request("GET" if data is None else "POST", path, data, headers)
                answer = connection.getresponse()
                return Answer(answer.status, answer.headers, answer.read().decode(), time.monotonic() - began)
            except (OSError, http.client.HTTPException) as error:
                return Answer(0, {}, str(error), time.monotonic() - began)

    def notes(self, pair: int) -> list[tuple[str, str]]:
        with self.connect() as connection:
            sql = "SELECT kind, note FROM dedup_decision WHERE pair_id = %s ORDER BY id"
            return connection.execute(sql, [pair]).fetchall()


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    page: str
    seconds: float

    @property
    def fields(self) -> dict[str, str]:
        hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', self.page)
        notes = re.findall(r'<textarea [^>]*name="([^"]+)"[^>]*>\n([^<]*)</textarea>', self.page)
        return {name: html.unescape(value) for name, value in hidden + notes if name != "csrfmiddlewaretoken"}


def runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with passable_folder() as folder, served_from(folder) as made:
        yield made


@contextmanager
def served_from(folder: Path) -> Iterator[Site]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    made = Site(folder, port)
    made.run("manage.py", "migrate", "--verbosity", "0")
    made.session, pairs = made.run("-c", DJANGO + FILL).split(maxsplit=1)
    made.pairs = json.loads(pairs)
    bind = ["--bind", f"127.0.0.1:{port}", "--threads", "4"]
    with (
        (folder / "pages.log").open("w+") as log,
        made.start("-c", PAGES, *bind, "newsdedup_site.wsgi", stdout=log) as pages,
    ):
        try:
            wait_until(lambda: made.ask("/healthz").status == 200)
            yield made
        finally:
            pages.send_signal(signal.SIGQUIT)  # SIGTERM would wait for open connections
            pages.wait()
            made.run("-m", "newsdedup_site.embedded", "stop")


@pytest.fixture
def busy(site: Site) -> Iterator[psutil.Process]:
    ask = f"c.execute('{ENDLESS}')"
    program = (
        "from newsdedup_site.embedded import server as k; c = k.connect('newsdedup'); "
        f"print(c.info.backend_pid, flush=True); {ask}"
    )
    with site.start("-c", program) as client:
        backend = psutil.Process(int(client.stdout.readline()))
        wait_until(lambda: "SELECT" in "".join(backend.cmdline()))
        yield backend
        client.kill()


@pytest.mark.slow
def test_pages_answer_503_within_seconds(site: Site) -> None:
    with site.away():
        for path in ("/healthz", "/queue/", f"/pairs/{site.pairs[0]}/", "/admin/", "/login/?next=/queue/"):
            answer = site.ask(path)
            assert (answer.status, answer.headers["Retry-After"]) == (503, "5"), path
            assert answer.seconds < 10
        page = site.ask("/queue/?newspaper=1&q=a%26b")
        assert page.headers["Cache-Control"] == "no-store"
        assert 'href="/queue/?newspaper=1&amp;q=a%26b"' in page.page
        assert "Try again" in page.page
        found = site.ask("/reports/", Accept="application/json")
        assert (found.status, list(json.loads(found.page))) == (503, ["error"])
        by_htmx = site.ask("/queue/?verdict=any", **{"HX-Request": "true"})
        assert (by_htmx.status, by_htmx.headers["HX-Redirect"]) == (503, "/queue/?verdict=any")
    assert site.ask("/queue/").status == 200
    [line] = [
        line for line in (site.folder / "pages.log").read_text().splitlines() if "q=a" in line or "/pairs/" in line
    ]
    assert "Service Unavailable: /pairs/" in line


@pytest.mark.slow
def test_a_decision_can_be_sent_again_and_is_stored_once(site: Site) -> None:
    pair = site.pairs[0]
    address = f"/pairs/{pair}/decide/?verdict=any"
    typed = {"seen": "0", "kind": "reject", "note": 'Same wire, "two" towns\r\n<b>& a list</b>'}
    with site.away():
        answer = site.ask(address, typed)
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
        assert f'action="{html.escape(address)}"' in answer.page
        assert "Send again" in answer.page
        assert answer.fields == typed
    assert site.ask(address, answer.fields).status == 302
    assert site.notes(pair) == [("reject", typed["note"])]
    site.ask(address, answer.fields)
    assert site.notes(pair) == [("reject", typed["note"])]


@pytest.mark.slow
def test_forms_with_a_password_and_forged_forms_are_not_shown_again(site: Site) -> None:
    login = {"username": "mara", "password": "a long secret"}
    change = {"old_password": "a long secret", "new_password1": "another", "new_password2": "another"}
    with site.away():
        for path, fields in (("/login/", login), ("/password/", change), ("/admin/auth/user/add/", login)):
            answer = site.ask(path, fields)
            assert answer.status == 503, path
            assert "Send again" not in answer.page
            assert not any(value in answer.page for value in fields.values())
        forged = site.ask(f"/pairs/{site.pairs[0]}/decide/", {"csrfmiddlewaretoken": "f" * 32, "note": "forged"})
        assert "Send again" not in forged.page


@pytest.mark.slow
def test_a_database_that_goes_away_during_a_decision(site: Site) -> None:
    address = f"/pairs/{site.pairs[1]}/decide/"
    typed = {"seen": "0", "kind": "confirm", "note": "typed before the crash"}
    waiting = (
        "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) "
        "WHERE locktype = 'advisory' AND NOT granted AND application_name = 'newsdedup pages' "
        "AND datname = current_database()"
    )
    with site.connect() as other, ThreadPoolExecutor() as threads:
        # The decision waits for this lock, so it is in the middle of its request.
        other.execute("SELECT pg_advisory_lock(%s)", [Lock.REVIEW])
        asked = threads.submit(site.ask, address, typed)
        wait_until(lambda: other.execute(waiting).fetchone() == (True,))
        answer = asked.result()
    assert (answer.status, answer.fields) == (503, typed)
    assert site.notes(site.pairs[1]) == []
    assert site.ask(address, answer.fields).status == 302
    assert site.notes(site.pairs[1]) == [("confirm", typed["note"])]


@pytest.mark.slow
def test_a_server_that_does_not_start_is_503_too(site: Site) -> None:
    os.kill(site.postmaster(), signal.SIGKILL)
    control = site.home / "data" / "global" / "pg_control"
    hidden = control.rename(control.with_name("hidden"))
    try:
        answer = site.ask("/queue/")
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
        assert site.ask("/healthz").status == 503
    finally:
        hidden.rename(control)
    wait_until(lambda: site.ask("/queue/").status == 200)


@pytest.mark.slow
def test_a_server_killed_during_a_long_statement_is_back_at_once(site: Site, busy: psutil.Process) -> None:
    postmaster = psutil.Process(site.postmaster())
    os.kill(postmaster.pid, signal.SIGKILL)
    began = time.monotonic()
    wait_until(lambda: site.ask("/queue/").status == 200)
    assert time.monotonic() - began < 20
    assert not runs(busy)
    assert not runs(postmaster)


@pytest.mark.slow
def test_only_processes_of_a_dead_server_on_our_data_are_ended(
    site: Site, busy: psutil.Process, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("NEWSDEDUP_HOME", str(site.folder))
    reader = subprocess.Popen(["sleep", "600"], cwd=site.home / "data")
    # A program of that name, with the title of a server's child, that is not from our package.
    program = shutil.copy(shutil.which("sleep"), tmp_path / "postgres")
    named_alike = subprocess.Popen(["postgres: not ours", "600"], executable=program, cwd=site.home / "data")
    try:
        wait_until(lambda: server.is_server_process(psutil.Process(named_alike.pid)))
        assert server.leftovers() == []
        with site.away():
            wait_until(lambda: server.leftovers() == [busy])
            server.end_leftovers()
            assert not runs(busy)
        assert (reader.poll(), named_alike.poll()) == (None, None)
    finally:
        for process in (reader, named_alike):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_processes_that_cannot_be_ended_are_waited_for_and_named(site: Site, busy: psutil.Process) -> None:
    blind = "from newsdedup_site.embedded import server as s; s.leftovers = lambda: []; "
    start = "from newsdedup_site.embedded import ensure_running; ensure_running()"
    os.kill(site.postmaster(), signal.SIGKILL)
    with site.start("-c", f"{blind} s.START_TIMEOUT_SECONDS = 0; {start}") as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"Processes of an earlier PostgreSQL server still use the data in {site.home}/data" in output
    assert runs(busy)
    waiting = site.start("-c", blind + start)
    busy.send_signal(signal.SIGQUIT)
    output, _ = waiting.communicate(timeout=60)
    assert (waiting.returncode, output) == (0, "")


@pytest.mark.slow
def test_a_number_that_another_program_got_is_not_the_server(site: Site) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        with site.away():
            lock_file = site.home / "data" / "postmaster.pid"
            _, *rest = lock_file.read_text().splitlines(keepends=True)
            lock_file.write_text("".join([f"{other.pid}\n", *rest]))
        assert other.poll() is None
        other.kill()


@pytest.mark.slow
def test_a_killed_run_holds_its_lock_for_a_moment_and_is_named(site: Site) -> None:
    with site.start("-c", BUSY_RUN) as run:
        backend = psutil.Process(int(run.stdout.readline()))
        wait_until(lambda: "SELECT" in "".join(backend.cmdline()))
        # Stopped, so that it does not end before the other run has asked for the lock.
        backend.suspend()
        run.kill()
    with site.start("-c", NEXT_RUN) as following:
        said = following.stdout.readline()
        backend.resume()
        began = time.monotonic()
        assert following.stdout.readline() == "held\n"
    assert time.monotonic() - began < 5
    assert re.match(r"Waiting up to 5 seconds for another run \(run \d+, since [0-9: -]+ UTC; ", said)
    assert f"newsdedup find_duplicates, database process {backend.pid}, connected since " in said
    assert said.endswith("If it was killed, its database process is ending.\n")


def _error(kind: type[Exception], cause: Exception | None) -> Exception:
    error = kind("words")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "connected", "lost"),
    [
        (EmbeddedServerError("it does not start"), False, True),
        (_error(OperationalError, psycopg.OperationalError("connection refused")), False, True),
        (_error(OperationalError, psycopg.errors.AdminShutdown()), True, True),
        (_error(OperationalError, psycopg.errors.CrashShutdown()), True, True),
        (_error(OperationalError, psycopg.errors.CannotConnectNow()), False, True),
        (_error(OperationalError, psycopg.errors.ConnectionFailure()), True, True),
        (_error(InterfaceError, None), False, True),
        (psycopg.OperationalError("the connection is lost"), False, True),
        (_error(OperationalError, psycopg.errors.DeadlockDetected()), True, False),
        (_error(OperationalError, psycopg.errors.QueryCanceled()), True, False),
        (_error(OperationalError, psycopg.errors.LockNotAvailable()), True, False),
        (_error(OperationalError, psycopg.errors.DiskFull()), False, False),
        (_error(InterfaceError, psycopg.InterfaceError("the cursor is closed")), True, False),
        (ValueError("a mistake"), False, False),
        (None, False, False),
    ],
)
def test_what_counts_as_a_lost_database(error: Exception | None, connected: bool, lost: bool) -> None:
    assert is_lost(error, connected=connected) is lost


@pytest.mark.parametrize(
    ("error", "says_it_all"),
    [
        (OperationalError("server closed the connection\n\tThis probably means"), True),
        (psycopg.errors.DiskFull("could not extend file"), True),
        (psycopg.errors.AdminShutdown("terminating connection"), True),
        (psycopg.errors.DeadlockDetected("deadlock detected"), False),
        (InterfaceError("cursor already closed"), False),
        (ValueError("a fault of ours"), False),
    ],
)
def test_what_says_it_all_is_logged_in_one_line_and_a_fault_with_its_place(error: Exception, says_it_all: bool) -> None:
    record = logging.LogRecord("django_tasks", logging.ERROR, "", 0, "Task %s failed", (1,), (type(error), error, None))
    assert OneLine().filter(record)
    said = (record.getMessage(), record.exc_info)
    first_line = str(error).splitlines()[0]
    assert said == (
        (f"Task 1 failed: {first_line}", None) if says_it_all else ("Task 1 failed", (type(error), error, None))
    )

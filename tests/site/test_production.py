"""By a real gunicorn: what production refuses to start with and sends, and how it serves the slow, silent or many."""

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.test import override_settings

from newsdedup_site.environment import hosts_elsewhere, is_local
from tests.databases import CHECKOUT, TEST_KEY, child_environment
from tests.factories import PASSWORD, make_user

GUNICORN = ["-m", "gunicorn", "--bind", "127.0.0.1:0", "newsdedup_site.wsgi"]
# Nothing answers there: what refuses to start asks no database.
AWAY = {"DATABASE_URL": "postgres://anna:s3cret@127.0.0.1:9/news", "SECRET_KEY": TEST_KEY}
TLS = {"BEHIND_TLS_PROXY": "true", "ALLOWED_HOSTS": "dedup.example.org"}
REFUSED = "newsdedup does not start with these settings: "
MAKE_ONE = "Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
GUESSABLE = (
    "SECRET_KEY is too easy to guess. Set one of at least 50 random characters that does not begin with "
    f"django-insecure-. {MAKE_ONE}"
)
UNENCRYPTED = (
    "The pages answer to dedup.example.org, so passwords and sessions would cross the network unencrypted. "
    "Set BEHIND_TLS_PROXY=true behind a proxy that ends TLS, or PLAIN_HTTP=true if you accept that."
)
DEBUGGING = "DEBUG=true shows source code and settings to visitors. Set DEBUG=false."
ANY_HOST = (
    "ALLOWED_HOSTS=* serves the pages under any name that a visitor sends, also in links. "
    "Name the hosts, such as ALLOWED_HOSTS=dedup.example.org."
)
PRELOAD = "Set HSTS_SUBDOMAINS=true and HSTS_SECONDS to 31536000 or more."
BAD: dict[str, tuple[dict[str, str], str]] = {
    "short key": ({"SECRET_KEY": "x"}, GUESSABLE),
    "49 characters": ({"SECRET_KEY": TEST_KEY[:49]}, GUESSABLE),
    "four different ones": ({"SECRET_KEY": "abcd" * 20}, GUESSABLE),
    "Django's own": ({"SECRET_KEY": "django-insecure-" + TEST_KEY}, GUESSABLE),
    "any host": (TLS | {"ALLOWED_HOSTS": "dedup.example.org,*"}, REFUSED + ANY_HOST),
    "no TLS": ({"ALLOWED_HOSTS": "localhost,dedup.example.org"}, REFUSED + UNENCRYPTED),
    "no TLS behind a proxy": ({"CSRF_TRUSTED_ORIGINS": "https://dedup.example.org"}, REFUSED + UNENCRYPTED),
    "both": (
        TLS | {"PLAIN_HTTP": "true"},
        REFUSED
        + "BEHIND_TLS_PROXY=true and PLAIN_HTTP=true contradict each other. Remove PLAIN_HTTP if a proxy ends TLS.",
    ),
    "debug": ({"DEBUG": "true"}, REFUSED + DEBUGGING),
    "subdomains without TLS": (
        {"HSTS_SUBDOMAINS": "true"},
        REFUSED + "HSTS_SUBDOMAINS=true does nothing without TLS. Set BEHIND_TLS_PROXY=true too.",
    ),
    "preload alone": (
        TLS | {"HSTS_PRELOAD": "true"},
        REFUSED + "HSTS_PRELOAD=true with HSTS_SECONDS=31536000 and HSTS_SUBDOMAINS=false is not accepted by browsers. "
        f"{PRELOAD}",
    ),
    "preload for a day": (
        TLS | {"HSTS_PRELOAD": "true", "HSTS_SUBDOMAINS": "true", "HSTS_SECONDS": "86400"},
        REFUSED
        + f"HSTS_PRELOAD=true with HSTS_SECONDS=86400 and HSTS_SUBDOMAINS=true is not accepted by browsers. {PRELOAD}",
    ),
    "trial for others": (
        {"DATABASE_URL": "", "SECRET_KEY": "", "ALLOWED_HOSTS": "dedup.example.org"},
        f"Set the environment variable SECRET_KEY. {MAKE_ONE}",
    ),
}
# One of each kind.
QUICK = ("short key", "any host", "no TLS", "debug")


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), **environment}
    return subprocess.Popen([sys.executable, *arguments], cwd=CHECKOUT, env=environment, text=True, **pipes)


def said(process: subprocess.Popen[str]) -> list[str]:
    """Return what a process has written of its own when it has ended: without the lines of gunicorn's log."""
    with process:
        _, written = process.communicate(timeout=60)
    return [line for line in written.splitlines() if line and not line.startswith("[20")]


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in BAD]
)
def test_gunicorn_refuses_each_bad_setting_in_one_line(name: str) -> None:
    environment, message = BAD[name]
    refused = start(*GUNICORN, **(AWAY | environment))
    assert (said(refused), refused.returncode) == ([f"Error: {message}"], 1)
    assert "s3cret" not in message


@pytest.mark.slow
def test_a_gunicorn_that_reads_no_configuration_refuses_in_one_line_too(tmp_path: Path) -> None:
    """Each of its processes loads the pages, and the first that cannot ends it."""
    empty = tmp_path / "empty.conf.py"
    empty.write_text("control_socket_disable = True\n")
    refused = start(*GUNICORN, "--config", str(empty), **(AWAY | {"SECRET_KEY": "x"}))
    assert (said(refused), refused.returncode) == ([GUESSABLE], 4)


@pytest.mark.parametrize("command", ["db_worker", "runserver"])
def test_the_worker_and_the_server_for_developers_refuse_them_too(command: str) -> None:
    refused = start("manage.py", command, **AWAY, ALLOWED_HOSTS="dedup.example.org")
    assert (said(refused), refused.returncode) == ([REFUSED + UNENCRYPTED], 1)


def test_djangos_own_deploy_checks_refuse_what_no_variable_sets() -> None:
    """Somebody changed the settings themselves: here, cookies for any page and no header against frames."""
    changed = """
import newsdedup_site.settings as changed
changed.SESSION_COOKIE_SECURE = False
changed.X_FRAME_OPTIONS = "SAMEORIGIN"
from gunicorn.app.wsgiapp import run
import sys
sys.argv = ["gunicorn", "--bind", "127.0.0.1:0", "newsdedup_site.wsgi"]
run()
"""
    refused = start("-c", changed, **AWAY, **TLS, DJANGO_SETTINGS_MODULE="newsdedup_site.settings")
    [line] = said(refused)
    assert refused.returncode == 1
    assert line.startswith(f"Error: {REFUSED}")
    assert "SESSION_COOKIE_SECURE is not set to True." in line
    assert "X_FRAME_OPTIONS is not set to 'DENY'." in line


@contextmanager
def listening(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a gunicorn until the end of the block; yield it and its port."""
    with start(*arguments, **environment) as server:
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if "Listening at" in line)
            yield server, int(line.rpartition(":")[2].split(" ")[0])
        finally:
            server.terminate()


@contextmanager
def served(**environment: str) -> Iterator[http.client.HTTPConnection]:
    """Serve the pages by a gunicorn of its own on the test database."""
    with (
        listening(*GUNICORN, **child_environment(), SERVE_COLLECTED_STATIC="false", **environment) as (_, port),
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection,
    ):
        yield connection


def answer(
    connection: http.client.HTTPConnection, path: str, form: dict[str, str] | None = None, **headers: str
) -> http.client.HTTPResponse:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request("POST" if form is not None else "GET", path, urlencode(form or {}) or None, headers)
    response = connection.getresponse()
    response.read()
    return response


def cookies(response: http.client.HTTPResponse) -> dict[str, tuple[str, set[str]]]:
    """Return value and attributes of each cookie that is set; without those of its age."""
    found = {}
    for header in response.headers.get_all("Set-Cookie", []):
        pair, *attributes = header.split("; ")
        name, _, value = pair.partition("=")
        bounds = {attribute for attribute in attributes if not attribute.startswith(("expires=", "Max-Age="))}
        found[name] = (value, bounds)
    return found


POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def security_headers(response: http.client.HTTPResponse) -> dict[str, str]:
    asked = [*ALWAYS, "Content-Security-Policy", "Strict-Transport-Security", "Access-Control-Allow-Origin"]
    found = {name: response.headers[name] for name in asked if name in response.headers}
    if "Content-Security-Policy" in found:
        # Its order means nothing.
        directives = map(str.strip, found["Content-Security-Policy"].split(";"))
        found["Content-Security-Policy"] = "; ".join(sorted(directives))
    return found


EVERYWHERE = ALWAYS | {"Content-Security-Policy": "; ".join(sorted(POLICY.split("; ")))}
PROXIED = {"Host": "dedup.example.org", "X_Forwarded_Proto": "https"}


@pytest.fixture
def anna(transactional_db: None) -> None:
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher"]):
        make_user("anna", "editor")


def log_in(connection: http.client.HTTPConnection, **headers: str) -> dict[str, tuple[str, set[str]]]:
    """Log in; return the cookies, with the one of the form's page."""
    before = cookies(answer(connection, "/login/", **headers))
    token, _ = before["csrftoken"]
    form = {"username": "anna", "password": PASSWORD, "csrfmiddlewaretoken": token}
    after = answer(connection, "/login/", form, Cookie=f"csrftoken={token}", **headers)
    assert after.status == 302
    return before | cookies(after)


@pytest.mark.usefixtures("anna")
def test_behind_tls_every_answer_and_cookie_has_exactly_these_bounds() -> None:
    with served(**TLS, HSTS_SUBDOMAINS="true", HSTS_PRELOAD="true") as connection:
        tls = {"Strict-Transport-Security": "max-age=31536000; includeSubDomains; preload"}
        for path, status, expected in [
            ("/login/", 200, EVERYWHERE | tls),
            ("/queue/", 302, EVERYWHERE | tls),
            ("/no-such-page/", 404, EVERYWHERE | tls),
            ("/static/newsdedup/base.css", 200, tls | {k: v for k, v in ALWAYS.items() if k != "X-Frame-Options"}),
        ]:
            response = answer(connection, path, **PROXIED)
            assert (path, response.status, security_headers(response)) == (path, status, expected)
        plain = answer(connection, "/login/", Host="dedup.example.org")
        assert (plain.status, plain.headers["Location"]) == (301, "https://dedup.example.org/login/")
        assert answer(connection, "/login/", Host="attacker.example", X_Forwarded_Proto="https").status == 400
        found = log_in(connection, **PROXIED, Referer="https://dedup.example.org/login/")
        assert {name: bounds for name, (_, bounds) in found.items()} == {
            # Not HttpOnly: the pages' own script reads it, and it opens nothing without the session.
            "csrftoken": {"Path=/", "SameSite=Lax", "Secure"},
            "sessionid": {"HttpOnly", "Path=/", "SameSite=Lax", "Secure"},
        }


@pytest.mark.slow
@pytest.mark.usefixtures("anna")
def test_on_this_machine_alone_plain_http_needs_no_setting() -> None:
    with served() as connection:
        response = answer(connection, "/login/", Host="localhost")
        assert (response.status, security_headers(response)) == (200, EVERYWHERE)
        assert {name: bounds for name, (_, bounds) in log_in(connection, Host="localhost").items()} == {
            "csrftoken": {"Path=/", "SameSite=Lax"},
            "sessionid": {"HttpOnly", "Path=/", "SameSite=Lax"},
        }
        assert answer(connection, "/login/", Host="dedup.example.org").status == 400


def test_plain_http_for_others_is_a_decision_that_the_log_repeats() -> None:
    with start(*GUNICORN, **AWAY, PLAIN_HTTP="true", ALLOWED_HOSTS="desk.internal") as server:
        assert server.stderr is not None
        written = next(line for line in server.stderr if not line.startswith("[20"))
        server.terminate()
    assert written == "PLAIN_HTTP=true: passwords and sessions cross the network unencrypted.\n"


def test_names_of_this_machine_are_told_from_others() -> None:
    local = ["localhost", "LOCALHOST", ".localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "::1"]
    others = ["*", "", ".", "localhost.example", "10.0.0.1", "0.0.0.0", "[::]", ".example.org", "desk"]  # noqa: S104
    assert [name for name in [*local, *others] if is_local(name)] == local
    origins = ["https://b.example:8443", "http://127.0.0.1:8000"]
    assert hosts_elsewhere(["localhost", "a.example"], origins) == ["a.example", "b.example"]


# Who has to wait for another client is answered later than that, or never.
PATIENCE = 25
Connect = Callable[..., socket.socket]
APP = """
import os, threading
from newsdedup_site import serving
serving.{bound}

def application(environ, start_response):
    read = sum(len(piece) for piece in iter(lambda: environ["wsgi.input"].read(65_536), b""))
    if environ["PATH_INFO"] == "/never":
        threading.Event().wait()
    start_response("200 OK", [("Content-Type", "text/plain")])
    if environ["PATH_INFO"] == "/large":
        return (b"%65536d" % number for number in range(300))
    return [b"%d" % (os.getpid() if environ["PATH_INFO"] == "/process" else read)]
"""
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nCookie: csrftoken=abcdefghijklmnopqrstuvwxyz012345\r\n"
# The page reads this body, to look for the token in it.
BODY = HEAD + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\n"


@contextmanager
def small_app(
    folder: Path, *options: str, bound: str = "SLOW_SECONDS = 60"
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Serve a small application with our configuration, but one process and two threads; yield it and its port."""
    (folder / "small.py").write_text(APP.format(bound=bound))
    few = ["--workers", "1", "--threads", "2", "--pythonpath", str(folder), *options]
    command = ["-m", "gunicorn", "--bind", "127.0.0.1:0", *few, "small"]
    with listening(*command, **AWAY, DJANGO_SETTINGS_MODULE="newsdedup_site.settings") as served_app:
        yield served_app


@contextmanager
def connections(port: int) -> Iterator[Connect]:
    """Yield what connects and sends first bytes; all is closed at the end of the block."""
    with ExitStack() as stack:

        def connect(first: bytes = b"") -> socket.socket:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            connection.sendall(first)
            return connection

        yield connect


def asked(port: int, path: str = "/", body: object = None) -> bytes:
    """Ask on a connection of its own; return the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request("POST" if body else "GET", path, body)  # type: ignore[arg-type]
        return connection.getresponse().read()


def body_of(connection: socket.socket) -> bytes:
    with closing(http.client.HTTPResponse(connection)) as response:
        response.begin()
        return response.read()


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server closes a connection, or its silence becomes too long."""
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


@pytest.mark.slow
@pytest.mark.usefixtures("transactional_db")
def test_pages_answer_while_hundreds_are_silent_or_send_a_byte_at_a_time() -> None:
    with served() as site, connections(site.port) as connect:
        for _ in range(200):
            connect()
        slow = [connect(part) for part in [HEAD, BODY] * 20]
        for _ in range(5):
            for connection in slow:
                connection.sendall(b"a")
            for path in ("/healthz", "/login/", "/static/newsdedup/base.css"):
                assert answer(site, path, Host="localhost").status == 200
                site.close()


@pytest.mark.slow
def test_an_answer_that_nobody_reads_holds_no_thread(tmp_path: Path) -> None:
    with small_app(tmp_path) as (_, port), connections(port) as connect:
        for _ in range(5):
            connect(REQUEST.replace(b"/", b"/large", 1))
        assert asked(port) == b"0"
        assert len(asked(port, "/large")) == 19_660_800


def test_a_large_file_arrives_whole_also_in_pieces_of_unknown_number(tmp_path: Path) -> None:
    with small_app(tmp_path) as (_, port):
        assert asked(port, body=b"x" * 100_000_000) == b"100000000"
        assert asked(port, body=(b"y" * 70_001 for _ in range(100))) == b"7000100"


@pytest.mark.slow
def test_a_connection_is_used_again_and_closed_when_it_is_silent(tmp_path: Path) -> None:
    with small_app(tmp_path, "--keep-alive", "1") as (_, port), connections(port) as connect:
        connection = connect(REQUEST)
        assert body_of(connection) == b"0"
        connection.sendall(REQUEST)
        assert body_of(connection) == b"0"
        assert is_closed(connection)


@pytest.mark.slow
def test_a_request_that_comes_too_slowly_is_cut(tmp_path: Path) -> None:
    with small_app(tmp_path, bound="SLOW_SECONDS = 0") as (_, port), connections(port) as connect:
        assert is_closed(connect(HEAD))
        assert is_closed(connect(BODY))
        assert asked(port) == b"0"


@pytest.mark.slow
def test_requests_that_together_take_too_much_of_the_disk_are_cut(tmp_path: Path) -> None:
    with small_app(tmp_path, bound="MOST_LARGE_REQUESTS = 0") as (_, port), connections(port) as connect:
        assert is_closed(connect(BODY + b"a"))
        assert asked(port) == b"0"


def test_more_connections_than_allowed_take_the_place_of_silent_ones(tmp_path: Path) -> None:
    with small_app(tmp_path, "--worker-connections", "10") as (_, port), connections(port) as connect:
        silent = [connect() for _ in range(30)]
        assert asked(port) == b"0"
        assert all(is_closed(connection) for connection in silent[:18])
        silent[-1].sendall(REQUEST)
        assert body_of(silent[-1]) == b"0"


@pytest.mark.slow
def test_a_stop_waits_for_an_upload_and_for_who_has_just_connected(tmp_path: Path) -> None:
    with small_app(tmp_path) as (server, port), connections(port) as connect:
        late = connect()
        upload = connect(BODY.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        assert upload.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        server.terminate()
        assert server.stderr is not None
        assert any("Handling signal: term" in line for line in server.stderr)
        upload.sendall(b"a" * 1_000)
        assert body_of(upload) == b"1000"
        late.sendall(REQUEST)
        assert body_of(late) == b"0"
        assert server.wait(PATIENCE) == 0


@pytest.mark.slow
def test_a_process_whose_threads_are_all_stuck_is_replaced(tmp_path: Path) -> None:
    with small_app(tmp_path, "--timeout", "2") as (_, port), connections(port) as connect:
        before = asked(port, "/process")
        for _ in range(2):
            connect(REQUEST.replace(b"/", b"/never", 1))
        assert is_closed(connect(REQUEST))
        assert asked(port, "/process") != before


@pytest.mark.slow
def test_a_process_ends_after_as_many_requests_as_gunicorn_is_told(tmp_path: Path) -> None:
    with small_app(tmp_path, "--max-requests", "2") as (_, port):
        processes = [asked(port, "/process") for _ in range(6)]
        assert processes[0] == processes[1]
        # It may still take a request that comes before it has counted the second.
        assert processes[0] != processes[-1]

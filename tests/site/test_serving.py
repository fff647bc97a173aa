"""How the pages are served to clients that are slow, silent or too many: by a real gunicorn with its configuration."""

from __future__ import annotations

import http.client
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.site.test_production import AWAY, answer, listening, served

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

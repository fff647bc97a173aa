"""Requests of webhooks over the network of this machine: what arrives, and what is never connected to."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from crawlers import posting
from crawlers.posting import post

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


class Handler(BaseHTTPRequestHandler):
    """Keeps what it is sent, and answers by the path."""

    got: list[tuple[str, dict[str, str], bytes]]

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        Handler.got.append((self.path, dict(self.headers), self.rfile.read(length)))
        if self.path == "/slow":
            self.server.stopped.wait(10)  # type: ignore[attr-defined]
            return
        self.send_response(302 if self.path == "/moved" else 204)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    Handler.got = []
    found = HTTPServer(("127.0.0.1", 0), Handler)
    found.stopped = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.stopped.set()  # type: ignore[attr-defined]
    found.shutdown()
    thread.join()
    found.server_close()


def test_a_request_arrives_as_it_is_and_no_redirect_is_followed(server: HTTPServer, settings, monkeypatch) -> None:
    settings.CRAWL_PRIVATE_ADDRESSES = LOOPBACK
    base = f"http://localhost:{server.server_port}"
    assert post(f"{base}/hook?a=b", b'{"x": 1}', {"webhook-id": "7"}) == 204
    [(path, headers, body)] = Handler.got
    assert (path, body, headers["webhook-id"]) == ("/hook?a=b", b'{"x": 1}', "7")
    assert headers["Host"] == f"localhost:{server.server_port}"
    assert post(f"{base}/moved", b"", {}) == 302
    assert [path for path, _, _ in Handler.got] == ["/hook?a=b", "/moved"]
    # One that keeps the connection open for ever is cut off.
    monkeypatch.setattr(posting, "LONGEST", 0.05)
    with pytest.raises(ValueError, match="The connection to localhost failed"):
        post(f"{base}/slow", b"", {})


def test_addresses_of_this_machine_and_private_networks_are_refused(server: HTTPServer, settings, monkeypatch) -> None:
    port = server.server_port
    for host in ("localhost", "127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "169.254.169.254"):
        with pytest.raises(ValueError, match="belongs to this machine or a private network"):
            post(f"http://{host}:{port}/hook", b"", {})
    # A host whose answer changes: the name is asked once, and the connection goes to the address that was checked.
    asked: list[str] = []

    def changing(host: str, port: int, *_given: object, **_named: object) -> list[object]:
        asked.append(host)
        address = host if host[0].isdigit() else ("127.0.0.1", "169.254.169.254")[asked.count(host) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    settings.CRAWL_PRIVATE_ADDRESSES = LOOPBACK
    monkeypatch.setattr(socket, "getaddrinfo", changing)
    assert post(f"http://receiver.example:{port}/hook", b"", {}) == 204
    assert asked == ["receiver.example", "127.0.0.1"]


def test_why_nothing_came_back_is_said(settings) -> None:
    settings.CRAWL_PRIVATE_ADDRESSES = LOOPBACK
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ValueError, match=r"The connection to 127\.0\.0\.1 failed: .*refused"):
            post(f"http://127.0.0.1:{port}/", b"", {})
    with pytest.raises(ValueError, match=r"The host name nowhere\.invalid does not resolve"):
        post("http://nowhere.invalid/", b"", {})


def test_tls_is_checked(server: HTTPServer, settings) -> None:
    settings.CRAWL_PRIVATE_ADDRESSES = LOOPBACK
    with pytest.raises(ValueError, match="The connection to localhost failed"):
        post(f"https://localhost:{server.server_port}/hook", b"", {})
    assert Handler.got == []

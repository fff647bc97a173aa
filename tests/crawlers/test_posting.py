"""Requests of webhooks over the network of this machine: what arrives. fetching/test_rebinding.py: what is refused."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from crawlers import posting
from crawlers.posting import post
from tests.serving import running

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
    with running(HTTPServer(("127.0.0.1", 0), Handler)) as found:
        found.stopped = threading.Event()  # type: ignore[attr-defined]
        yield found
        found.stopped.set()  # type: ignore[attr-defined]


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

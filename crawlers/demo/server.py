"""Serves the five newspapers on loopback, each at its own port."""

import argparse
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from crawlers.demo.papers import PAPERS
from crawlers.demo.site import Response, Site

HOST = "127.0.0.1"
FIRST_PORT = 8701
LAST_FIRST_PORT = 65_535 - len(PAPERS) + 1


class PortError(RuntimeError):
    """A newspaper cannot be served at its port. The message names both, and the remedy."""


def ports_from(first_port: int) -> dict[str, int]:
    """Return `first_port` and the next ports by the keys of the newspapers; if it is 0, all are 0: any free port."""
    return {key: first_port and first_port + place for place, key in enumerate(PAPERS)}


@contextmanager
def serving(ports: Mapping[str, int] | None = None) -> Iterator[dict[str, str]]:
    """Serve the newspapers while the block runs; yield the address of each by its key, without a trailing slash.

    Each uses its port in `ports`, or any free one if that is 0 or there are none. Raises PortError.
    """
    with ExitStack() as stack:
        base_urls = {}
        for key, port in (ports or ports_from(0)).items():
            try:
                server = stack.enter_context(_Server(key, port))
            except OSError as error:
                raise PortError(
                    f"{PAPERS[key].name} cannot be served at {HOST}:{port}: {error.strerror}; "
                    f"stop the program that uses the port, or choose other ports with --first-port"
                ) from error
            base_urls[key] = server.site.base_url
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
        yield base_urls


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, key: str, port: int) -> None:
        super().__init__((HOST, port), _Handler)
        self.site = Site(key, f"http://{HOST}:{self.server_port}")

    def server_bind(self) -> None:
        # HTTPServer looks up the host's name, which can take long if there is no resolver.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self.wfile.write(self._answer().body)

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> Response:
        """Send status and headers; return the response, whose body the caller sends."""
        response = self.server.site.respond(self.path, self.headers["Cookie"] or "")
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.body)))
        if response.location:
            self.send_header("Location", response.location)
        if response.cookie:
            self.send_header("Set-Cookie", f"{response.cookie}; Path=/")
        self.end_headers()
        return response

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        """Log nothing."""


def port_number(text: str) -> int:
    """Return a first port as a number. Raises argparse.ArgumentTypeError outside its range."""
    port = int(text) if text.isdecimal() else -1
    if not 0 <= port <= LAST_FIRST_PORT:
        raise argparse.ArgumentTypeError(f"{text} is not a port from 0 to {LAST_FIRST_PORT}")
    return port


@contextmanager
def serving_somewhere() -> Iterator[dict[str, str]]:
    """Serve the newspapers at the usual ports or, if one of them is taken, at any free ones."""
    with ExitStack() as stack:
        try:
            base_urls = stack.enter_context(serving(ports_from(FIRST_PORT)))
        except PortError:
            base_urls = stack.enter_context(serving())
        yield base_urls

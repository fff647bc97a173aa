"""A newspaper on loopback for crawls that are killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.crash.states import story
from tests.crawlers.pages import article_page, rss

_ARTICLES = 40


class _Handler(BaseHTTPRequestHandler):
    pages: dict[str, tuple[str, bytes]]

    def do_GET(self) -> None:
        kind, body = self.pages.get(self.path, ("text/plain", b""))
        # The crawl that asked may be dead.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        pass


@contextmanager
def served() -> Iterator[str]:
    """Serve a newspaper; give its URL."""
    pages: dict[str, tuple[str, bytes]] = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"pages": pages}))
    url = f"http://127.0.0.1:{server.server_port}"
    paths = [f"/2024/05/story-{place}" for place in range(_ARTICLES)]
    for place, path in enumerate(paths):
        pages[path] = ("text/html; charset=utf-8", article_page(*story(1_000 + place)).encode())
    pages["/feed"] = ("application/rss+xml", rss(*(url + path for path in paths)).encode())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield url
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""What a site answers: whatever bytes a test wants, well-formed or not."""

import gzip
import socket
import struct
import threading
from collections.abc import Callable

# What is sent after a request: bytes at once, in which {url} is the address of the site, or piece by piece until the
# other side hangs up.
Answer = bytes | Callable[["Connection"], None]


class Connection:
    """The other end of a request. Sending raises ConnectionError when nobody listens any more."""

    def __init__(self, raw: socket.socket, stopped: threading.Event, cookie: str) -> None:
        self.raw = raw
        self.stopped = stopped
        self.cookie = cookie

    def send(self, data: bytes) -> None:
        if self.stopped.is_set():
            raise ConnectionAbortedError
        self.raw.sendall(data)

    def wait(self) -> None:
        """Say nothing until the other side hangs up."""
        self.raw.settimeout(30)
        self.raw.recv(1)

    def reset(self, after: bytes = b"") -> None:
        """Break the connection off after these bytes, without the farewell of TCP."""
        self.send(after)
        self.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def dripping(beginning: bytes, piece: bytes, pause: float = 0.1) -> Answer:
    """Return an answer that has a piece again and again, a moment apart."""

    def answer(connection: Connection) -> None:
        connection.send(beginning)
        while not connection.stopped.wait(pause):
            connection.send(piece)

    return answer


def flooding(beginning: bytes, piece: bytes) -> Answer:
    """Return an answer that has a piece again and again, as fast as it is taken."""
    return dripping(beginning, piece, pause=0)


def response(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return an answer as it goes over the wire; `length` is what it claims, if not the truth."""
    lines = [f"HTTP/1.1 {status}", *headers, "Connection: close"]
    if length is None:
        # Replaced addresses change the length: the end of the connection ends these bodies.
        lines += [] if b"{url}" in body else [f"Content-Length: {len(body)}"]
    else:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def html(page: str | bytes, *headers: str, content_type: str = "text/html; charset=utf-8") -> bytes:
    return response(page.encode() if isinstance(page, str) else page, f"Content-Type: {content_type}", *headers)


def redirect(location: str | bytes, status: str = "302 Found") -> bytes:
    raw = location.encode() if isinstance(location, str) else location
    return (
        b"HTTP/1.1 " + status.encode() + b"\r\nLocation: " + raw + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )


def bomb(size: int) -> bytes:
    return gzip.compress(b" " * size, mtime=0)

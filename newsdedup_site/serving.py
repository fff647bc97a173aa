"""How a process of gunicorn serves: waitress receives and sends, and threads work on whole requests only.

gunicorn's own workers give a thread or a process to each connection while its request comes in, so a few clients that
send nothing, or a byte at a time, would keep everybody else waiting. Here one loop reads from all connections. A
thread begins when the request is complete, and is free again when the answer is written: what the client has not
read yet waits in memory or in a temporary file.
"""

from __future__ import annotations

import os
import resource
import time
from typing import Any

from django.conf import settings
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer, TcpWSGIServer, UnixWSGIServer
from waitress.task import ThreadedTaskDispatcher

# A request may take SLOW_SECONDS, and one second more for each BYTES_A_SECOND of it that have come.
SLOW_SECONDS, BYTES_A_SECOND = 60, 1_000
# Who has connected within this time is about to ask, and is still answered by a process that ends.
NEW_SECONDS = 5
# What the requests and answers of a process may take on the disk, in requests of the greatest size.
MOST_LARGE_REQUESTS = 5
# An answer up to this size frees its thread as soon as it is written, however slowly it is read.
ANSWER_BYTES = 512 * 1024 * 1024
# Of one file each: a connection, the body of its request and its answer; and what the process has open otherwise.
_FILES_OF_ONE, _OTHER_FILES = 3, 256


class Channel(HTTPChannel):
    """One connection. `began`: when its present request began, or None between two requests."""

    began: float | None = None
    is_new = True

    def received(self, data: bytes) -> bool:
        """Take what has come, and note when the request began that is not complete yet."""
        taken: bool = super().received(data)
        self.began = None if self.request is None else self.began or time.time()
        return taken

    def service(self) -> None:
        """Answer a request, in a thread."""
        super().service()
        self.is_new = False
        self.server.worker.answered()

    def body_bytes(self) -> int:
        """Return how much of the bodies of its requests is stored here."""
        return sum(request.body_bytes_received for request in (*self.requests, self.request) if request)

    def is_busy(self) -> bool:
        """Return whether a stop should wait: a request is being answered, or its body or a first request is coming."""
        if self.requests or self.total_outbufs_len or (self.request and self.request.headers_finished):
            return True
        return self.is_new and time.time() - self.creation_time < NEW_SECONDS


class _Bounded(BaseWSGIServer):
    """Never stops accepting: when there are too many connections, the one that has been silent longest is closed."""

    channel_class = Channel
    worker: BufferingWorker

    def handle_accept(self) -> None:
        """Accept a connection, in the place of another one if there are too many."""
        if len(self.active_channels) >= self.worker.cfg.worker_connections:
            waiting = (
                channel for channel in self.active_channels.values() if not (channel.requests or channel.will_close)
            )
            if silent := min(waiting, key=lambda channel: channel.last_activity, default=None):
                silent.will_close = True
        super().handle_accept()

    def maintenance(self, now: float) -> None:
        """Close what is silent or too slow, and, while there is too much on the disk, the request that began last."""
        super().maintenance(now)
        coming = [channel for channel in self.active_channels.values() if channel.request]
        stored = sum(channel.body_bytes() for channel in self.active_channels.values())
        for channel in sorted(coming, key=lambda channel: -(channel.began or 0)):
            too_much = stored > MOST_LARGE_REQUESTS * self.adj.max_request_body_size and channel.body_bytes()
            allowed = SLOW_SECONDS + channel.request.body_bytes_received / BYTES_A_SECOND
            if too_much or now - (channel.began or now) > allowed:
                stored -= channel.body_bytes()
                channel.will_close = True


class _Tcp(_Bounded, TcpWSGIServer):
    pass


class _Unix(_Bounded, UnixWSGIServer):
    pass


class BufferingWorker(Worker):
    """A process of gunicorn with one loop for all connections, and `threads` threads for complete requests."""

    def init_process(self) -> None:
        """Allow as many open files as the connections may need, and serve."""
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        needed = _FILES_OF_ONE * self.cfg.worker_connections + _OTHER_FILES
        allowed = needed if most == resource.RLIM_INFINITY else min(needed, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
        super().init_process()

    def run(self) -> None:
        """Serve until told to stop, or until the parent is gone; then end what is being answered."""
        self.connections: dict[int, Any] = {}
        self.tasks = ThreadedTaskDispatcher()
        self.tasks.queue_logger.setLevel("ERROR")  # a queue is no fault
        self.tasks.set_thread_count(self.cfg.threads)
        self.progress = time.monotonic()
        servers = [self._server(listener.sock) for listener in self.sockets]
        while self.alive and self.ppid == os.getppid():
            self._turn()
        for server in servers:
            server.del_channel()
            server.socket.close()
        until = time.monotonic() + self.cfg.graceful_timeout
        while time.monotonic() < until and any(
            channel.is_busy() for server in servers for channel in server.active_channels.values()
        ):
            self._turn()

    def answered(self) -> None:
        """Note, in a thread, that a request has been answered."""
        self.progress = time.monotonic()
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False

    def _turn(self) -> None:
        """Read and write what can be, and tell the parent, which ends a process that lets requests wait too long."""
        wasyncore.loop(timeout=1, use_poll=True, map=self.connections, count=1)
        if not self.tasks.queue:
            self.progress = time.monotonic()
        if time.monotonic() - self.progress < self.timeout:
            self.notify()

    def _server(self, listener: Any) -> _Bounded:
        # A form says itself that its file is too large, so somewhat larger ones are taken.
        body = 2 * max(settings.IMPORT_BYTES, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        bounds = Adjustments(
            threads=self.cfg.threads,
            backlog=self.cfg.backlog,
            connection_limit=2 * self.cfg.worker_connections,
            channel_timeout=self.cfg.keepalive,
            cleanup_interval=1,
            max_request_header_size=32 * 1024,
            max_request_body_size=body,
            recv_bytes=64 * 1024,
            outbuf_high_watermark=ANSWER_BYTES,
            # What the proxy says is read by newsdedup_site/logins.py and Django, and believed only if there is one.
            clear_untrusted_proxy_headers=False,
            log_socket_errors=False,
            ident="",
        )
        made = _Unix if listener.family.name == "AF_UNIX" else _Tcp
        described = (listener.family, listener.type, listener.proto, listener.getsockname())
        server = made(self.wsgi, self.connections, True, listener, self.tasks, bounds, described, bind_socket=False)
        server.worker = self
        return server

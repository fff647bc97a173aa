"""A web site on loopback that counts what is asked of it, and the crawl command as a process beside it."""

import gzip
import math
import os
import re
import socketserver
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.client import parse_headers
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from tests.crawlers.hostile.answers import Answer, Connection, response
from tests.crawlers.pages import (
    BRIDGE,
    FERRY,
    HERRING,
    LIBRARY,
    article_page,
    fed,
    newspaper,
    rss,
    sitemap,
    sitemap_index,
)
from tests.databases import child_environment
from tests.forked import ForkedCommands
from tests.serving import running

REPOSITORY = Path(__file__).resolve().parents[2]
SECONDS = 90  # in which a crawl must end


@dataclass
class Page:
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""
    etag: str = ""
    last_modified: str = ""

    def answer(self, asked: Message) -> bytes:
        states = (asked["If-None-Match"], asked["If-Modified-Since"])
        unchanged = any(states) and states == (self.etag or None, self.last_modified or None)
        named = {"ETag": self.etag, "Last-Modified": self.last_modified, "Location": self.location}
        headers = [f"{name}: {value}" for name, value in ({"Content-Type": self.content_type} | named).items() if value]
        return response(b"" if unchanged else self.body, *headers, status=f"{304 if unchanged else self.status} So")


@dataclass
class Site:
    """Pages by path, or any bytes; all others are `missing`. `requests` counts every path that was asked for, and
    `received` has what came with it; what is held waits for `release`. `busiest` is the largest number of requests that
    were answered at one time.
    """

    pages: dict[str, Page] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    missing: Page = field(default_factory=lambda: Page(b"gone", "text/plain", 404))
    requests: Counter[str] = field(default_factory=Counter)
    received: list[tuple[str, Message, bytes]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  # of all requests
    held: set[str] = field(default_factory=set)
    held_after: float = math.inf  # so many requests for articles, every further one is held
    arrived: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    port: int = 0
    busiest: int = 0
    _busy: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def answering(self, path: str, headers: Message, sent: bytes) -> Iterator[None]:
        with self._lock:
            self.requests[path] += 1
            self.received.append((path, headers, sent))
            self.times.append(time.monotonic())
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def add(
        self, path: str, body: str | bytes, content_type: str = "text/html; charset=utf-8", status: int = 200
    ) -> None:
        self.pages[path] = Page(body.encode() if isinstance(body, str) else body, content_type, status)

    def feed(self, *links: str) -> None:
        self.add("/feed", rss(*(link if "://" in link else self.url + link for link in links)), "application/rss+xml")

    def redirect(self, path: str, target: str) -> None:
        self.pages[path] = Page(b"", status=302, location=self.url + target)

    def article_requests(self) -> dict[str, int]:
        return {path: number for path, number in self.requests.items() if path.startswith("/2024/")}


class _Handler(socketserver.StreamRequestHandler):
    site: Site

    def handle(self) -> None:
        try:
            if asked := re.fullmatch(rb"[A-Z]+ (\S+) HTTP/1\.1\r\n", self.rfile.readline()):
                headers = parse_headers(self.rfile)
                sent = self.rfile.read(int(headers["Content-Length"] or 0))
                with self.site.answering(asked[1].decode(), headers, sent):
                    self._answer(asked[1].decode(), headers)
        except OSError:
            pass  # the other side hung up, as it should, or was killed

    def _answer(self, path: str, headers: Message) -> None:
        asked = sum(self.site.article_requests().values())
        if path in self.site.held or (asked > self.site.held_after and path.startswith("/2024/")):
            self.site.arrived.set()
            self.site.release.wait(60)
        found = self.site.answers.get(path, self.site.pages.get(path, self.site.missing).answer(headers))
        if callable(found):
            found(Connection(self.connection, self.site.release, headers["Cookie"] or ""))
        else:
            self.wfile.write(found.replace(b"{url}", self.site.url.encode()))


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False


@contextmanager
def served(address: str = "127.0.0.1", port: int = 0) -> Iterator[Site]:
    """Serve a site without pages on loopback."""
    site = Site()
    with running(_Server((address, port), type("Handler", (_Handler,), {"site": site}))) as server:
        site.port = server.server_address[1]
        site.url = f"http://{address}:{site.port}"
        try:
            yield site
        finally:
            site.release.set()


@pytest.fixture
def site() -> Iterator[Site]:
    with served() as site:
        yield site


class Crawled(subprocess.CompletedProcess[str]):
    """A crawl that ended. `summary` is its output without the lines that explain failures."""

    @property
    def summary(self) -> str:
        return "".join(line for line in self.stdout.splitlines(keepends=True) if not line.startswith("    "))


class CrawlCommand:
    """`manage.py crawl` as a process of its own, on the test's database.

    `start` is the command as users start it. A call begins at once: its process is forked from one that is ready.
    """

    def __init__(self, states: Path, ready: ForkedCommands) -> None:
        self.states = states
        self.ready = ready

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return self.popen([sys.executable, "manage.py", "crawl", *in_a_hurry("--set"), *arguments], REPOSITORY)

    def popen(self, command: list[str], folder: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **child_environment(), "CRAWL_STATE_DIR": str(self.states)},
            text=True,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *arguments: str) -> Crawled:
        given = [*in_a_hurry("--set"), *arguments]
        ended = self.ready.run({"arguments": given, "states": str(self.states)}, self.states.parent, SECONDS)
        return Crawled(given, ended.status, ended.output, ended.errors)

    def cold(self, *arguments: str) -> Crawled:
        return _finish(self.start(*arguments))

    def scrapy(self, *arguments: str) -> Crawled:
        command = [sys.executable, "-m", "scrapy", *arguments, *in_a_hurry("-s")]
        return _finish(self.popen(command, REPOSITORY / "crawlers"))


def in_a_hurry(option: str) -> list[str]:
    """Return settings of a crawl: loopback needs no politeness, and a page that fails on purpose no second try."""
    overrides = (
        "DOWNLOAD_DELAY=0",
        "AUTOTHROTTLE_START_DELAY=0",
        "SLOW_DOWN_DELAY=0",
        "RETRY_ENABLED=0",
        "CRAWL_PRIVATE_ADDRESSES=127.0.0.0/8",
        "SITEMAP_DAYS=0",  # the days in the tests do not move on with the clock
    )
    return [part for override in overrides for part in (option, override)]


def _finish(process: subprocess.Popen[str]) -> Crawled:
    try:
        output, errors = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    return Crawled(process.args, process.returncode, output, errors)


@pytest.fixture(scope="session")
def ready_crawls(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[ForkedCommands]:
    with django_db_blocker.unblock():
        ready = ForkedCommands("tests.crawlers.ready_crawls", os.environ | child_environment())
    yield ready
    ready.close()


@pytest.fixture
def crawl(transactional_db: None, tmp_path: Path, ready_crawls: ForkedCommands) -> CrawlCommand:
    """Return the command; transactions of its tests end, because a crawl is another process."""
    return CrawlCommand(tmp_path / "states", ready_crawls)


@pytest.fixture
def three_sources(transactional_db: None, site: Site) -> Site:
    """A newspaper with a feed, a packed sitemap behind an index, and a section of two pages."""
    site.add("/2024/05/ferry", article_page("Last ferry", FERRY))
    site.add("/2024/05/herring", article_page("Herring are back", HERRING))
    site.add("/2024/05/library", article_page("Night library", LIBRARY))
    site.add("/2024/05/bridge", article_page("Bridge closed", BRIDGE))
    site.add("/about", article_page("About us", LIBRARY))
    site.feed("/2024/05/ferry")
    site.add("/sitemap.xml", sitemap_index(f"{site.url}/news.xml.gz"), "application/xml")
    packed = gzip.compress(sitemap(f"{site.url}/2024/05/herring", f"{site.url}/about").encode())
    site.add("/news.xml.gz", packed, "application/gzip")
    site.add(
        "/news", "<a href='/2024/05/library#top'>Library</a><a href='/about'>About</a><a rel='next' href='?p=2'>2</a>"
    )
    site.add("/news?p=2", "<a href='/2024/05/bridge'>Bridge</a><a href='http://other.example/2024/05/x'>Elsewhere</a>")
    newspaper(site, feed=["/feed"], sitemap=["/sitemap.xml"], section=["/news"])
    return site


@pytest.fixture
def held_page(transactional_db: None, site: Site) -> Site:
    """A feed of three articles, of which the server keeps one waiting."""
    texts = {"ferry": FERRY, "herring": HERRING, "library": LIBRARY}
    for name, text in texts.items():
        site.add(f"/2024/05/{name}", article_page(name, text))
    site.held.add("/2024/05/herring")
    fed(site, *(f"/2024/05/{name}" for name in texts))
    return site

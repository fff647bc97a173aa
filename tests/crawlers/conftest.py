"""A web site on loopback that counts what is asked of it, and the crawl command as a process beside it."""

from __future__ import annotations

import gzip
import math
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker

from tests.crawlers.pages import BRIDGE, FERRY, HERRING, LIBRARY, article_page, fed, newspaper, rss, sitemap
from tests.crawlers.ready_crawls import ReadyCrawls
from tests.databases import child_environment
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


@dataclass
class Site:
    """Pages by path; all others are `missing`. `requests` counts every path that was asked for; what is held waits
    for `release`. `busiest` is the largest number of requests that were answered at one time.
    """

    pages: dict[str, Page] = field(default_factory=dict)
    missing: Page = field(default_factory=lambda: Page(b"gone", "text/plain", 404))
    requests: Counter[str] = field(default_factory=Counter)
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
    def answering(self, path: str) -> Iterator[None]:
        with self._lock:
            self.requests[path] += 1
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
        """Serve a feed of these paths, or URLs of other sites."""
        urls = (link if "://" in link else self.url + link for link in links)
        self.add("/feed", rss(*urls), "application/rss+xml")

    def redirect(self, path: str, target: str) -> None:
        self.pages[path] = Page(b"", status=302, location=self.url + target)

    def article_requests(self) -> dict[str, int]:
        return {path: number for path, number in self.requests.items() if path.startswith("/2024/")}


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        with self.site.answering(self.path):
            self._answer()

    def do_POST(self) -> None:
        self.do_GET()

    def _answer(self) -> None:
        asked = sum(self.site.article_requests().values())
        if self.path in self.site.held or (asked > self.site.held_after and self.path.startswith("/2024/")):
            self.site.arrived.set()
            self.site.release.wait(60)
        page = self.site.pages.get(self.path, self.site.missing)
        headers = {"ETag": page.etag, "Last-Modified": page.last_modified, "Location": page.location}
        asked = (self.headers["If-None-Match"], self.headers["If-Modified-Since"])
        unchanged = any(asked) and asked == (page.etag or None, page.last_modified or None)
        try:
            self.send_response(304 if unchanged else page.status)
            self.send_header("Content-Type", page.content_type)
            for name, value in headers.items():
                if value:
                    self.send_header(name, value)
            self.send_header("Content-Length", "0" if unchanged else str(len(page.body)))
            self.end_headers()
            self.wfile.write(b"" if unchanged else page.body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the crawl that asked was killed

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        pass


@contextmanager
def served(address: str = "127.0.0.1", port: int = 0) -> Iterator[Site]:
    """Serve a site without pages on loopback."""
    site = Site()
    server = ThreadingHTTPServer((address, port), type("Handler", (_Handler,), {"site": site}))
    site.port, site.url = server.server_port, f"http://{address}:{server.server_port}"
    with running(server):
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

    def __init__(self, states: Path, ready: ReadyCrawls) -> None:
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
        ended = self.ready.crawl(given, self.states, self.states.parent, SECONDS)
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
def ready_crawls(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[ReadyCrawls]:
    with django_db_blocker.unblock():
        ready = ReadyCrawls(child_environment())
    yield ready
    ready.close()


@pytest.fixture
def crawl(transactional_db: None, tmp_path: Path, ready_crawls: ReadyCrawls) -> CrawlCommand:
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
    index = f"<sitemapindex><sitemap><loc>{site.url}/news.xml.gz</loc></sitemap></sitemapindex>"
    site.add("/sitemap.xml", index, "application/xml")
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

"""Measure how many articles a second a crawl of many newspapers stores; see docs/crawling.md.

The newspapers are on loopback, each at an address of its own, served by another process. Their pages are invented; they
have the size and the wrappings of a newspaper's, and cost the extraction about as much as real ones do.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import re
import sys
import tempfile
from collections.abc import Mapping

from django.db import connection

from articles.models import Newspaper
from benchmarks import database
from benchmarks.measuring import Server, measure

SITES, ARTICLES = 20, 30
PARAGRAPHS, TEASERS, SCRIPTS = 22, 150, 12
# Another port would be the same host, and hosts are visited one after the other.
_ADDRESS = "127.0.7.{}"
_RUDE = ("DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=False")
_WORDS = (
    "harbour council ferry market winter bridge school river budget vote storm library museum road train "
    "island price house court judge mayor minister player season match goal union strike wage nurse doctor "
    "farm field wheat power wind grid water flood fire police report study talks plan rule the a of and to in "
    "for on with as by from that it was is will has had said after before under over new old first last many "
    "few more "
)


def page(site: int, number: int) -> str:
    """Return the page of an article: some 100 kB, of which the text is a twentieth; the same for the same numbers."""
    chance, vocabulary = random.Random(site * 1_000_003 + number), _WORDS.split()

    def words(count: int) -> str:
        return " ".join(chance.choices(vocabulary, k=count)).capitalize()

    teasers = "".join(
        f'<li class="teaser teaser--{place % 5}"><div class="teaser__inner"><a class="teaser__link" '
        f'href="/2024/05/{site}-{place}-{words(3).replace(" ", "-")}"><figure class="teaser__figure"><img '
        f'class="teaser__image lazy" src="/images/{place}.jpg" srcset="/images/{place}-300.jpg 300w, '
        f'/images/{place}-600.jpg 600w" alt="{words(6)}"></figure><h3 class="teaser__title">{words(8)}</h3>'
        f'<p class="teaser__text">{words(12)}.</p></a></div></li>'
        for place in range(TEASERS)
    )
    scripts = "".join(
        f"<script>window.part{part} = {[chance.randrange(10**6) for _ in range(300)]}</script>"
        for part in range(SCRIPTS)
    )
    text = "".join(f'<p class="article__paragraph">{words(60)}.</p>' for _ in range(PARAGRAPHS))
    headline = f"{words(7)} {site}-{number}"
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{headline} - Paper {site}</title>"
        f"<meta property='article:published_time' content='2024-05-{1 + number % 28:02}T08:00:00+02:00'>"
        f"<meta property='og:title' content='{headline}'>{scripts}</head><body><header><nav><ul>{teasers}</ul></nav>"
        f"</header><main><article class='article'><h1>{headline}</h1><p class='article__byline'>By Mara Lund</p>{text}"
        f"</article><aside class='related'><ul>{teasers}</ul></aside></main><footer>{words(40)}</footer></body></html>"
    )


def answers(site: int, articles: int, address: str) -> dict[str, bytes]:
    """Return the whole HTTP response of each path of a site: its feed, its articles and its robots.txt."""
    paths = [f"/2024/05/{site}-{number}" for number in range(articles)]
    items = "".join(f"<item><link>{address}{path}</link></item>" for path in paths)
    rss = f'<?xml version="1.0"?><rss version="2.0"><channel>{items}</channel></rss>'
    bodies = {path: page(site, number) for number, path in enumerate(paths)}
    found = {"/feed": ("application/rss+xml", rss), "/robots.txt": ("text/plain", "User-agent: *\nDisallow: /no/\n")}
    found |= {path: ("text/html; charset=utf-8", body) for path, body in bodies.items()}
    return {
        path: f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body.encode())}\r\n\r\n{body}".encode()
        for path, (kind, body) in found.items()
    }


def serve(sites: int, articles: int, port: int, ready: multiprocessing.synchronize.Event) -> None:
    """Serve the sites in this process until it is ended."""

    async def run() -> None:
        for site in range(sites):
            found = answers(site, articles, f"http://{_ADDRESS.format(site + 1)}:{port}")

            async def answer(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, found: Mapping[str, bytes] = found
            ) -> None:
                try:
                    while head := await reader.readuntil(b"\r\n\r\n"):
                        path = head.split(b" ", 2)[1].decode()
                        writer.write(found.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
                        await writer.drain()
                except (asyncio.IncompleteReadError, ConnectionError):
                    writer.close()

            await asyncio.start_server(answer, _ADDRESS.format(site + 1), port)
        ready.set()
        await asyncio.Event().wait()

    asyncio.run(run())


def crawl(overrides: tuple[str, ...], name: str) -> str:
    """Crawl all newspapers of the scratch database as users do; return the row of the table."""
    given = [part for value in (*overrides, "CRAWL_PRIVATE_ADDRESSES=127.0.0.0/8") for part in ("--set", value)]
    with tempfile.TemporaryDirectory() as states:
        environment = {**database.child_environment(), "CRAWL_STATE_DIR": states}
        usage, printed = measure([sys.executable, "manage.py", "crawl", *given], Server(connection), environment)
    stored = sum(map(int, re.findall(r": (\d+) stored", printed)))
    costs = " | ".join(f"{1000 * cpu / stored:.0f}" for cpu in (usage.command_cpu, usage.server_cpu))
    return f"| {name} | {stored:,} | {usage.wall:.1f} | {stored / usage.wall:.1f} | {costs} |"


def add_newspapers(sites: int, port: int) -> None:
    """Add a newspaper with a feed for each site."""
    for site in range(sites):
        address = f"http://{_ADDRESS.format(site + 1)}:{port}/feed"
        Newspaper.objects.create(name=f"Paper {site}", host=_ADDRESS.format(site + 1), feed_urls=[address])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--sites", type=int, default=SITES, help="newspapers, each at its own address; at most 250")
    parser.add_argument("--articles", type=int, default=ARTICLES, help="articles of each newspaper")
    parser.add_argument("--port", type=int, default=8907)
    parser.add_argument("--polite", action="store_true", help="with the delays of a usual crawl; by default without")
    parser.add_argument("--set", action="append", default=[], help="a setting of the crawl, NAME=VALUE")


def run(options: argparse.Namespace) -> None:
    """Serve the newspapers, crawl them into a scratch database, and print the numbers."""
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    server = context.Process(target=serve, args=(options.sites, options.articles, options.port, ready), daemon=True)
    server.start()
    ready.wait(60)
    try:
        with database.scratch_database():
            add_newspapers(options.sites, options.port)
            print("| crawl | articles | seconds | articles/s | CPU ms of the crawl | of PostgreSQL |")
            print("|---|---:|---:|---:|---:|---:|")
            name = "with polite delays" if options.polite else "without delays"
            print(crawl((*(() if options.polite else _RUDE), *options.set), name))
    finally:
        server.terminate()

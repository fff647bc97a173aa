"""Measure the review pages with 1,000,000 pairs stored; see docs/benchmarks.md.

The times are those of the server: a request from its view to its last byte, in this process, without a browser.
"""

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import psutil
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from articles.models import Article
from articles.querysets import fetched
from benchmarks import archive, database
from benchmarks.measuring import MeasuringError
from dedup.models import Cluster, DenseGroup, Pair, Series
from tests.factories import make_user

ARTICLES, PAIRS = 100_000, 1_000_000
DECIDED_HERE = 50


@dataclass(frozen=True)
class Measured:
    """What a page cost: its requests in milliseconds, the CPU time of one, here and in PostgreSQL, and its queries."""

    name: str
    milliseconds: list[float]
    cpu: float
    queries: int

    def row(self) -> str:
        """Return the row of the table."""
        median, slowest = statistics.median(self.milliseconds), max(self.milliseconds)
        return f"| {self.name} | {median:,.0f} | {slowest:,.0f} | {self.cpu:,.0f} | {self.queries} |"


class Queries:
    """Counts the queries that run in its block."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        """Run a query, and count it."""
        self.count += 1
        return execute(*arguments)


class Clock:
    """The CPU time of this process and of its connection's server process, in milliseconds."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            self._processes = [psutil.Process(), psutil.Process(cursor.fetchone()[0])]

    def read(self) -> float:
        """Return the time since they started."""
        return 1000 * sum(times.user + times.system for process in self._processes for times in [process.cpu_times()])


def measured(name: str, ask: Callable[[], Any], repeat: int) -> Measured:
    """Ask for a page again and again."""
    found, counted, clock = [], Queries(), Clock()
    before = clock.read()
    for _ in range(repeat):
        counted = Queries()
        with connection.execute_wrapper(counted):
            began = time.perf_counter()
            answer = ask()
            found.append(1000 * (time.perf_counter() - began))
        _checked(name, answer)
    return Measured(name, found, (clock.read() - before) / repeat, counted.count)


def of_address(client: Client, name: str, address: str, repeat: int) -> Measured:
    """Ask for an address again and again; the first request is not counted."""
    _checked(name, client.get(address))
    return measured(name, lambda: client.get(address), repeat)


def _checked(name: str, answer: Any) -> None:
    if answer.status_code != 200:
        raise MeasuringError(f"{name} answered {answer.status_code}")


# The query strings with which each list is asked for; {day}, {words} and {url} are those of a stored article.
_DAYS = "date_from={day}&date_to={day}"
LISTS = {
    "/queue/": (
        *("page=1000", "tab=certain", "tab=clusters", "tab=conflicts", "tab=later", "tab=disagreements", "tab=second"),
        *("newspaper=3&score_from=0.8", "newspaper=3&other=4", _DAYS, "headline={words}", "headline=xylophonist"),
        # all pairs
        *("verdict=any", "verdict=any&page=1000", "verdict=any&sort=score", "verdict=any&sort=-date", "sort=doubt"),
        *("verdict=template", "verdict=unjudged", "verdict=any&pass_name=sentence", "verdict=any&newspaper=3"),
        *("verdict=any&score_from=0.9&score_to=0.95", "verdict=any&newspaper=3&other=4", "verdict=any&same=True"),
        *(f"verdict=any&{_DAYS}", "verdict=any&headline={words}", "verdict=any&headline=xylophonist"),
        *("verdict=any&state=rejected", "verdict=any&state=any", "verdict=any&series=1", "verdict=any&group=1"),
    ),
    "/clusters/": ("page=1000", "state=confirmed", "size_from=6", "newspaper=3", "held=weak"),
    "/articles/": (
        *("page=1000", "newspaper=3", _DAYS, "date_from=2001-01-01", "look=day", "look=agency", "look=duplicate"),
        *("q={words}", "q=xylophonist", "q=prices", "q={url}", "q=paper-3.example/2000"),
    ),
    "/stories/": ("page=1000", "newspaper=3", _DAYS, "papers=2", "papers=5", "q={words}", "q=prices"),
    "/history/": ("page=1000", "decided_by=1", "kind=confirm", "kind=undo"),
    "/series/": ("page=1000", "newspaper=8", "ruled=no", "headline=prices"),
    "/groups/": ("newspaper=3", "size_from=100", "ruled=yes"),
    "/boilerplate/": ("page=1000", "newspaper=3", "week={day}", "sentence=subscribe", "kind=quotation"),
    "/disagreements/": ("editor=1", "state=open"),
    "/runs/": (),
    "/batches/": (),
    "/validation/": (),
    "/reports/": (),
}


# The word in most articles comes first.
_FREQUENT_SQL = """
SELECT word FROM pg_stats, unnest(most_common_elems::text::text[], most_common_elem_freqs) AS common (word, share)
WHERE tablename = 'articles_articlewords' AND attname = 'words' AND length(word) > 3 AND share IS NOT NULL
ORDER BY share DESC
"""


def searches() -> dict[str, str]:
    """Return the addresses of searches by words of the archive, by name; the words must be indexed."""
    words = [word for (word,) in fetched(_FREQUENT_SQL)]
    if not words:
        return {}
    often, again, seldom = words[0], words[1], words[-1]
    headline = " ".join(Article.objects.order_by("-pk")[5].headline.split()[:3])
    asked = {
        "a frequent word": often,
        "a rarer word": seldom,
        "two frequent words": f"{often} {again}",
        "one without the other": f"{often} -{again}",
        "a phrase": f'"{headline}"',
        "a phrase of frequent words": f'"{often} {again}"',
        "a beginning": f"{seldom[:3]}*",
        "words of headlines": f"headline:{often}",
        "a word of a newspaper in a month": f"{seldom} newspaper:paper after:2000-01 before:2000-02",
        "brackets": f"({often} OR {seldom}) NOT ({again} OR xylophonist)",
        "no article": "xylophonist harpsichord",
    }
    return {f"search: {name}": f"/articles/?{urlencode({'q': words})}" for name, words in asked.items()}


def addresses() -> dict[str, str]:
    """Return the addresses of the pages that editors use most, by name."""
    pair = Pair.objects.in_queue().order_by("-pk")[0].pk
    cluster = Cluster.objects.order_by("pk")[5].pk
    rows = {"/series/": Series.objects.all(), "/groups/": DenseGroup.objects.all()}
    rows["/stories/"] = Article.objects.filter(membership=None)
    return {
        "dashboard": "/",
        **{path.strip("/"): path for path in LISTS},
        "pair": f"/pairs/{pair}/",
        "pair in a tab": f"/pairs/{pair}/?tab=informative",
        "pair in a list": f"/pairs/{pair}/?verdict=any",
        "card of a cluster": f"/clusters/{cluster}/card/?tab=clusters",
        "cluster": f"/clusters/{cluster}/",
        "article": f"/articles/{Article.objects.order_by('-pk')[5].pk}/",
        **{
            f"one of {path.strip('/')}": f"{path}{row.pk}/"
            for path, found in rows.items()
            for row in found.order_by("pk")[:1]
        },
    }


def filtered_addresses() -> dict[str, str]:
    """Return the addresses of the lists at their end and with each of their filters and searches, by name."""
    article = Article.objects.order_by("-pk")[5]
    words = " ".join(article.headline.split()[1:3])
    values = {"day": f"{article.date:%Y-%m-%d}", "words": words, "url": article.url}
    return {
        f"{path.strip('/')}, {query}": f"{path}?{query.format(**values)}"
        for path, queries in LISTS.items()
        for query in queries
    }


def decisions(client: Client, count: int) -> Measured:
    """Decide on one question after the other, each with the page of the next one."""
    address = client.get("/queue/next/", follow=True).redirect_chain[-1][0]
    kinds = itertools.cycle(("confirm", "reject"))

    def decide() -> Any:
        nonlocal address
        path, _, query = address.partition("?")
        address = client.post(f"{path}decide/?{query}", {"seen": 0, "kind": next(kinds)})["Location"]
        shown = client.get(address, follow=True)
        if shown.redirect_chain:
            address = shown.redirect_chain[-1][0]
        return shown

    return measured("a decision with the next question", decide, count)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--articles", type=int, default=ARTICLES)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--repeat", type=int, default=20, help="requests of each page; the median counts")
    parser.add_argument("--only", default="", help="measure only pages whose name begins so")
    parser.add_argument("--keep", action="store_true", help="leave the database, for --again")
    parser.add_argument("--again", action="store_true", help="measure the database that --keep left")


def run(options: argparse.Namespace) -> None:
    """Fill a scratch database and print the times of the pages."""
    with database.scratch_database(again=options.again, keep=options.keep):
        if not options.again:
            began = time.monotonic()
            archive.fill(options.articles, options.pairs)
            database.settle()
            print(f"Filled in {time.monotonic() - began:.0f} s.", file=sys.stderr)
        print("| page | median ms | slowest ms | CPU ms | queries |\n|---|---:|---:|---:|---:|")
        for page in _measure(options.repeat, options.only):
            print(page.row(), flush=True)


def _measure(repeat: int, only: str) -> Iterator[Measured]:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.filter(username="mara").first() or make_user("mara", "editor"))
    for name, address in (addresses() | filtered_addresses()).items():
        if name.startswith(only):
            yield of_address(client, name, address, repeat)
    if "a decision".startswith(only) or only.startswith("a decision"):
        yield decisions(client, DECIDED_HERE)

"""Measure the review pages with 1,000,000 pairs stored; see docs/benchmarks.md.

.venv/bin/python -m benchmarks.pages [--articles 1000000] [--pairs 1000000] [--repeat 20]

The times are those of the server: a request from its view to its last byte, in this process, without a browser.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import django
import psutil
from django.db import connection

from benchmarks import archive, database
from benchmarks.measuring import MeasuringError

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
    """Ask for a page again and again; the first request is not counted."""
    _checked(name, ask())
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


def _checked(name: str, answer: Any) -> None:
    if answer.status_code != 200:
        raise MeasuringError(f"{name} answered {answer.status_code}")


def addresses() -> dict[str, str]:
    """Return the addresses of the pages that editors use most, by name."""
    from articles.models import Article  # noqa: PLC0415
    from dedup.models import Cluster, DenseGroup, Pair, Series  # noqa: PLC0415

    pair = Pair.objects.in_queue().order_by("-pk")[0].pk
    cluster = Cluster.objects.order_by("pk")[5].pk
    article = Article.objects.order_by("-pk")[5].pk
    firsts = {
        name: path for path, queries in _lists("", "", "").items() for name, query in queries.items() if not query
    }
    one_of = {
        f"one of {path.strip('/')}": f"{path}{row.pk}/"
        for path, rows in (
            ("/series/", Series.objects.all()),
            ("/groups/", DenseGroup.objects.all()),
            ("/stories/", Article.objects.filter(membership=None)),
        )
        for row in rows.order_by("pk")[:1]
    }
    return {
        "dashboard": "/",
        **firsts,
        "pair": f"/pairs/{pair}/",
        "pair in a tab": f"/pairs/{pair}/?tab=informative",
        "pair in a list": f"/pairs/{pair}/?verdict=any",
        "card of a cluster": f"/clusters/{cluster}/card/?tab=clusters",
        "cluster": f"/clusters/{cluster}/",
        "article": f"/articles/{article}/",
        **one_of,
    }


def filtered_addresses() -> dict[str, str]:
    """Return the addresses of the lists at their end and with each of their filters and searches, by name."""
    from articles.models import Article  # noqa: PLC0415

    article = Article.objects.order_by("-pk")[5]
    words = " ".join(article.headline.split()[1:3])
    lists = _lists(f"{article.date:%Y-%m-%d}", words, article.url)
    return {name: f"{path}?{query}" for path, queries in lists.items() for name, query in queries.items() if query}


def _lists(day: str, words: str, url: str) -> dict[str, dict[str, str]]:
    """Return the query strings with which each list is asked for, by the path of the list and the name of the page."""
    days = f"date_from={day}&date_to={day}"
    return {
        "/queue/": {
            "queue": "",
            "queue, its end": "page=1000",
            "queue, nearly certain": "tab=certain",
            "queue, clusters": "tab=clusters",
            "queue, conflicts": "tab=conflicts",
            "queue, later": "tab=later",
            "queue, disagreements": "tab=disagreements",
            "queue, second readings": "tab=second",
            "queue, of a newspaper and score": "newspaper=3&score_from=0.8",
            "queue, of two newspapers": "newspaper=3&other=4",
            "queue, of a day": days,
            "queue, by words": f"headline={words}",
            "queue, by words that no headline has": "headline=xylophonist",
            "pairs": "verdict=any",
            "pairs, the end": "verdict=any&page=1000",
            "pairs, of the lowest score": "verdict=any&sort=score",
            "pairs, the newest": "verdict=any&sort=-date",
            "pairs, the most doubtful": "sort=doubt",
            "pairs, templates": "verdict=template",
            "pairs, not yet judged": "verdict=unjudged",
            "pairs, of a pass": "verdict=any&pass_name=sentence",
            "pairs, of a score": "verdict=any&score_from=0.9&score_to=0.95",
            "pairs, of a newspaper": "verdict=any&newspaper=3",
            "pairs, of two newspapers": "verdict=any&newspaper=3&other=4",
            "pairs, of one newspaper": "verdict=any&same=True",
            "pairs, of a day": f"verdict=any&{days}",
            "pairs, by words": f"verdict=any&headline={words}",
            "pairs, by words that no headline has": "verdict=any&headline=xylophonist",
            "pairs, rejected": "verdict=any&state=rejected",
            "pairs, of any state": "verdict=any&state=any",
            "pairs, of a series": "verdict=any&series=1",
            "pairs, of a dense group": "verdict=any&group=1",
        },
        "/clusters/": {
            "clusters": "",
            "clusters, the end": "page=1000",
            "clusters, confirmed": "state=confirmed",
            "clusters, of six articles": "size_from=6",
            "clusters, of a newspaper": "newspaper=3",
            "clusters, with a weak link": "held=weak",
        },
        "/articles/": {
            "articles": "",
            "articles, the end": "page=1000",
            "articles, of a newspaper": "newspaper=3",
            "articles, of a day": days,
            "articles, since a day": "date_from=2001-01-01",
            "articles, of uncertain date": "look=day",
            "articles, from an agency": "look=agency",
            "articles, duplicates": "look=duplicate",
            "articles, by words": f"q={words}",
            "articles, by words that no headline has": "q=xylophonist",
            "articles, by a frequent word": "q=prices",
            "articles, by a URL": f"q={url}",
            "articles, by a part of many URLs": "q=paper-3.example/2000",
        },
        "/stories/": {
            "stories": "",
            "stories, the end": "page=1000",
            "stories, of a newspaper": "newspaper=3",
            "stories, of a day": days,
            "stories, of two newspapers or more": "papers=2",
            "stories, of five newspapers or more": "papers=5",
            "stories, by words": f"q={words}",
            "stories, by a frequent word": "q=prices",
        },
        "/history/": {
            "history": "",
            "history, the end": "page=1000",
            "history, of an editor": "decided_by=1",
            "history, confirmed pairs": "kind=confirm",
            "history, undone decisions": "kind=undo",
        },
        "/series/": {
            "series": "",
            "series, the end": "page=1000",
            "series, of a newspaper": "newspaper=8",
            "series, without a rule": "ruled=no",
            "series, by words": "headline=prices",
        },
        "/groups/": {
            "dense groups": "",
            "dense groups, of a newspaper": "newspaper=3",
            "dense groups, of a size": "size_from=100",
            "dense groups, with a rule": "ruled=yes",
        },
        "/boilerplate/": {
            "boilerplate": "",
            "boilerplate, the end": "page=1000",
            "boilerplate, of a newspaper": "newspaper=3",
            "boilerplate, of a week": f"week={day}",
            "boilerplate, by words": "sentence=subscribe",
            "boilerplate, quotations": "kind=quotation",
        },
        "/disagreements/": {
            "disagreements": "",
            "disagreements, of an editor": "editor=1",
            "disagreements, open": "state=open",
        },
        "/runs/": {"runs": ""},
        "/batches/": {"batches": ""},
        "/validation/": {"validation samples": ""},
        "/reports/": {"reports": ""},
    }


def decisions(client: Any, count: int) -> Measured:
    """Decide on one question after the other, each with the page of the next one."""
    address = client.get("/queue/next/", follow=True).redirect_chain[-1][0]
    found, counted, clock = [], Queries(), Clock()
    before = clock.read()
    for number in range(count):
        counted = Queries()
        with connection.execute_wrapper(counted):
            began = time.perf_counter()
            path, _, query = address.partition("?")
            decided = client.post(f"{path}decide/?{query}", {"seen": 0, "kind": ("confirm", "reject")[number % 2]})
            address = decided["Location"]
            shown = client.get(address, follow=True)
            found.append(1000 * (time.perf_counter() - began))
        if shown.redirect_chain:
            address = shown.redirect_chain[-1][0]
        _checked(address, shown)
    return Measured("a decision with the next question", found, (clock.read() - before) / count, counted.count)


def main() -> int:
    """Fill a scratch database and print the times of the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=ARTICLES)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--repeat", type=int, default=20, help="requests of each page; the median counts")
    parser.add_argument("--only", default="", help="measure only pages whose name begins so")
    parser.add_argument("--keep", action="store_true", help="leave the database, for --again")
    parser.add_argument("--again", action="store_true", help="measure the database that --keep left")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "newsdedup_site.settings")
    django.setup()
    try:
        with database.scratch_database(again=options.again, keep=options.keep):
            if not options.again:
                _fill(options.articles, options.pairs)
            for each in _measure(options.repeat, options.only):
                print(each.row(), flush=True)
    except MeasuringError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _fill(articles: int, pairs: int) -> None:
    began = time.monotonic()
    archive.fill(articles, pairs)
    archive.tidy()
    print(f"Filled in {time.monotonic() - began:.0f} s.", file=sys.stderr)


def _measure(repeat: int, only: str) -> Iterator[Measured]:
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from tests.factories import make_user  # noqa: PLC0415

    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.filter(username="mara").first() or make_user("mara", "editor"))
    print("| page | median ms | slowest ms | CPU ms | queries |\n|---|---:|---:|---:|---:|")
    for name, address in (addresses() | filtered_addresses()).items():
        if name.startswith(only):
            yield measured(name, partial(client.get, address), repeat)
    if "a decision".startswith(only) or only.startswith("a decision"):
        yield decisions(client, DECIDED_HERE)


if __name__ == "__main__":
    sys.exit(main())

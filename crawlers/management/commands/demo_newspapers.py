"""`manage.py demo_newspapers`: serve five invented newspapers, and crawl them."""

import json
import signal
import threading
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.core.management import call_command
from django.core.management.base import CommandError

from articles.management.base import ExitCode, ProjectCommand
from articles.models import ArticleURL, Newspaper
from crawlers.demo.manifest import manifest
from crawlers.demo.papers import PAPERS, newspapers
from crawlers.demo.server import FIRST_PORT, HOST, PortError, port_number, ports_from, serving, serving_somewhere

# By default, a crawl refuses this machine's own addresses.
_ALLOWED = f"CRAWL_PRIVATE_ADDRESSES={HOST}"
# There is no other site on this loopback address that a fast crawl could overload.
_OVERRIDES = ["DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=False", "SITEMAP_DAYS=0", _ALLOWED]


class Command(ProjectCommand):
    help = (
        "Serve five invented newspapers on loopback until Ctrl-C, and add them to the database, so that "
        f"`manage.py crawl NAME --set {_ALLOWED}` visits them. With --crawl, visit them and exit."
    )

    ends: ClassVar = ProjectCommand.ends | {ExitCode.INTERRUPTED}
    exit_codes = {PortError: ExitCode.ERROR}

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--first-port",
            type=port_number,
            metavar="PORT",
            help="the five newspapers take this port and the next four; 0: any free ones (default: those of their "
            f"stored articles, else {FIRST_PORT} or, if one of these five is taken, any free ones)",
        )
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--crawl", action="store_true", help="crawl all five, then exit")
        choice.add_argument("--no-rows", action="store_true", help="serve only; do not touch the database")
        choice.add_argument(
            "--manifest",
            action="store_true",
            help="print the correct answer for every article and pair as JSON, and exit",
        )

    def handle(self, **options: Any) -> None:
        if options["manifest"]:
            self.stdout.write(json.dumps(manifest(), ensure_ascii=False, indent=1))
            return
        with self._served(options["first_port"], rows=not options["no_rows"]) as base_urls:
            if not options["no_rows"]:
                # A crawl of all newspapers skips them: they are seldom served.
                for fields in newspapers(base_urls):
                    first = fields | {"crawl": False}
                    Newspaper.objects.update_or_create(name=fields["name"], defaults=fields, create_defaults=first)
            if options["crawl"]:
                self._crawl(base_urls)
            else:
                self._serve(base_urls)

    def _served(self, first_port: int | None, *, rows: bool) -> AbstractContextManager[dict[str, str]]:
        if first_port is not None:
            return serving(ports_from(first_port))
        # The address is part of an article's identity: at the same ports, a second crawl finds every article known.
        # So each newspaper has the port of its article that came last.
        seen = ArticleURL.objects.filter(article__newspaper__host=HOST).order_by("article__newspaper__name", "-pk")
        newest = seen.distinct("article__newspaper__name").values_list("article__newspaper__name", "url")
        urls = dict(newest) if rows else {}
        ports = {key: port for key, paper in PAPERS.items() if (port := urlsplit(urls.get(paper.name, "")).port)}
        return serving(ports_from(0) | ports) if ports else serving_somewhere()

    def _serve(self, base_urls: Mapping[str, str]) -> None:
        ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        for key, base_url in base_urls.items():
            self.stdout.write(f"{PAPERS[key].name}: {base_url}/")
        self.stdout.write(f"Crawl them with: manage.py crawl NAME --set {_ALLOWED}")
        self.stdout.write("Press Ctrl-C to stop.")
        self.stdout.flush()
        ended.wait()

    def _crawl(self, base_urls: Mapping[str, str]) -> None:
        names = [PAPERS[key].name for key in base_urls]
        self.stderr.write(
            "Each newspaper's robots.txt forbids one page: that the crawl refuses it is part of the demo."
        )
        call_command("crawl", *names, overrides=_OVERRIDES, stdout=self.stdout, stderr=self.stderr)
        empty = []
        for name, base_url in zip(names, base_urls.values(), strict=True):
            if not ArticleURL.objects.filter(article__newspaper__name=name, url__startswith=base_url).exists():
                empty.append(name)
        if empty:
            raise CommandError(
                f"no articles of {', '.join(empty)} are stored after the crawl; "
                "run it again with --verbosity 3 to see each request"
            )

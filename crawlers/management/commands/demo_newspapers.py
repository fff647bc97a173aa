"""`manage.py demo_newspapers`: serve the invented newspapers, and crawl them."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, ClassVar

from django.core.management import call_command
from django.core.management.base import CommandError

from articles.management.base import ExitCode, ProjectCommand
from articles.models import ArticleURL, Newspaper
from crawlers.demo_newspapers.manifest import manifest
from crawlers.demo_newspapers.papers import PAPERS, newspapers
from crawlers.demo_newspapers.server import HOST, PortError, add_port_argument, serving, until_interrupted

# A crawl refuses this machine's own addresses unless it is told otherwise.
_ALLOWED = f"CRAWL_PRIVATE_ADDRESSES={HOST}"
# They are here to be crawled by name, and nothing on this loopback needs to be spared.
_OVERRIDES = ["DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=False", _ALLOWED]


class Command(ProjectCommand):
    help = (
        "Serves five invented newspapers on loopback until Ctrl-C, and keeps a newspaper row for each, so that "
        f"`manage.py crawl NAME --set {_ALLOWED}` visits them. With --crawl it visits them itself and ends."
    )

    ends: ClassVar = ProjectCommand.ends | {ExitCode.INTERRUPTED}
    exit_codes = {PortError: ExitCode.ERROR}

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_port_argument(parser)
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--crawl", action="store_true", help="crawl all five, then end")
        choice.add_argument("--no-rows", action="store_true", help="serve only; leave the database alone")
        choice.add_argument(
            "--manifest", action="store_true", help="print the truth about every article and pair as JSON, and end"
        )

    def handle(self, **options: Any) -> None:
        if options["manifest"]:
            self.stdout.write(json.dumps(manifest().as_json(), ensure_ascii=False, indent=1))
            return
        with serving(options["first_port"]) as base_urls:
            if not options["no_rows"]:
                _write_rows(base_urls)
            if options["crawl"]:
                self._crawl(base_urls)
            else:
                self._serve(base_urls)

    def _serve(self, base_urls: Mapping[str, str]) -> None:
        ended = until_interrupted()
        for key, base_url in base_urls.items():
            self.stdout.write(f"{PAPERS[key].name}: {base_url}/")
        self.stdout.write(f"Crawl them with: manage.py crawl NAME --set {_ALLOWED}")
        self.stdout.write("Ctrl-C ends it.")
        self.stdout.flush()
        ended.wait()

    def _crawl(self, base_urls: Mapping[str, str]) -> None:
        names = [PAPERS[key].name for key in base_urls]
        self.stderr.write("One page of each paper is closed by its robots.txt; that it is refused is part of the demo.")
        call_command("crawl", *names, overrides=_OVERRIDES, stdout=self.stdout, stderr=self.stderr)
        empty = [
            PAPERS[key].name
            for key, base_url in base_urls.items()
            if not ArticleURL.objects.filter(
                article__newspaper__name=PAPERS[key].name, url__startswith=base_url
            ).exists()
        ]
        if empty:
            raise CommandError(
                f"the crawl stored nothing of {', '.join(empty)} and knew nothing of it; "
                "run it again with --verbosity 3 to see each request"
            )


def _write_rows(base_urls: Mapping[str, str]) -> None:
    """Make or mend the newspapers' rows. A crawl of all newspapers leaves them out: they are seldom served."""
    for fields in newspapers(base_urls):
        Newspaper.objects.update_or_create(
            name=fields["name"], defaults=fields, create_defaults=fields | {"crawl": False}
        )

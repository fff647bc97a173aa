"""`manage.py discover_newspaper`: propose the sources of a newspaper from its home page."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any, ClassVar

from django.core.management.base import CommandError

from articles.management.base import ExitCode, ProjectCommand, usage_error
from articles.models import Newspaper
from crawlers.discovery.found import FoundNewspaper, NothingFoundError, discover


class Command(ProjectCommand):
    help = (
        "Look for the feeds, sitemaps and section pages of a newspaper, given the address of its home page, and show "
        "what each would bring. With --save, add the newspaper with the recommended sources."
    )
    exit_codes: ClassVar = {NothingFoundError: ExitCode.ERROR}

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", metavar="URL", help="the address of the home page, or of a feed or sitemap")
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--json", action="store_true", help="print what was found as JSON")
        choice.add_argument("--save", metavar="NAME", help="add a newspaper of this name with the recommended sources")
        parser.add_argument(
            "--private",
            action="append",
            metavar="NETWORK",
            help="also ask this private address or network (default: CRAWL_PRIVATE_ADDRESSES); may be repeated",
        )

    def handle(self, **options: Any) -> None:
        name = options["save"]
        if name and Newspaper.objects.filter(name=name).exists():
            raise usage_error(f"--save {name}: there is a newspaper with this name; choose another, or edit that one.")
        found = discover(options["url"], private=options["private"])
        if options["json"]:
            self.stdout.write(json.dumps(found.as_json(), ensure_ascii=False, indent=1))
            return
        for line in _lines(found):
            self.stdout.write(line)
        if name:
            self._save(name, found)

    def _save(self, name: str, found: FoundNewspaper) -> None:
        if not any(source.recommended for source in found.sources):
            raise CommandError("no source is recommended, so the newspaper was not added")
        Newspaper.objects.create(**found.fields() | {"name": name})
        self.stdout.write(f"Added {name}. Crawl it with: manage.py crawl {json.dumps(name, ensure_ascii=False)}")


def _lines(found: FoundNewspaper) -> Iterator[str]:
    yield f"{found.name} ({found.url})"
    yield f"article URL pattern: {found.article_url_pattern or 'none fits; without one, all links are visited'}"
    for source in found.sources:
        title = f" “{source.title}”" if source.title else ""
        yield f"{'*' if source.recommended else '-'} {source.kind}{title} {source.url} (from {source.found_in})"
        more = " or more" if source.at_least else ""
        newest = f", the newest of {source.newest}" if source.newest else ""
        yield f"    {source.problem or f'{source.entries:,} articles{more}{newest}'}"
        yield from (f"    {sample}" for sample in source.samples[:3])
    if not found.sources:
        yield "no feed, sitemap or section page was found"
    yield from found.notes

"""`newsdedup demo`: five invented newspapers, crawled, compared, partly decided, and served."""

from collections.abc import Mapping
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from newsdedup_site.management.commands import serve


class Command(serve.Command):
    """Make the demo, then serve as serve does."""

    help = (
        "Crawls five invented newspapers on this machine, finds their duplicates, decides on some pairs, and serves "
        "the pages with a worker until Ctrl+C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        super().add_arguments(parser)
        parser.add_argument("--no-serve", action="store_true", help="end when the duplicates are found")

    def handle(self, **options: Any) -> None:
        """Make the demo, and serve it."""
        if options["no_serve"]:
            self.make()
        else:
            super().handle(**options)

    def prepare(self, _options: Mapping[str, Any]) -> None:
        """Make the demo, and a login."""
        self.make()
        call_command("make_editor", "demo", "--admin", "--reset", stdout=self.stdout)

    def make(self) -> None:
        """Crawl, compare, and decide on some pairs."""
        steps: dict[str, list[tuple[str, dict[str, Any]]]] = {
            "Making a database, and crawling five invented newspapers": [
                ("migrate", {"verbosity": 0}),
                ("demo_newspapers", {"crawl": True}),
            ],
            "Finding duplicates, and deciding on some of them": [
                ("find_boilerplate", {}),
                ("find_duplicates", {}),
                ("demo_review", {}),
            ],
        }
        for words, commands in steps.items():
            self.stdout.write(words)
            self.stdout.flush()
            for name, options in commands:
                call_command(name, **options, stdout=self.stdout, stderr=self.stderr)

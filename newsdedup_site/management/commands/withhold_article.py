"""`manage.py withhold_article`: takes an article from all pages and exports, and shows it again."""

from typing import Any

from django.core.management.base import CommandParser

from articles.management.base import ExitCode, ProjectCommand
from dedup.management.arguments import chosen_user
from newsdedup_site.management.commands.remove_article import add_reason_options
from newsdedup_site.privacy.removal import RemovalError, release, withhold


class Command(ProjectCommand):
    help = "Withhold an article from all pages, exports and runs, until --release shows it again as it was."
    exit_codes = {RemovalError: ExitCode.USAGE}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("article", metavar="N", type=int, help="number of the article")
        parser.add_argument("--release", action="store_true", help="show the article again")
        add_reason_options(parser)

    def handle(self, **options: Any) -> None:
        number, user = options["article"], chosen_user(options)
        if options["release"]:
            release(number, user=user)
            self.stdout.write(f"Article {number} is shown again. The next run finds its pairs.")
        else:
            withhold(number, reason=options["reason"] or "", user=user)
            self.stdout.write(f"Article {number} is withheld. --release shows it again.")

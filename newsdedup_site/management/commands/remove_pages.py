"""`manage.py remove_pages`: deletes fetched pages that are older than newspapers keep them."""

from typing import Any

from django.core.management.base import CommandParser

from articles.management.arguments import number_up_to
from articles.management.base import LongCommand
from articles.models import Newspaper
from articles.numbers import counted
from articles.storage.newspapers import newspapers_named
from newsdedup_site.privacy.retention import remove_pages


class Command(LongCommand):
    help = (
        "Delete fetched pages of articles that are older than their newspaper keeps them (its setting “page days”). "
        "The articles stay, but cannot be extracted again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--newspaper", metavar="NAME", action="append", default=[], help="only of this newspaper")
        parser.add_argument(
            "--days",
            type=number_up_to(36_500),
            metavar="N",
            help="pages older than N days, whatever the newspaper says",
        )

    def handle(self, **options: Any) -> None:
        chosen = newspapers_named(options["newspaper"]) if options["newspaper"] else Newspaper.objects.in_use()
        removed = 0
        with self.progress(options) as progress:
            task = progress.add_task("pages", total=None)
            for newspaper in chosen:
                days = options["days"] or newspaper.page_days
                for number in remove_pages(newspaper, days) if days else ():
                    removed += number
                    progress.advance(task, number)
        gone = "was removed; its article stays" if removed == 1 else "were removed; their articles stay"
        self.stdout.write(f"{counted(removed, 'page')} {gone}.")

"""`manage.py remove_newspaper`: removes a newspaper with all that is stored of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from articles.management.base import usage_error
from articles.storage.newspapers import newspaper_itself
from newsdedup_site.management.commands._removing import RemovingCommand
from newsdedup_site.privacy.previews import preview_newspaper
from newsdedup_site.privacy.removal import begin_newspaper


class Command(RemovingCommand):
    """Parse the options, count, remove, print."""

    help = (
        "Remove a newspaper for good: its articles, pages, pairs and crawls. Decisions keep who, when and what, "
        "without texts. Without --confirm, it only prints what would go."
    )

    confirmed_by = "the name of the newspaper"

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("newspaper", metavar="NAME", nargs="?", help="name or id of the newspaper")
        super().add_arguments(parser)

    def remove(self, options: dict[str, Any]) -> None:
        """Remove the newspaper."""
        if not options["newspaper"]:
            raise usage_error("name the newspaper that is to be removed")
        found = newspaper_itself(options["newspaper"])
        self.remove_if_confirmed(options, found.name, preview_newspaper(found), partial(begin_newspaper, found))

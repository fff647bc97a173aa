"""`manage.py remove_article`: removes an article with all that is stored of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from articles.management.base import usage_error
from articles.models import Article
from newsdedup_site.management.commands._removing import RemovingCommand
from newsdedup_site.privacy.previews import preview_articles
from newsdedup_site.privacy.removal import begin_articles


class Command(RemovingCommand):
    """Parse the options, count, remove, print."""

    help = (
        "Remove an article for good, with its pages, versions and pairs. Decisions keep who, when and what, without "
        "texts. Without --confirm, it only prints what would go."
    )

    confirmed_by = "the number of the article"

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("article", metavar="N", nargs="?", type=int, help="number of the article")
        super().add_arguments(parser)

    def remove(self, options: dict[str, Any]) -> None:
        """Remove the article."""
        number = options["article"]
        if not number or not Article.objects.filter(pk=number).exists():
            raise usage_error(f"there is no article {number}" if number else "name the number of the article")
        self.remove_if_confirmed(options, str(number), preview_articles([number]), partial(begin_articles, [number]))

"""`manage.py remove_article`: removes an article with all that is stored of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from articles.management.base import usage_error
from articles.models import Article, Removal
from newsdedup_site.management.commands._removing import RemovingCommand
from newsdedup_site.privacy.previews import Preview, preview_article
from newsdedup_site.privacy.removal import begin_articles


class Command(RemovingCommand):
    """Parse the options, count, remove, print."""

    help = (
        "Remove an article for good, with its pages, versions and pairs. Decisions keep who, when and what, without "
        "texts. Without --confirm, it only prints what would go."
    )

    named = {"metavar": "N", "type": int, "help": "number of the article"}
    confirmed_by = "the number of the article"

    def found(self, number: int | None) -> tuple[str, Preview, Callable[..., Removal]]:
        """Find the article."""
        if not number or not Article.objects.filter(pk=number).exists():
            raise usage_error(f"there is no article {number}" if number else "name the number of the article")
        return str(number), preview_article(number), partial(begin_articles, [number])

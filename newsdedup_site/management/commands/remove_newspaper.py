"""`manage.py remove_newspaper`: removes a newspaper with all that is stored of it."""

from collections.abc import Callable
from functools import partial

from articles.management.base import usage_error
from articles.models import Removal
from articles.storage.newspapers import newspaper_itself
from newsdedup_site.management.commands import remove_article
from newsdedup_site.privacy.removal import Preview, begin_newspaper, preview_newspaper


class Command(remove_article.Command):
    help = (
        "Remove a newspaper for good: its articles, pages, pairs and crawls. Decisions keep who, when and what, "
        "without texts. Without --confirm, it only prints what would go."
    )
    named = {"metavar": "NAME", "help": "name or id of the newspaper"}
    confirmed_by = "the name of the newspaper"

    def found(self, what: str | None) -> tuple[str, Preview, Callable[..., Removal]]:
        if not what:
            raise usage_error("name the newspaper that is to be removed")
        newspaper = newspaper_itself(what)
        return newspaper.name, preview_newspaper(newspaper), partial(begin_newspaper, newspaper)

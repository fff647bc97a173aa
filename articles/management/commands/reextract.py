"""`manage.py reextract`: extract stored pages again by today's extraction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import QuerySet

from articles import renewal
from articles.management.commands._renewing import RenewingCommand
from articles.models import Article, Newspaper
from articles.renewal import Renewed


class Command(RenewingCommand):
    help = (
        "Extracts the article anew from the kept page, where that was done by an older version. Nothing is fetched; "
        "an article whose page gives none any more stays as it is. Interrupted, it goes on when it is run again."
    )
    default_batch_size = 100

    def outdated(self, newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
        return renewal.outdated_texts(newspapers)

    def renew(self, newspapers: Sequence[Newspaper] | None, batch_size: int) -> Iterator[Renewed]:
        return renewal.reextract(newspapers, batch_size=batch_size)

"""`manage.py reextract`: extract stored pages again by today's extraction."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from articles.management.arguments import number_up_to
from articles.management.commands._renewing import RenewingCommand
from articles.models import Article, Newspaper
from articles.processes import WorkerDiedError
from articles.storage import reextraction
from articles.storage.renormalization import Renewed

MAX_WORKERS = 64


class Command(RenewingCommand):
    help = (
        "Extracts the article anew from the kept page, where that was done by an older version. Nothing is fetched; "
        "an article whose page gives none any more stays as it is. Interrupted, it goes on when it is run again."
    )
    default_batch_size = 100

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--workers",
            type=number_up_to(MAX_WORKERS),
            default=os.cpu_count() or 1,
            metavar="N",
            help=f"processes that extract, 1 to {MAX_WORKERS} (default: one a core)",
        )

    def outdated(self, newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
        return reextraction.outdated_texts(newspapers)

    def renew(self, newspapers: Sequence[Newspaper] | None, options: dict[str, Any]) -> Iterator[Renewed]:
        try:
            yield from reextraction.reextract(newspapers, batch_size=options["batch_size"], workers=options["workers"])
        except WorkerDiedError as error:
            raise CommandError(str(error)) from error

"""`manage.py reextract`: extract stored pages again by today's extraction."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from articles.management.arguments import add_workers_option
from articles.management.base import ExitCode
from articles.management.commands._renewing import RenewingCommand
from articles.models import Article, Newspaper
from articles.processes import WorkerDiedError
from articles.storage import reextraction
from articles.storage.renormalization import Renewed


class Command(RenewingCommand):
    help = (
        "Extracts the article anew from the kept page, where that was done by an older version. Nothing is fetched; "
        "an article whose page gives none any more stays as it is. Interrupted, it goes on when it is run again."
    )
    default_batch_size = 100
    exit_codes = {WorkerDiedError: ExitCode.ERROR}

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        add_workers_option(parser)

    def outdated(self, newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
        return reextraction.outdated_texts(newspapers)

    def renew(self, newspapers: Sequence[Newspaper] | None, options: dict[str, Any]) -> Iterator[Renewed]:
        return reextraction.reextract(newspapers, batch_size=options["batch_size"], workers=options["workers"])

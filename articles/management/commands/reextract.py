"""`manage.py reextract`: extracts stored pages again with the current extraction."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from articles.management.arguments import add_workers_option
from articles.management.commands._updating import UpdatingCommand
from articles.models import Article, Newspaper
from articles.storage import reextraction
from articles.storage.renormalization import UpdatedBatch
from articles.storage.revisions import reextract_revisions


class Command(UpdatingCommand):
    help = (
        "Extracts articles again from their stored pages if an older version extracted them. Nothing is fetched. "
        "If a page no longer yields an article, the stored article is left unchanged. Run it again to resume after an "
        "interruption."
    )
    default_batch_size = 100

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        add_workers_option(parser)

    def outdated(self, newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
        return reextraction.outdated_texts(newspapers)

    def update(self, newspapers: Sequence[Newspaper] | None, options: dict[str, Any]) -> Iterator[UpdatedBatch]:
        yield from reextraction.reextract(newspapers, batch_size=options["batch_size"], workers=options["workers"])
        if changed := reextract_revisions(newspapers):
            self.stdout.write(f"Later versions: {changed:,} changed.")

"""`manage.py reextract`: extracts stored pages again with the current extraction."""

from collections.abc import Iterator, Sequence
from typing import Any

from articles.management.commands._updating import UpdatingCommand
from articles.models import Newspaper
from articles.storage.reextraction import outdated_texts, reextract
from articles.storage.renormalization import UpdatedBatch
from articles.storage.revisions import reextract_revisions


class Command(UpdatingCommand):
    help = (
        "Extracts articles again from their stored pages if an older version extracted them. Nothing is fetched. "
        "If a page no longer yields an article, the stored article is left unchanged. Run it again to resume after an "
        "interruption."
    )
    default_batch_size = 100
    outdated = staticmethod(outdated_texts)

    def update(self, newspapers: Sequence[Newspaper] | None, options: dict[str, Any]) -> Iterator[UpdatedBatch]:
        yield from reextract(newspapers, batch_size=options["batch_size"], workers=options["workers"])
        if changed := reextract_revisions(newspapers):
            self.stdout.write(f"Later versions: {changed:,} changed.")

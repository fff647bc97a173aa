"""`manage.py renormalize`: brings the normalised titles, texts and URLs up to the current rules."""

from collections.abc import Iterator, Sequence
from typing import Any

from articles.management.commands._updating import UpdatingCommand
from articles.models import Newspaper
from articles.storage import renormalization
from articles.storage.renormalization import UpdatedBatch, outdated_forms
from articles.storage.title_affixes import affixes_line, update_affixes
from articles.storage.workers import database_pool


class Command(UpdatingCommand):
    help = (
        "Learns what newspapers put before or after their headlines (affixes). Then recomputes the normalised titles, "
        "texts and URLs of articles that were stored under older rules or whose newspaper's affixes have changed. Run "
        "it again to resume after an interruption."
    )
    default_batch_size = 500
    few_articles = "; one for few articles"
    outdated = staticmethod(outdated_forms)

    def prepare(self, newspapers: Sequence[Newspaper] | None) -> None:
        for newspaper in update_affixes(newspapers):
            self.stdout.write(affixes_line(newspaper))

    def update(self, newspapers: Sequence[Newspaper] | None, options: dict[str, Any]) -> Iterator[UpdatedBatch]:
        with database_pool(options["workers"]) as pool:
            yield from renormalization.renormalize(newspapers, batch_size=options["batch_size"], pool=pool)

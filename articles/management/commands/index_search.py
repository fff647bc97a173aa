"""`manage.py index_search`: index the words of new and changed articles, so that a search finds them."""

from typing import Any

from articles.management.base import LongCommand
from articles.storage.search_index import index_words, not_indexed


class Command(LongCommand):
    help = (
        "Indexes the words of the articles that are new or have changed, so that a search finds them. A worker does "
        "the same by itself. Run it again to resume after an interruption."
    )

    def handle(self, *_args: Any, **options: Any) -> None:
        done = 0
        with self.progress(options) as progress:
            task = progress.add_task("articles", total=not_indexed().count())
            for indexed in index_words():
                done += indexed
                progress.update(task, completed=done)
        self.stdout.write(f"Articles indexed: {done:,}.")

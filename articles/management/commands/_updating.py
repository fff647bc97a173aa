"""What the commands that update stored articles share: options, progress, report."""

import argparse
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from articles.management import arguments
from articles.management.base import LongCommand
from articles.models import Article, Newspaper
from articles.storage.ingest import refresh_statistics
from articles.storage.renormalization import UpdatedBatch

SHOWN_FAILURES = 10


class UpdatingCommand(LongCommand, ABC):
    """Updates the articles that carry an older version, batch by batch; run again, it resumes."""

    default_batch_size: int
    few_articles = ""  # added to the help of --workers

    def prepare(self, newspapers: Sequence[Newspaper] | None) -> None:
        """Do what decides which articles are outdated, before they are counted."""

    @abstractmethod
    def outdated(self, newspapers: Sequence[Newspaper] | None) -> QuerySet[Article]:
        """Return the articles of these newspapers, or of all, that carry an older version."""

    @abstractmethod
    def update(self, newspapers: Sequence[Newspaper] | None, options: dict[str, Any]) -> Iterator[UpdatedBatch]:
        """Update them; yield after each batch is stored."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        arguments.add_newspaper_arguments(parser, without="all newspapers")
        arguments.add_batch_size_option(parser, "articles", default=self.default_batch_size)
        parser.add_argument(
            "--dry-run", action="store_true", help="report how many articles are outdated; change nothing"
        )
        arguments.add_workers_option(parser, note=self.few_articles)

    def handle(self, *_args: Any, **options: Any) -> None:
        newspapers = arguments.chosen_newspapers(options)
        if not options["dry_run"]:
            self.prepare(newspapers)
        outdated = self.outdated(newspapers).count()
        if options["dry_run"]:
            self.stdout.write(f"Outdated articles: {outdated:,}.")
            return
        done = changed = 0
        failures: list[tuple[int, str]] = []
        try:
            with self.progress(options) as progress:
                task = progress.add_task("articles", total=outdated)
                for batch in self.update(newspapers, options):
                    done += batch.articles
                    changed += batch.changed
                    failures += batch.failures
                    progress.update(task, completed=done)
            refresh_statistics(changed)
        finally:
            self._report(done, changed, failures)

    def _report(self, done: int, changed: int, failures: Sequence[tuple[int, str]]) -> None:
        unchanged = f", {len(failures):,} failed and left unchanged" if failures else ""
        self.stdout.write(f"Articles: {done:,} checked, {changed:,} changed{unchanged}.")
        for article_id, reason in failures[:SHOWN_FAILURES]:
            self.stderr.write(f"article {article_id}: {reason}")
        if len(failures) > SHOWN_FAILURES:
            for reason, count in Counter(reason for _, reason in failures).most_common():
                self.stderr.write(f"{count:>9,}  {reason}")

"""`manage.py find_boilerplate`: mark what a newspaper repeats in the articles of a week."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import Progress

from articles.management.arguments import INTERRUPTED_STATUS, day, newspapers_named
from articles.storage.boilerplate_marks import mark_week, outdated_weeks
from articles.storage.ingest import MANY, refresh_statistics


class Command(BaseCommand):
    help = (
        "Marks the boilerplate of each newspaper and week, Monday to Sunday: sentences that several different articles "
        "share. Only weeks are looked at whose articles, whitelist or rules have changed; nothing of what was stored "
        "changes. Interrupted, it goes on when it is run again."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("newspapers", nargs="*", metavar="NEWSPAPER", help="name of a newspaper; without any, all")
        parser.add_argument("--since", type=day, metavar="DAY", help="only from the week of this day on, YYYY-MM-DD")
        parser.add_argument("--all", action="store_true", help="also the weeks that are up to date")
        parser.add_argument("--dry-run", action="store_true", help="say how many weeks are outdated, change nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        newspapers = newspapers_named(options["newspapers"])
        ids = None if newspapers is None else [newspaper.pk for newspaper in newspapers]
        weeks = outdated_weeks(ids, since=options["since"], every=options["all"])
        if options["dry_run"]:
            self.stdout.write(f"Weeks to look at: {len(weeks):,}, with {sum(weeks.values()):,} articles.")
            return
        done = articles = changed = sentences = 0
        try:
            with Progress(console=Console(stderr=True), disable=not self.stderr.isatty()) as progress:
                task = progress.add_task("articles", total=sum(weeks.values()))
                for week in weeks:
                    marked = mark_week(week)
                    done += 1
                    articles += marked.articles
                    changed += marked.changed
                    sentences += marked.sentences
                    progress.update(task, completed=articles)
        except KeyboardInterrupt:
            self._report(done, articles, changed, sentences)
            self.stderr.write("Interrupted; the same command goes on from there.")
            sys.exit(INTERRUPTED_STATUS)
        if changed >= MANY:
            refresh_statistics()
        self._report(done, articles, changed, sentences)

    def _report(self, weeks: int, articles: int, changed: int, sentences: int) -> None:
        self.stdout.write(
            f"Weeks: {weeks:,} with {articles:,} articles; boilerplate sentences: {sentences:,}; "
            f"articles that are compared otherwise now: {changed:,}."
        )

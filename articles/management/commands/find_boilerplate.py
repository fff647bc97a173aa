"""`manage.py find_boilerplate`: marks the sentences that a newspaper repeats in the articles of a week."""

import argparse
import os
from collections import Counter
from dataclasses import asdict
from typing import Any

from rich.progress import Progress

from articles.management.arguments import add_newspaper_arguments, add_workers_option, chosen_newspaper_ids, day
from articles.management.base import LongCommand
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from articles.storage.ingest import refresh_statistics
from articles.storage.workers import database_pool


class Command(LongCommand):
    help = (
        "Marks the boilerplate of each newspaper, week by week (Monday to Sunday): sentences that several different "
        "articles share. Only weeks whose articles, whitelist or rules have changed are processed; stored texts never "
        "change. Run it again to resume after an interruption."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_newspaper_arguments(parser, without="all newspapers")
        parser.add_argument("--since", type=day, metavar="DAY", help="begin with the week of this day (YYYY-MM-DD)")
        parser.add_argument("--all", action="store_true", help="also process weeks that are up to date")
        add_workers_option(parser, note="; one for few articles")
        parser.add_argument("--dry-run", action="store_true", help="report how many weeks are outdated; change nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        weeks = outdated_weeks(chosen_newspaper_ids(options), since=options["since"], every=options["all"])
        if options["dry_run"]:
            self.stdout.write(f"Weeks to process: {len(weeks):,}, with {sum(weeks.values()):,} articles.")
            return
        done: Counter[str] = Counter()
        try:
            with self.progress(options) as progress, database_pool(options["workers"]) as pool:
                task = progress.add_task("articles", total=sum(weeks.values()))
                for marked in mark_weeks(weeks, pool=pool):
                    done.update(weeks=1, **asdict(marked))
                    progress.update(task, completed=done["articles"])
            refresh_statistics(done["changed"])
        finally:
            counts = f"{done['weeks']:,} with {done['articles']:,} articles; boilerplate sentences: "
            counts += f"{done['sentences']:,}; articles whose compared text changed: {done['changed']:,}"
            self.stdout.write(f"Weeks: {counts}.")


def mark_outdated_weeks(progress: Progress, **bounds: Any) -> None:
    """Mark the weeks that have changed, within the bounds that outdated_weeks takes; for the commands that export."""
    weeks = outdated_weeks(**bounds)
    task = progress.add_task("boilerplate", total=sum(weeks.values()))
    with database_pool(os.cpu_count() or 1) as pool:
        for marked in mark_weeks(weeks, pool=pool):
            progress.update(task, advance=marked.articles)

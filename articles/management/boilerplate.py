"""Brings the marks of boilerplate up to date before a command exports texts without it."""

from __future__ import annotations

import datetime
import os
from collections.abc import Collection

from rich.progress import Progress

from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from articles.storage.workers import database_pool


def mark_outdated_weeks(
    progress: Progress,
    *,
    since: datetime.date | None,
    until: datetime.date | None,
    newspaper_ids: Collection[int] | None,
) -> None:
    """Mark the weeks of these days and newspapers that have changed since they were marked; None: no bound."""
    weeks = outdated_weeks(newspaper_ids, since=since, until=until)
    task = progress.add_task("boilerplate", total=sum(weeks.values()))
    with database_pool(os.cpu_count() or 1) as pool:
        for marked in mark_weeks(weeks, pool=pool):
            progress.update(task, advance=marked.articles)

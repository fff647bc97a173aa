"""Brings the marks of boilerplate up to date before a command exports texts without it."""

from __future__ import annotations

import os
from typing import Any

from rich.progress import Progress

from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from articles.storage.workers import database_pool


def mark_outdated_weeks(progress: Progress, **bounds: Any) -> None:
    """Mark the weeks that have changed since they were marked, within the bounds that outdated_weeks takes."""
    weeks = outdated_weeks(**bounds)
    task = progress.add_task("boilerplate", total=sum(weeks.values()))
    with database_pool(os.cpu_count() or 1) as pool:
        for marked in mark_weeks(weeks, pool=pool):
            progress.update(task, advance=marked.articles)

"""Extracting a newspaper's stored pages again, by a worker, after its rule has changed."""

from __future__ import annotations

from django_tasks import task
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from articles.models import Newspaper
from articles.storage.ingest import MANY, refresh_statistics
from articles.storage.reextraction import reextract
from dedup.detection.runs.lost_tasks import always_again, recovered


@recovered(always_again)
@task()
def reextract_task(newspaper_id: int) -> int:
    """Extract the outdated pages of a newspaper; return how many articles changed."""
    newspaper = Newspaper.objects.filter(pk=newspaper_id).first()
    if newspaper is None:
        return 0
    changed = sum(batch.changed for batch in reextract([newspaper.current]))
    if changed >= MANY:
        refresh_statistics()
    return changed


def request_reextraction(newspaper: Newspaper) -> bool:
    """Queue it for a worker; return False if it waits already."""
    # One that runs, or was killed while it ran, may have read the rule of before.
    waiting = DBTaskResult.objects.filter(task_path=reextract_task.module_path, status=TaskResultStatus.READY)
    if any(row.args_kwargs["kwargs"].get("newspaper_id") == newspaper.pk for row in waiting):
        return False
    reextract_task.enqueue(newspaper_id=newspaper.pk)
    return True

"""Tasks that a worker took from the queue and did not begin, because it died: they go back into the queue.

The queue itself holds a task for begun as soon as a worker takes it. A run, an import and a night that have begun are
resumed or asked for again by what they left behind; before that, they have left nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.utils import timezone
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from articles.models import FileImport
from dedup.models import Profile, RunRequest, Worker
from dedup.runs.requests import GONE_AFTER


def put_back_lost_tasks() -> int:
    """Put back what workers took that are gone, if it has not begun; return how many tasks that are.

    One that begins at this very moment is still done once: a run needs its lock, an import and a night begin with a
    conditional update or check, and the second one finds that there is nothing to do.
    """
    alive = set(Worker.objects.filter(seen_at__gt=timezone.now() - GONE_AFTER).values_list("name", flat=True))
    taken = DBTaskResult.objects.filter(status=TaskResultStatus.RUNNING)
    of_gone = [each for each in taken if not alive.intersection(each.worker_ids)]
    lost = [each.pk for each in of_gone if _has_not_begun(each)] if of_gone else []
    return _put_back(lost)


def _put_back(lost: Collection[Any]) -> int:
    still = DBTaskResult.objects.filter(pk__in=lost, status=TaskResultStatus.RUNNING)
    return still.update(status=TaskResultStatus.READY, started_at=None)


def _has_not_begun(task: DBTaskResult[Any, Any]) -> bool:
    arguments = task.args_kwargs["kwargs"]
    if number := arguments.get("request_id"):
        return RunRequest.objects.filter(pk=number, run=None).exists()
    if number := arguments.get("number"):
        return FileImport.objects.filter(pk=number, state=FileImport.State.WAITING).exists()
    if due := arguments.get("due"):
        # A night that has begun has scheduled the next one.
        profile = Profile.objects.filter(pk=arguments["profile_id"]).exclude(nightly_due=None).first()
        return profile is not None and profile.nightly_due.isoformat() == due  # type: ignore[union-attr]
    return False

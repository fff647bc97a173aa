"""Tasks whose worker was killed: they go back into the queue, or end and say so.

A task declares with `recovered` how it begins again, next to its own code. The queue itself cannot know: for it, a task
is under way from the moment a worker takes it.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from django.db.models import Q
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks.base import Task, TaskResultStatus
from django_tasks_db.models import DBTaskResult

from articles.storage.locks import LockLostError
from dedup.detection.runs.requests import GONE_AFTER
from dedup.models import Worker

# A task during which so many workers died is probably what killed them.
MOST_WORKERS = 3
# What ended from outside: by a lost database, or because the worker was told twice to end. It is remembered so long.
_FROM_OUTSIDE = [f"{error.__module__}.{error.__qualname__}" for error in (LockLostError, SystemExit, KeyboardInterrupt)]
_REMEMBERED = datetime.timedelta(days=1)
_KILLED = "Its worker was killed."
_KILLED_AGAIN = f"{MOST_WORKERS} workers were killed while they did this. Look at the log and the memory of the worker."

AnyTask = TypeVar("AnyTask", bound=Task[..., Any])

log = logging.getLogger(__name__)


class Fate(Enum):
    """What becomes of a task whose worker was killed."""

    AGAIN = "it is done again"
    NOT_YET = "something is in the way; it is looked at again"
    OVER = "nothing is left to do, or it must not be done again"


@dataclass(frozen=True, slots=True)
class Recovery:
    """How a lost task begins again.

    Both functions get the arguments of the task. `begin_again` lets what the task left behind wait for it again, as far
    as that is needed, and returns what becomes of the task. `give_up` says to those who wait why it failed; it is
    called instead when MOST_WORKERS workers were killed during the task.

    `is_left` says of a task that holds a lock whether it has begun and no process works on it: it is lost at once, and
    not only when its worker has given no sign of life for GONE_AFTER.
    """

    begin_again: Callable[..., Fate]
    give_up: Callable[..., object]
    is_left: Callable[..., bool]


# By the path of the task. The module of a task declares it.
RECOVERIES: dict[str, Recovery] = {}


def recovered(
    begin_again: Callable[..., Fate],
    give_up: Callable[..., object] = lambda *_, **__: None,
    is_left: Callable[..., bool] = lambda *_, **__: False,
) -> Callable[[AnyTask], AnyTask]:
    """Declare what becomes of a task whose worker was killed; see Recovery. `give_up` gets the reason as `reason`."""

    def _declare(task: AnyTask) -> AnyTask:
        RECOVERIES[task.module_path] = Recovery(begin_again, give_up, is_left)
        return task

    return _declare


def always_again(*_: object, **__: object) -> Fate:
    """Do a task again that leaves nothing half done and can be repeated."""
    return Fate.AGAIN


def put_back_lost_tasks() -> int:
    """Put back what workers took that are gone, end what cannot be done again; return how many tasks are put back.

    One whose worker gives a sign of life after all is still done once: every task begins with a conditional update or a
    lock, or can be repeated.
    """
    alive = set(Worker.objects.filter(seen_at__gt=timezone.now() - GONE_AFTER).values_list("name", flat=True))
    from_outside = Q(exception_class_path__in=_FROM_OUTSIDE, finished_at__gt=timezone.now() - _REMEMBERED)
    unfinished = Q(status=TaskResultStatus.RUNNING) | Q(from_outside, status=TaskResultStatus.FAILED)
    return sum(_is_put_back(task) for task in DBTaskResult.objects.filter(unfinished) if _is_lost(task, alive))


def _is_lost(task: DBTaskResult[Any, Any], alive: Collection[str]) -> bool:
    if task.status == TaskResultStatus.FAILED or not set(alive).intersection(task.worker_ids):
        return True
    recovery = _recovery(task)
    return recovery is not None and recovery.is_left(*task.args_kwargs["args"], **task.args_kwargs["kwargs"])


def _is_put_back(task: DBTaskResult[Any, Any]) -> bool:
    """Put a lost task back, or end it, unless another worker has done so; return whether it is put back."""
    fate, reason = _fate(task)
    if fate is Fate.NOT_YET:
        return False
    still = DBTaskResult.objects.filter(pk=task.pk, status=task.status, worker_ids=task.worker_ids)
    if fate is Fate.AGAIN:
        return bool(still.update(status=TaskResultStatus.READY, started_at=None))
    ended = {"finished_at": timezone.now(), "traceback": reason, "exception_class_path": ""}
    still.update(status=TaskResultStatus.FAILED, **ended)
    return False


def _fate(task: DBTaskResult[Any, Any]) -> tuple[Fate, str]:
    recovery = _recovery(task)
    if recovery is None:
        return Fate.OVER, f"{_KILLED} This version of newsdedup does not know such tasks."
    args, kwargs = task.args_kwargs["args"], task.args_kwargs["kwargs"]
    if len(task.worker_ids) < MOST_WORKERS:
        return recovery.begin_again(*args, **kwargs), _KILLED
    log.error("Given up: %s. %s", task.task_path, _KILLED_AGAIN)
    recovery.give_up(*args, reason=_KILLED_AGAIN, **kwargs)
    return Fate.OVER, _KILLED_AGAIN


def _recovery(task: DBTaskResult[Any, Any]) -> Recovery | None:
    """Return how a task begins again; None if this version does not know such tasks."""
    try:
        import_string(task.task_path)  # which declares it
    except ImportError:
        return None
    return RECOVERIES.get(task.task_path)

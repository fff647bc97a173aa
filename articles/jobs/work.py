"""The one writer of jobs: asked for, done by a worker, cancelled, and queued again when their worker was killed.

Whoever does a job holds its number of Lock.JOBS, which PostgreSQL releases when the process dies: so the lock is the
job's sign of life, and a running job whose number nobody holds has lost its worker.
"""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks import task
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from articles.jobs.kinds import KINDS
from articles.models.jobs import Job
from articles.storage.locks import Lock, held_numbers, is_lost, lock_transaction, session_lock

State = Job.State
# A job during which so many workers died is probably what killed them.
MOST_TRIES = 3
# Seconds after which a job in one long transaction stores its progress again, and notices that it was cancelled.
STORED_EVERY = 2.0
# A worker that has taken a task begins its job within this time, or was killed.
_BEGUN_WITHIN = datetime.timedelta(seconds=30)
KILLED = "Its worker was killed."
KILLED_AGAIN = f"{MOST_TRIES} workers were killed while they did this. Look at the log and the memory of the worker."

log = logging.getLogger(__name__)


class JobError(Exception):
    """A job cannot be done; the message says why, to the people who wait for it."""


class JobEndedError(Exception):
    """The job was cancelled, or another worker does it."""


class JobKilledError(Exception):
    """A process that did the job was killed; the job is treated as if its worker was."""


class JobPostponedError(Exception):
    """Something is in the way; the job is done again after this time."""

    def __init__(self, after: datetime.timedelta) -> None:
        super().__init__(after)
        self.after = after


@task()
def job_task(job_id: int) -> None:
    """Do a job; nothing happens if it does not wait any longer."""
    do_job(job_id)


# -- Asking and cancelling --------------------------------------------------------------------------------------


@transaction.atomic
def ask(
    kind: str,
    arguments: Mapping[str, Any],
    *,
    title: str,
    user: Any = None,
    page: str = "",
    not_before: datetime.datetime | None = None,
    even_if_running: bool = False,
) -> tuple[Job, bool]:
    """Queue a job and return it with True, or the same one that is active already, with False.

    With `even_if_running`, only one that still waits is the same: a running one may have missed what has changed since.
    """
    lock_transaction(Lock.JOBS)  # two clicks at the same moment queue one after the other
    states = [State.WAITING] if even_if_running else Job.ACTIVE
    same = Job.objects.filter(kind=kind, arguments=arguments, state__in=states).first()
    if same:
        return same, False
    asked = {"kind": kind, "arguments": dict(arguments), "title": title[:200], "page": page, "requested_by": user}
    job = Job.objects.create(**asked, not_before=not_before)
    job.task_id = _enqueue_task(job)
    job.save(update_fields=["task_id"])
    return job, True


def _enqueue_task(job: Job) -> Any:
    if not KINDS[job.kind].has_task:
        return None
    return job_task.using(run_after=job.not_before).enqueue(job.pk).id


def cancel(job: Job, user: Any = None) -> bool:
    """Take a job from the queue, or stop it in a moment; return False if it had ended."""
    if not end(job, State.CANCELLED, cancelled_by=user):
        return False
    DBTaskResult.objects.filter(pk__in=[job.task_id], status=TaskResultStatus.READY).delete()
    if job.kind in KINDS:
        job.refresh_from_db()
        KINDS[job.kind].mark_ended(job, "It was cancelled.")
    return True


def end(job: Job, state: State, **values: Any) -> bool:
    """End a job that is active; return False if it had ended."""
    active = Job.objects.filter(pk=job.pk, state__in=Job.ACTIVE)
    return bool(active.update(state=state, finished_at=timezone.now(), **values))


def may_cancel(user: User | AnonymousUser, job: Job) -> bool:
    """Return whether a user may cancel a job: the one who asked for it, and whoever may ask for all of its kind."""
    kind = KINDS.get(job.kind)
    if kind is None or not kind.is_cancellable:
        return False
    return job.requested_by_id == user.pk or user.has_perm(kind.permission)


def is_at_work(job: Job) -> bool:
    """Return whether a process does this job."""
    return job.pk in held_numbers(Lock.JOBS)


# -- Doing ------------------------------------------------------------------------------------------------------


@dataclass
class Work:
    """A job that this process does: what is asked for, and how its progress is stored.

    `worker_ends` is set when the worker was told to end. A long job may then be postponed for the next one.
    """

    job: Job
    is_finished: bool = False
    worker_ends: threading.Event = field(default_factory=threading.Event)

    def own(self) -> QuerySet[Job]:
        """Return the row while it is this worker's: nobody cancelled it, and no other worker has begun it."""
        return Job.objects.filter(pk=self.job.pk, state=State.RUNNING, tries=self.job.tries)

    def advance(self, done: float, total: int | None = None) -> None:
        """Store how far it is. Raises JobEndedError if it was cancelled."""
        if not self.own().update(done=int(done), total=total):
            raise JobEndedError

    def finish(self, result: Any = None, **values: Any) -> None:
        """End the job, in the same transaction as what it has made. Raises JobEndedError if it was cancelled."""
        if not self.own().update(state=State.DONE, finished_at=timezone.now(), result=result, **values):
            raise JobEndedError
        self.is_finished = True

    @contextmanager
    def progress_in_transaction(self) -> Iterator[_Meter]:
        """Store the progress every STORED_EVERY, in a thread with a connection of its own; yield where to count it."""
        meter = _Meter()
        thread = threading.Thread(target=meter.store_until_ended, args=[self.own()], daemon=True)
        thread.start()
        try:
            yield meter
        finally:
            meter.ended.set()
            thread.join()


class _Meter:
    """Counts what is done in a long transaction, which nobody else sees before its end."""

    def __init__(self) -> None:
        self.done, self.ended, self._lost = 0.0, threading.Event(), threading.Event()

    def add(self, done: float) -> None:
        """Count more. Raises JobEndedError if the job was cancelled."""
        self.done += done
        if self._lost.is_set():
            raise JobEndedError

    def store_until_ended(self, own: QuerySet[Job]) -> None:
        """Store what is counted until the end."""
        while not self.ended.wait(STORED_EVERY):
            try:
                if not own.update(done=int(self.done)):
                    self._lost.set()
            except (OperationalError, InterfaceError):
                log.info("The progress of a job waits for the database.")
        connection.close()


def repeat(work: Callable[[], object], ended: threading.Event, *, pause: float, name: str) -> None:
    """Work every `pause` seconds until `ended`, whatever fails; without a database, it is tried again.

    For what a worker does next to its tasks, in a thread of its own. `name` says in the log what was tried.
    """
    while not ended.wait(pause):
        try:
            work()
        except (OperationalError, InterfaceError):
            log.info("%s: the worker waits for the database.", name)
        except Exception:
            log.exception("%s: an error in this program.", name)
        connection.close()


def do_waiting(kinds: Collection[str], worker_ends: threading.Event) -> bool:
    """Do the job of these kinds that has waited longest; return False if none may begin now. Raises as do_job does."""
    ready = Q(not_before=None) | Q(not_before__lte=timezone.now())
    job = Job.objects.filter(ready, kind__in=kinds, state=State.WAITING).order_by("pk").first()
    if job is not None:
        do_job(job.pk, worker_ends)
    return job is not None


def do_job(job_id: int, worker_ends: threading.Event | None = None) -> None:
    """Do a job; nothing happens if it does not wait any longer, or another process is at it.

    Raises LockLostError if the database was lost: the job has lost its worker, see requeue_lost_jobs.
    """
    with session_lock(Lock.JOBS, lambda _holder: None, job_id) as held:
        if held:
            _do(job_id, worker_ends or threading.Event())


def _do(job_id: int, worker_ends: threading.Event) -> None:
    begun = {"state": State.RUNNING, "started_at": timezone.now(), "tries": F("tries") + 1, "done": 0, "total": None}
    if not Job.objects.filter(pk=job_id, state=State.WAITING).update(**begun):
        return
    work = Work(Job.objects.select_related("requested_by").get(pk=job_id), worker_ends=worker_ends)
    link = connection.connection
    try:
        result = import_string(KINDS[work.job.kind].work)(work)
        if not work.is_finished:
            work.finish(result)
    except JobEndedError:
        return
    except JobKilledError:
        _requeue(work.job)
    except JobPostponedError as postponed:
        _postpone(work, postponed.after)
    except Exception as error:
        if is_lost(link):
            raise
        if isinstance(error, JobError):
            _fail(work, str(error))
        else:
            _fail(work, f"An error in this program: {type(error).__name__}: {error}".removesuffix(": "))
            raise


def _fail(work: Work, error: str) -> None:
    work.own().update(state=State.FAILED, error=error, finished_at=timezone.now())


def _postpone(work: Work, after: datetime.timedelta) -> None:
    work.job.not_before = timezone.now() + after
    with transaction.atomic():
        task_id = _enqueue_task(work.job)
        work.own().update(state=State.WAITING, tries=0, not_before=work.job.not_before, task_id=task_id)


# -- Jobs whose worker was killed ---------------------------------------------------------------------------------


def requeue_lost_jobs() -> int:
    """Queue again the jobs of killed workers, or end them; return how many are queued again."""
    # A job that begins after the first statement is not in it; one that has ended by the second is not changed.
    running = list(Job.objects.filter(state=State.RUNNING))
    held = held_numbers(Lock.JOBS) if running else set()
    requeued = sum(_requeue(job) for job in running if job.pk not in held)
    # A worker may have taken a task and been killed before it began the job.
    taken = DBTaskResult.objects.filter(
        status=TaskResultStatus.RUNNING, started_at__lt=timezone.now() - _BEGUN_WITHIN, task_path=job_task.module_path
    )
    waiting = Job.objects.filter(state=State.WAITING, task_id__in=taken.values("pk"))
    return requeued + sum(_wake(job) for job in waiting)


@transaction.atomic
def _requeue(job: Job) -> bool:
    """Queue a job of a killed worker again, or end it, unless another worker did so; return whether it is queued."""
    kind, left = KINDS.get(job.kind), Job.objects.filter(pk=job.pk, state=State.RUNNING, tries=job.tries)
    reason = KILLED if job.tries < MOST_TRIES else KILLED_AGAIN
    again = kind is not None and job.tries < MOST_TRIES
    ended = {"state": State.FAILED, "finished_at": timezone.now(), "error": reason}
    if not left.update(**({"state": State.WAITING} if again else ended)):
        return False
    if kind is not None:
        job.refresh_from_db()
        kind.mark_ended(job, reason)
    if again:
        _wake(job)
        return True
    log.error("Given up: %s, %s. %s", job.kind, job, reason)
    DBTaskResult.objects.filter(pk__in=[job.task_id]).update(
        status=TaskResultStatus.FAILED, finished_at=timezone.now(), traceback=reason, exception_class_path=""
    )
    return False


def _wake(job: Job) -> bool:
    """Let the task of a job wait for a worker again."""
    tasks = DBTaskResult.objects.filter(pk__in=[job.task_id])
    return bool(tasks.update(status=TaskResultStatus.READY, started_at=None, finished_at=None))

"""What a worker does next to its tasks: the crawls that wait or are due, and trials."""

import datetime
import logging
import math
import threading
import time
from contextlib import closing
from functools import partial
from typing import Any

from django.utils import timezone

from articles.jobs.work import JobEndedError, JobError, JobKilledError, JobPostponedError, Work, do_waiting, repeat
from articles.management.base import ExitCode
from articles.models import Job
from articles.storage.locks import Lock, session_lock
from crawlers.requested import queue, trials
from crawlers.requested.process import CrawlProcess
from crawlers.visits import KEPT_DAYS

# Seconds between two looks at the queue.
PAUSE = 2.0
# Seconds that a crawl has to stop; after that it is killed, which costs the pages that it was fetching.
PATIENCE = 90.0
# A crawl that finds one of a shell at work tries again after this time.
RETRY_AFTER = datetime.timedelta(minutes=1)

logger = logging.getLogger(__name__)


def supervise(ended: threading.Event) -> None:
    """Do crawls and trials at the same time, until `ended`."""

    def try_newspapers() -> None:
        while not ended.is_set() and do_waiting(trials.JOBS, ended):
            pass

    threading.Thread(target=partial(repeat, try_newspapers, ended, pause=PAUSE, name="Trials"), daemon=True).start()
    repeat(partial(_crawl_newspapers, ended), ended, pause=PAUSE, name="Crawls")


def _crawl_newspapers(ended: threading.Event) -> None:
    """Do the crawls, unless another worker does; the others take over when it ends."""
    with session_lock(Lock.CRAWL, lambda _holder: None) as held:
        while held and not ended.is_set():
            queue.queue_due()
            do_waiting([queue.KIND], ended)
            ended.wait(PAUSE)


def crawl_job(work: Work) -> dict[str, Any] | None:
    """Crawl the newspapers of a job; return what the crawl printed. Crawls are kept as long as visits."""
    Job.objects.filter(kind=queue.KIND, finished_at__lt=timezone.now() - datetime.timedelta(days=KEPT_DAYS)).delete()
    names = queue.names_of(work.job)
    if not names:  # without names, all would be crawled
        return None
    with closing(CrawlProcess(names)) as process:
        return _result(work, process, makes_way=_watch(work, process))


def _watch(work: Work, process: CrawlProcess) -> bool:
    """Wait until a crawl or its worker ends; stop it if it was cancelled or holds up others.

    Return whether it was stopped for others.
    """
    must_stop = makes_way = False
    deadline = math.inf
    while process.status is None and not work.worker_ends.wait(PAUSE):
        queue.queue_due()
        if must_stop:
            if time.monotonic() > deadline:
                process.kill()
            continue
        must_stop = makes_way = queue.holds_up_others(work.job)
        if not makes_way:
            try:
                work.advance(queue.visits_of(work.job).values("newspaper").distinct().count(), work.job.crawls.count())
            except JobEndedError:  # it was cancelled
                must_stop = True
        if must_stop:
            process.stop()
            deadline = time.monotonic() + PATIENCE
    return makes_way


def _result(work: Work, process: CrawlProcess, *, makes_way: bool) -> dict[str, Any]:
    """Return the result of a crawl, by the exit status of its process; or raise what becomes of its job."""
    if process.status is None:
        raise JobPostponedError(datetime.timedelta(0))
    status, result = process.status, {"output": process.output}
    if not work.own().exists():
        Job.objects.filter(pk=work.job.pk).update(result=result)
        raise JobEndedError
    if status == ExitCode.DONE:
        return result
    if makes_way:
        queue.make_way(work, result | {"ending": "made way for others"})
        return result
    if status == ExitCode.ACTIVE:
        raise JobPostponedError(RETRY_AFTER)
    if status < 0 or status == ExitCode.INTERRUPTED:
        logger.warning("A crawl ended with status %s. %s", status, process.errors)
        raise JobKilledError
    work.own().update(result=result)
    raise JobError(process.errors)

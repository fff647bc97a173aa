"""What a worker does next to its tasks: it starts the crawls that wait or are due, and stops them when asked to."""

from __future__ import annotations

import logging
import math
import threading
import time

from django.db import InterfaceError, OperationalError, connection

from articles.management.base import ExitCode
from articles.storage.locks import Lock, session_lock
from crawlers.desk import queue
from crawlers.desk.process import CrawlProcess
from crawlers.desk.trials import go_on_trying
from crawlers.models import Crawl

# Seconds between two looks at the queue.
PAUSE = 2.0
# Seconds that a crawl has to stop; after that it is killed, which costs the pages that it was fetching.
PATIENCE = 90.0

logger = logging.getLogger(__name__)


def supervise(ended: threading.Event) -> None:
    """Do the crawls of the queue, and trials, until `ended`.

    One worker does crawls at a time; the others take over when it ends.
    """
    threading.Thread(target=go_on_trying, args=(ended,), daemon=True).start()
    while not ended.wait(PAUSE):
        try:
            with session_lock(Lock.CRAWL, lambda _holder: None) as held:
                if held:
                    _work(ended)
        except (OperationalError, InterfaceError):
            logger.info("Crawls wait for the database.")
        except Exception:
            logger.exception("Supervising crawls failed.")
        connection.close()


def _work(ended: threading.Event) -> None:
    queue.end_killed_crawls()
    while not ended.is_set():
        queue.queue_due()
        crawl = queue.begin_crawl()
        if crawl is not None:
            _do(crawl, ended)
        ended.wait(PAUSE)


def _do(crawl: Crawl, ended: threading.Event) -> None:
    """Do a crawl to its end. If the worker ends before, the crawl waits for the next one."""
    process = CrawlProcess(queue.names_of(crawl))
    stopped: Crawl.State | None = None
    deadline = math.inf
    try:
        while process.status is None and not ended.wait(PAUSE):
            queue.queue_due()
            if stopped is None and (stopped := _why_to_stop(crawl)):
                process.stop()
                deadline = time.monotonic() + PATIENCE
            elif time.monotonic() > deadline:
                process.kill()
        if process.status is None:
            queue.wait_again(crawl)
        else:
            _record(crawl, process, stopped)
    finally:
        process.close()


def _why_to_stop(crawl: Crawl) -> Crawl.State | None:
    """Return what a crawl becomes if it has to stop now; None if it may continue."""
    if queue.is_stop_asked(crawl):
        return Crawl.State.STOPPED
    return Crawl.State.MADE_WAY if queue.holds_up_others(crawl) else None


def _record(crawl: Crawl, process: CrawlProcess, stopped: Crawl.State | None) -> None:
    """Store how a crawl ended, by the exit status of its process. `stopped`: what it was asked to become, if it was."""
    status = process.status or ExitCode.DONE
    if status == ExitCode.ACTIVE and not stopped:
        queue.wait_again(crawl, after=queue.RETRY_AFTER)
        return
    state, error = _ending(status, process.errors, stopped)
    queue.end_crawl(crawl, state, output=process.output, error=error)


def _ending(status: int, errors: str, stopped: Crawl.State | None) -> tuple[Crawl.State, str]:
    """Return the state of a crawl that ended with this exit status, and what went wrong."""
    if status == ExitCode.DONE:
        return Crawl.State.FINISHED, ""
    if stopped:
        return stopped, ""
    if status < 0:
        return Crawl.State.BROKEN_OFF, f"The process was ended by signal {-status}."
    return (Crawl.State.BROKEN_OFF if status == ExitCode.INTERRUPTED else Crawl.State.FAILED), errors

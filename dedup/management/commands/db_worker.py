"""`manage.py db_worker`: execute queued runs, do crawls, look for alarms, and give a sign of life to the pages."""

import datetime
import logging
import signal
import socket
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone
from django.utils.crypto import get_random_string
from django.utils.module_loading import import_string
from django_tasks.signals import task_finished, task_started
from django_tasks_db.management.commands import db_worker

from articles.jobs.work import repeat, requeue_lost_jobs
from articles.management.base import ProjectCommand
from articles.storage.search_index import index_words
from dedup.detection.runs.requests import SIGN_SECONDS
from dedup.integrations.webhooks import send_due
from dedup.models import Worker

_FORGOTTEN_AFTER = datetime.timedelta(days=1)
# For the threads: what a receiver does not answer in so long is sent again by the next worker.
_PATIENCE_SECONDS = 2.0

logger = logging.getLogger(__name__)


# Seconds. A loop that asks for no task for so long beyond its interval, and does none, hangs, and gives no more signs.
_HANGS_AFTER = 60.0


class _Pulse:
    """Notes whether the worker's loop goes on: it asks the database for tasks, or does one, however long."""

    def __init__(self, interval: float) -> None:
        self.patience = _HANGS_AFTER + interval
        self.in_task = False
        self.asked = time.monotonic()
        task_started.connect(self._begin)
        task_finished.connect(self._end)

    def __call__(self, execute: Callable[..., Any], *statement: Any) -> Any:
        """Execute a statement of the loop's connection."""
        self.asked = time.monotonic()
        return execute(*statement)

    def is_well(self) -> bool:
        """Return whether a sign of life may be given."""
        return self.in_task or time.monotonic() - self.asked < self.patience

    def _begin(self, **_named: Any) -> None:
        self.in_task = True

    def _end(self, **_named: Any) -> None:
        self.in_task = False


class Command(ProjectCommand, db_worker.Command):
    """The worker of django-tasks; while it is well, also during a long run, a thread writes when it was last seen."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Name the worker after its machine, so that a health check there finds its signs."""
        super().add_arguments(parser)
        parser.set_defaults(worker_id=f"{socket.gethostname()[:40]}-{get_random_string(16)}")

    def handle(self, *, worker_id: str, **options: Any) -> None:
        """Run."""
        self.check_database()
        # Until the worker has handlers of its own; without one, a signal would leave its sign of life behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        # With --batch it ends once nothing waits, which a crawl would outlast.
        crawls, alarms, retention = (
            nullcontext() if options["batch"] else _beside(import_string(work))
            for work in (settings.CRAWL_SUPERVISOR, settings.ALARM_WATCH, settings.RETENTION_WATCH)
        )
        pulse = _Pulse(options["interval"])
        with (
            connection.execute_wrapper(pulse),
            _signs_of_life(worker_id, pulse),
            _beside(lambda ended: repeat(lambda: send_due(ended.is_set), ended, pause=SIGN_SECONDS, name="Webhooks")),
            _beside(lambda ended: repeat(partial(_index, ended), ended, pause=SIGN_SECONDS, name="Search")),
            crawls,
            alarms,
            retention,
        ):
            super().handle(worker_id=worker_id, **options)
        if options["batch"]:
            send_due()
            _index()


@contextmanager
def _signs_of_life(name: str, pulse: _Pulse) -> Iterator[None]:
    try:
        _sign(name)
        with _beside(partial(_go_on_signing, name, pulse)):
            yield
    finally:
        # The signal may have come in the middle of a query, whose connection takes no other.
        connection.close()
        with suppress(OperationalError, InterfaceError):
            Worker.objects.filter(name=name).delete()


def _index(ended: threading.Event | None = None) -> None:
    """Index the words of new articles, until the worker ends."""
    for _ in index_words():
        if ended and ended.is_set():
            break


@contextmanager
def _beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do this work in a thread of its own; it is told when to end, and waited for if that takes no longer."""
    ended = threading.Event()
    thread = threading.Thread(target=work, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_PATIENCE_SECONDS)


def _go_on_signing(name: str, pulse: _Pulse, ended: threading.Event) -> None:
    while not ended.wait(SIGN_SECONDS):
        if not pulse.is_well():
            continue
        # Without a database there is nobody to see the sign; it is tried again.
        with suppress(OperationalError, InterfaceError):
            _sign(name)
        connection.close()


def _sign(name: str) -> None:
    """Give a sign of life, and put the jobs of workers that give none back into the queue."""
    now = timezone.now()
    Worker.objects.update_or_create(name=name, defaults={"seen_at": now})
    Worker.objects.filter(seen_at__lt=now - _FORGOTTEN_AFTER).delete()
    if lost := requeue_lost_jobs():
        logger.info("Put back into the queue, because their worker is gone: %s.", lost)

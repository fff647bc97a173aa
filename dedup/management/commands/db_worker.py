"""`manage.py db_worker`: execute queued runs, and give a sign of life to the pages."""

from __future__ import annotations

import datetime
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone
from django_tasks_db.management.commands import db_worker

from articles.management.base import ProjectCommand
from dedup.models import Worker
from dedup.runs.requests import SIGN_SECONDS

_FORGOTTEN_AFTER = datetime.timedelta(days=1)


class Command(ProjectCommand, db_worker.Command):
    """The worker of django-tasks; while it lives, also during a long run, a thread writes when it was last seen."""

    def handle(self, *, worker_id: str, **options: Any) -> None:
        """Run."""
        # Until the worker has handlers of its own; without one, a signal would leave its sign of life behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with _signs_of_life(worker_id):
            super().handle(worker_id=worker_id, **options)


@contextmanager
def _signs_of_life(name: str) -> Iterator[None]:
    ended = threading.Event()
    _sign(name)
    thread = threading.Thread(target=_go_on_signing, args=(name, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(OperationalError, InterfaceError):
            Worker.objects.filter(name=name).delete()


def _go_on_signing(name: str, ended: threading.Event) -> None:
    while not ended.wait(SIGN_SECONDS):
        # Without a database there is nobody to see the sign; it is tried again.
        with suppress(OperationalError, InterfaceError):
            _sign(name)
        connection.close()


def _sign(name: str) -> None:
    now = timezone.now()
    Worker.objects.update_or_create(name=name, defaults={"seen_at": now})
    Worker.objects.filter(seen_at__lt=now - _FORGOTTEN_AFTER).delete()

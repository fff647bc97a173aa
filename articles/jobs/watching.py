"""What a worker does again and again next to its tasks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connection

logger = logging.getLogger(__name__)


def repeat(work: Callable[[], object], ended: threading.Event, *, pause: float, name: str) -> None:
    """Work every `pause` seconds until `ended`, whatever fails; without a database, it is tried again.

    `name` says in the log what was tried.
    """
    while not ended.wait(pause):
        try:
            work()
        except (OperationalError, InterfaceError):
            logger.info("%s: the worker waits for the database.", name)
        except Exception:
            logger.exception("%s: an error in this program.", name)
        connection.close()

"""The check for alarms: a worker does it every few minutes, and `manage.py alarms --send` from cron."""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Sequence

from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from newsdedup_site.alarms.finding import find_all
from newsdedup_site.alarms.kinds import Found
from newsdedup_site.alarms.mail import send_waiting
from newsdedup_site.alarms.recording import record

# Seconds between two checks. The first comes after a pause too: a worker that has just started catches up first.
PAUSE = 180.0

logger = logging.getLogger(__name__)


def tell(found: Sequence[Found], now: datetime.datetime) -> None:
    """Record what a check found, and tell by e-mail what there is to tell; webhooks are queued for the worker."""
    record(found, now)
    send_waiting(now)


def watch(ended: threading.Event) -> None:
    """Check every PAUSE seconds until `ended`."""
    while not ended.wait(PAUSE):
        try:
            now = timezone.now()
            tell(find_all(now), now)
        except (OperationalError, InterfaceError):
            logger.info("Alarms wait for the database.")
        except Exception:
            logger.exception("Checking for alarms failed.")
        connection.close()

"""Sends what webhooks are due. A worker does it, every few seconds, also during a run.

A delivery is claimed before it is sent, and due again after LEASE: if its worker dies, it is sent once more, with the
same id. After a failure nothing is sent to its webhook until the next attempt; after the last one, the webhook is
switched off, and its page says why.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import cast

from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.module_loading import import_string

from dedup.integrations.webhooks import signed_headers
from dedup.models import Delivery, Webhook

# Returns the status of the answer. Raises ValueError, which says why there was none.
Sender = Callable[[str, bytes, Mapping[str, str]], int]

logger = logging.getLogger(__name__)

# How long after each failed attempt the next one follows: seven attempts in about 18 hours.
RETRY_AFTER = [datetime.timedelta(minutes=minutes) for minutes in (1, 5, 30, 2 * 60, 5 * 60, 10 * 60)]
# Longer than an attempt takes.
LEASE = datetime.timedelta(minutes=1)
_READ = "articles.view_article"

# By the index delivery_due.
_CLAIM_SQL = """
UPDATE dedup_delivery SET due_at = %(lease)s, tried_at = %(now)s, attempts = attempts + 1
WHERE id = (
    SELECT delivery.id
    FROM dedup_delivery AS delivery JOIN dedup_webhook AS webhook ON webhook.id = delivery.webhook_id
    WHERE delivery.state = 'waiting' AND delivery.due_at <= %(now)s AND webhook.active
    ORDER BY delivery.due_at, delivery.id
    LIMIT 1
    FOR UPDATE OF delivery SKIP LOCKED
)
RETURNING id
"""


def send_due(stop: Callable[[], bool] = lambda: False) -> int:
    """Send everything that is due, until `stop` says so; return how many requests were sent."""
    sent = 0
    while not stop() and (number := _claim()) is not None:
        delivery = Delivery.objects.select_related("webhook__owner").filter(pk=number).first()
        if delivery is not None:
            _try(delivery)
            sent += 1
    return sent


def _claim() -> int | None:
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM_SQL, {"now": now, "lease": now + LEASE})
        row = cursor.fetchone()
    return row[0] if row else None


def _try(delivery: Delivery) -> None:
    hook = delivery.webhook
    if not hook.owner.has_perm(_READ):  # False for everybody who is blocked
        _give_up(delivery, f"{hook.owner} is blocked, or has no role any more.")
        return
    accepted, answer = _send(delivery)
    if accepted:
        _end(delivery, Delivery.State.DELIVERED, answer)
    elif answer == f"HTTP {HTTPStatus.GONE.value}":
        _give_up(delivery, "The receiver answered that it is gone for good (HTTP 410).")
    elif delivery.attempts > len(RETRY_AFTER):
        _give_up(delivery, f"{delivery.attempts} attempts failed, the last with: {answer}")
    else:
        _put_off(delivery, answer)


def _send(delivery: Delivery) -> tuple[bool, str]:
    """Return whether the receiver accepted a delivery, and what it answered or why it did not."""
    hook, body = delivery.webhook, delivery.body.encode()
    headers = {"Content-Type": "application/json", "User-Agent": "newsdedup"}
    headers |= signed_headers(hook.secret, str(delivery.message), int(timezone.now().timestamp()), body)
    try:
        status = cast("Sender", import_string(settings.WEBHOOK_SENDER))(hook.url, body, headers)
    except ValueError as error:
        return False, str(error)
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES, f"HTTP {status}"


def _end(delivery: Delivery, state: Delivery.State, answer: str) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(state=state, answer=answer)


def _put_off(delivery: Delivery, answer: str) -> None:
    """Let everything that waits for this webhook wait until the next attempt."""
    due = timezone.now() + RETRY_AFTER[delivery.attempts - 1]
    with transaction.atomic():
        waiting = Delivery.objects.filter(webhook=delivery.webhook_id, state=Delivery.State.WAITING)
        waiting.update(due_at=Greatest("due_at", due))
        Delivery.objects.filter(pk=delivery.pk).update(answer=answer, due_at=due)


def _give_up(delivery: Delivery, fault: str) -> None:
    logger.warning("The webhook %s is switched off: %s", delivery.webhook_id, fault)
    with transaction.atomic():
        _end(delivery, Delivery.State.GIVEN_UP, fault)
        Webhook.objects.filter(pk=delivery.webhook_id).update(active=False, fault=fault)

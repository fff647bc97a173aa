"""Webhooks: their owners make and change them, what happens is queued with it, in its transaction, and sent when due.

Signatures are by the Standard Webhooks specification (standardwebhooks.com), so that receivers can use its libraries.
Each change is in the log with the owner, whose page under People shows it.

A worker sends every few seconds, also during a run. A delivery is claimed before it is sent, and due again after LEASE:
if its worker dies, it is sent once more, with the same id. After a failure nothing is sent to its webhook until the
next attempt; after the last one, the webhook is switched off, and its page says why.
"""

import base64
import datetime
import hashlib
import hmac
import json
import logging
import re
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.module_loading import import_string

from articles.storage.audit_log import log_action
from dedup.models import Cluster, Delivery, Webhook
from dedup.models.base import Asked, read_rows

logger = logging.getLogger(__name__)

_PREFIX = "whsec_"
_RANDOM_BYTES = 32


def new_secret() -> str:
    """Return a random secret in the form of the specification."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_RANDOM_BYTES)).decode()


def signed_headers(secret: str, message: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers that identify and sign a request; `timestamp` in seconds since 1970."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signed = b".".join([message.encode(), str(timestamp).encode(), body])
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": message, "webhook-timestamp": str(timestamp), "webhook-signature": f"v1,{digest}"}


# Clusters of one request; after a first run there may be a hundred thousand.
AT_ONCE = 100
# The permission without which nobody is sent alarms, which name paths and errors of the server.
SEES_ALARMS = "newsdedup_site.view_alarm"
_KEPT = datetime.timedelta(days=30)


# Asks whether anybody wants news at all.
LISTENING: Asked = ("SELECT 1 FROM dedup_webhook WHERE active LIMIT 1", {})


def announce(clusters: dict[Webhook.Event, Sequence[Cluster]]) -> None:
    """Queue news of these clusters, as they are now, for every active webhook that wants them."""
    happened = {event: rows for event, rows in clusters.items() if rows}
    if not happened:
        return
    hooks = list(Webhook.objects.filter(active=True, events__overlap=list(happened)))
    if not hooks:
        return
    Delivery.objects.filter(state=Delivery.State.DELIVERED, made_at__lt=timezone.now() - _KEPT).delete()
    now = timezone.now()
    for event, rows in happened.items():
        wanting, left = [hook for hook in hooks if event in hook.events], map(_cluster, rows)
        while some := list(islice(left, AT_ONCE)):
            _queue(wanting, event, now, clusters=some)


def announce_alarms(alarms: Sequence[dict[str, Any]]) -> int:
    """Queue news of alarms for every active webhook that wants them, of admins; return how many those are."""
    wanting = Webhook.objects.filter(active=True, events__contains=[Webhook.Event.ALARM]).select_related("owner")
    hooks = [hook for hook in wanting if hook.owner.has_perm(SEES_ALARMS)]
    if hooks:
        _queue(hooks, Webhook.Event.ALARM, timezone.now(), alarms=list(alarms))
    return len(hooks)


def _queue(hooks: Collection[Webhook], event: str, now: datetime.datetime, **data: list[Any]) -> None:
    """Queue one request with these data to each of these webhooks."""
    body = {"type": str(event), "timestamp": now.isoformat(timespec="seconds"), "data": data}
    text = json.dumps(body, ensure_ascii=False)
    Delivery.objects.bulk_create(Delivery(webhook=hook, event=event, body=text) for hook in hooks)


def _cluster(row: Cluster) -> dict[str, Any]:
    return {
        "id": row.pk,
        "state": str(row.state),
        "size": row.size,
        "lowest_probability": row.lowest_score,
        "first_day": row.first_day.isoformat(),
        "last_day": row.last_day.isoformat(),
        "kept": row.kept_id,
    }


MOST_WEBHOOKS = 10
MAX_URL_CHARACTERS = 2_000
TEST = "test"
# Without spaces, controls and other letters, which mean different things to different programs.
_URL = re.compile(r"https?://[!-~]+", re.IGNORECASE)


class WebhookError(ValueError):
    """A webhook cannot be made or changed; the message says why."""


def make_webhook(owner: User, url: str, events: Collection[str]) -> Webhook:
    """Make a webhook with a new secret. Raises WebhookError."""
    url, chosen = _checked(url), _chosen(events, owner)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=owner.pk)
        if owner.webhooks.count() >= MOST_WEBHOOKS:
            raise WebhookError(f"You have {MOST_WEBHOOKS} webhooks, which is the most. Delete one first.")
        hook = Webhook.objects.create(owner=owner, url=url, secret=new_secret(), events=chosen)
        log_action(hook.owner, ADDITION, f"made the webhook {hook}.", user=owner)
    return hook


def change_webhook(
    hook: Webhook,
    *,
    by: User,
    url: str | None = None,
    events: Collection[str] | None = None,
    active: bool | None = None,
) -> None:
    """Change what is not None. Switched on again, a webhook gets at once what it has missed. Raises WebhookError."""
    hook.url = hook.url if url is None else _checked(url)
    hook.events = hook.events if events is None else _chosen(events, hook.owner)
    with transaction.atomic():
        if active is not None and active != hook.active:
            hook.active, hook.fault = active, ""
            if active:
                missed = hook.deliveries.exclude(state=Delivery.State.DELIVERED)
                missed.update(state=Delivery.State.WAITING, due_at=timezone.now(), attempts=0)
        hook.save(update_fields=["url", "events", "active", "fault"])
        log_action(hook.owner, CHANGE, f"changed the webhook {hook}.", user=by)


def delete_webhook(hook: Webhook, *, by: User) -> None:
    """Delete a webhook with what waits for it."""
    with transaction.atomic():
        log_action(hook.owner, DELETION, f"no longer has the webhook {hook}.", user=by)
        hook.delete()


def send_test(hook: Webhook) -> None:
    """Queue a request without clusters, to see whether it arrives."""
    _queue([hook], TEST, timezone.now(), clusters=[])


def _checked(url: str) -> str:
    url = url.strip()
    if len(url) > MAX_URL_CHARACTERS:
        raise WebhookError(f"The URL has {len(url):,} characters; at most {MAX_URL_CHARACTERS:,} are allowed.")
    try:
        parts = urlsplit(url)
        usable = bool(_URL.fullmatch(url) and parts.hostname and parts.port != 0)
    except ValueError:
        usable = False
    if not usable:
        raise WebhookError("This is not the URL of a receiver. Write it as https://host/path, in ASCII.")
    if parts.username is not None or parts.password is not None:
        raise WebhookError("The URL has a user name or password. Leave it out; the signature proves who sends.")
    return url


def _chosen(events: Collection[str], owner: User) -> list[str]:
    chosen = [str(event) for event in Webhook.Event if event in events]
    if not chosen or len(chosen) != len(set(events)):
        raise WebhookError(f"Choose at least one of {', '.join(Webhook.Event.values)}.")
    if Webhook.Event.ALARM in chosen and not owner.has_perm(SEES_ALARMS):
        raise WebhookError("Only admins are sent alarms. Choose among the events of clusters.")
    return chosen


# -- Sending ---------------------------------------------------------------------------------------------------

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
    return next((number for (number,) in read_rows(_CLAIM_SQL, now=now, lease=now + LEASE)), None)


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
        due = timezone.now() + RETRY_AFTER[delivery.attempts - 1]
        with transaction.atomic():
            # Everything that waits for this webhook waits until the next attempt.
            waiting = hook.deliveries.filter(state=Delivery.State.WAITING)
            waiting.update(due_at=Greatest("due_at", due))
            Delivery.objects.filter(pk=delivery.pk).update(answer=answer, due_at=due)


def _send(delivery: Delivery) -> tuple[bool, str]:
    """Return whether the receiver accepted a delivery, and what it answered or why it did not."""
    hook, body = delivery.webhook, delivery.body.encode()
    headers = {"Content-Type": "application/json", "User-Agent": "newsdedup"}
    headers |= signed_headers(hook.secret, str(delivery.message), int(timezone.now().timestamp()), body)
    # It returns the status of the answer. Raises ValueError, which says why there was none.
    send: Callable[[str, bytes, Mapping[str, str]], int] = import_string(settings.WEBHOOK_SENDER)
    try:
        status = send(hook.url, body, headers)
    except ValueError as error:
        return False, str(error)
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES, f"HTTP {status}"


def _end(delivery: Delivery, state: Delivery.State, answer: str) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(state=state, answer=answer)


def _give_up(delivery: Delivery, fault: str) -> None:
    logger.warning("The webhook %s is switched off: %s", delivery.webhook_id, fault)
    with transaction.atomic():
        _end(delivery, Delivery.State.GIVEN_UP, fault)
        Webhook.objects.filter(pk=delivery.webhook_id).update(active=False, fault=fault)

"""Webhooks: their owners make and change them, and what happens is queued in the transaction in which it happens.

Signatures are by the Standard Webhooks specification (standardwebhooks.com), so that receivers can use its libraries.
Each change is in the log with the owner, whose page under People shows it.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from articles.storage.audit_log import log_action
from dedup.models import Cluster, Delivery, Webhook

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

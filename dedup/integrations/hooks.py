"""The writer of webhooks: what their owners make, change and delete, each with its entry in the log."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from articles.storage.audit_log import log_action
from dedup.integrations.queue import SEES_ALARMS, queue
from dedup.integrations.signing import new_secret
from dedup.models import Delivery, Webhook

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
        _log(hook, f"made the webhook {hook}.", ADDITION, by=owner)
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
        _log(hook, f"changed the webhook {hook}.", CHANGE, by=by)


def delete_webhook(hook: Webhook, *, by: User) -> None:
    """Delete a webhook with what waits for it."""
    with transaction.atomic():
        _log(hook, f"no longer has the webhook {hook}.", DELETION, by=by)
        hook.delete()


def send_test(hook: Webhook) -> None:
    """Queue a request without clusters, to see whether it arrives."""
    body = {"type": TEST, "timestamp": timezone.now().isoformat(timespec="seconds"), "data": {"clusters": []}}
    queue([hook], TEST, body)


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


def _log(hook: Webhook, act: str, flag: int, *, by: User) -> None:
    """Log it with the owner, whose page under People shows it."""
    log_action(hook.owner, flag, act, user=by, object_id=str(hook.owner_id))

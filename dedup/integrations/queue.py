"""The queue of what webhooks are sent: written in the transaction in which it happens, so nothing is lost."""

from __future__ import annotations

import datetime
import json
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from django.utils import timezone

from dedup.models import Cluster, Delivery, Webhook

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
    for event, rows in happened.items():
        wanting = [hook for hook in hooks if event in hook.events]
        for body in _bodies(event, rows):
            queue(wanting, event, body)


def announce_alarms(alarms: Sequence[dict[str, Any]]) -> int:
    """Queue news of alarms for every active webhook that wants them, of admins; return how many those are."""
    wanting = Webhook.objects.filter(active=True, events__contains=[Webhook.Event.ALARM]).select_related("owner")
    hooks = [hook for hook in wanting if hook.owner.has_perm(SEES_ALARMS)]
    if hooks:
        now = timezone.now().isoformat(timespec="seconds")
        queue(hooks, Webhook.Event.ALARM, {"type": "alarm", "timestamp": now, "data": {"alarms": list(alarms)}})
    return len(hooks)


def queue(hooks: Collection[Webhook], event: str, body: dict[str, Any]) -> None:
    """Queue one request to each of these webhooks."""
    text = json.dumps(body, ensure_ascii=False)
    Delivery.objects.bulk_create(Delivery(webhook=hook, event=event, body=text) for hook in hooks)


def _bodies(event: str, rows: Sequence[Cluster]) -> Iterator[dict[str, Any]]:
    now, left = timezone.now().isoformat(timespec="seconds"), iter(rows)
    while some := list(islice(left, AT_ONCE)):
        yield {"type": str(event), "timestamp": now, "data": {"clusters": [_cluster(row) for row in some]}}


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

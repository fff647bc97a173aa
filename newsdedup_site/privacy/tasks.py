"""Removals that pages ask for, which a worker carries out."""

from __future__ import annotations

import datetime

from django.utils import timezone
from django_tasks import task

from articles.models import Removal
from dedup.detection.runs.lock import RunActiveError
from dedup.detection.runs.lost_tasks import always_again, recovered
from newsdedup_site.privacy.removal import RemovalError, carry_out

# After a run or a crawl that is in the way; and after which a removal without a sign of life is taken up again.
_AGAIN = datetime.timedelta(minutes=1)
_WATCHED_EVERY = datetime.timedelta(minutes=5)


@recovered(always_again)
@task()
def removal_task(removal_id: int) -> None:
    """Carry out a removal; while a run or a crawl is in the way, later."""
    removal = Removal.objects.get(pk=removal_id)
    try:
        carry_out(removal)
    except (RunActiveError, RemovalError):
        removal_task.using(run_after=timezone.now() + _AGAIN).enqueue(removal_id=removal_id)


@recovered(always_again)
@task()
def watch_task(removal_id: int) -> None:
    """Take up a removal again whose worker was killed, until it is done."""
    removal = Removal.objects.get(pk=removal_id)
    if removal.state == Removal.State.RUNNING:
        request_removal(removal, at_once=timezone.now() - removal.seen_at > _WATCHED_EVERY)


def request_removal(removal: Removal, *, at_once: bool = True) -> None:
    """Queue a removal for a worker, and somebody who looks after it."""
    if at_once:
        removal_task.enqueue(removal_id=removal.pk)
    watch_task.using(run_after=timezone.now() + _WATCHED_EVERY).enqueue(removal_id=removal.pk)

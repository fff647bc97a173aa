"""Removals that pages ask for, which a worker carries out."""

from __future__ import annotations

import datetime
import logging
from typing import Any

from django.urls import reverse
from django.utils import timezone

from articles.jobs.work import JobPostponedError, Work, ask
from articles.models import Job, Removal
from dedup.detection.runs.lock import RunActiveError
from newsdedup_site.privacy.removal import RemovalError, carry_out

# After a run or a crawl that is in the way; and after a fault, because a removal must come to its end.
_AGAIN = datetime.timedelta(minutes=1)
_AFTER_FAULT = datetime.timedelta(minutes=5)

log = logging.getLogger(__name__)


def removal_job(work: Work) -> None:
    """Carry out a removal; while a run or a crawl is in the way, and after a fault, later."""
    removal = Removal.objects.get(pk=work.job.arguments["removal"])
    try:
        carry_out(removal)
    except (RunActiveError, RemovalError) as error:
        raise JobPostponedError(_AGAIN) from error
    except Exception as error:
        log.exception("%s failed and is taken up again.", removal)
        raise JobPostponedError(_AFTER_FAULT) from error


def take_up_again(job: Job, _reason: str) -> None:
    """Queue a removal again that was given up."""
    if job.state == Job.State.FAILED:
        removal = Removal.objects.get(pk=job.arguments["removal"])
        request_removal(removal, user=job.requested_by, not_before=timezone.now() + _AFTER_FAULT)


def request_removal(removal: Removal, *, user: Any = None, not_before: datetime.datetime | None = None) -> None:
    """Queue a removal for a worker."""
    title, page = str(removal), reverse("removals")
    ask("removal", {"removal": removal.pk}, title=title, user=user, page=page, not_before=not_before)
